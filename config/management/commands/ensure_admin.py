"""`manage.py ensure_admin`: a first administrator for a database that has none."""

import json
from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand
from annotation.policies import OPERATOR
from annotation.services import accounts
from config.management import restoring


class Command(OperatorCommand):
    """Prints the new account's password, once: it is stored hashed only."""

    help = "Make a first administrator when there is none, and print the password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--username", default="admin")
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        restoring.refuse_half_restored()
        made = accounts.ensure_first_admin(actor=OPERATOR, username=options["username"])
        if options["json"]:
            self.stdout.write(_document(made))
        elif made is None:
            self.stdout.write(
                "There is an administrator already; `manage.py changepassword` sets a password."
            )
        else:
            self.stdout.write(f"Made the administrator {made[0].username}, password {made[1]}")


def _document(made: tuple[Any, str] | None) -> str:
    if made is None:
        return json.dumps({"accounts": []})
    user, password = made
    return json.dumps(
        {"accounts": [{"username": user.username, "password": password, "who": "administrator"}]}
    )
