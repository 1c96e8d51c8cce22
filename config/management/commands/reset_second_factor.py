"""reset_second_factor USERNAME"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand
from annotation.models import User
from annotation.policies import OPERATOR
from annotation.services.sign_in import second_factor


class Command(OperatorCommand):
    help = "Remove the second factors of somebody who has lost them; they sign in with their password alone."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", metavar="USERNAME", help="whose second factors are removed")

    def run(self, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no account “{options['username']}”.")
        if not second_factor.reset(actor=OPERATOR, user=user):
            raise CommandError(f"{user.username} has no second factor.")
        self.summary(f"The second factors of {user.username} are removed.")
