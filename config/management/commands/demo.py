"""demo [--if-empty] [--known-passwords] [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management import demo
from annotation.management.base import OperatorCommand
from annotation.models import Project
from config.management import restoring


class Command(OperatorCommand):
    help = "Load the demo project with its people, labels and release, and print the new accounts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--if-empty",
            action="store_true",
            help="when there is a project already, only list (or replace) the well-known passwords",
        )
        parser.add_argument(
            "--known-passwords",
            action="store_true",
            help="well-known passwords (NAME-demo), for servers that only this machine reaches",
        )
        parser.add_argument(
            "--only-passwords",
            action="store_true",
            help="load nothing, also when there is no project; list (or replace) well-known passwords",
        )
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        restoring.refuse_half_restored()
        if options["only_passwords"] or (options["if_empty"] and Project.objects.exists()):
            accounts = demo.well_known() if options["known_passwords"] else demo.replace_well_known()
            if options["json"]:
                self.document({"accounts": accounts})
            return
        made = demo.load(known_passwords=options["known_passwords"])
        if options["json"]:
            self.document({"accounts": made})
        else:
            for account in made:
                self.stdout.write(f"{account['username']:<10} {account['password']:<16} {account['who']}")
        self.summary(demo.summary("demo"))
