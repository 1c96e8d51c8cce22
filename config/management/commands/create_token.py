"""create_token USERNAME NAME [--scope read|label|admin] [--days N]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.core.vocabulary import TokenScope
from annotation.management.base import OperatorCommand
from annotation.models import User
from annotation.policies import OPERATOR
from annotation.services import accounts


class Command(OperatorCommand):
    help = "Make a token with which a script uses the API as a person; it is printed once, alone on stdout."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", metavar="USERNAME", help="the person whose token it is")
        parser.add_argument("name", metavar="NAME", help="what it is for, to tell tokens apart")
        parser.add_argument(
            "--scope",
            choices=[scope.value for scope in TokenScope],
            default=TokenScope.READ.value,
            help="read only (default); label, discuss and decide cases too; or all that the person may do",
        )
        parser.add_argument("--days", type=int, default=90, metavar="N", help="valid so long (default: 90)")

    def run(self, **options: Any) -> None:
        user = User.objects.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no account “{options['username']}” that is open.")
        token, secret = accounts.issue_token(
            actor=OPERATOR,
            user=user,
            name=options["name"],
            days=options["days"],
            scope=TokenScope(options["scope"]),
        )
        self.stdout.write(secret)
        assert token.expires_at is not None
        self.summary(
            f"Token “{token.name}” of {user.username}, scope {token.scope}, valid until "
            f"{token.expires_at:%Y-%m-%d}. It is not shown again."
        )
