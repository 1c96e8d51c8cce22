"""verify_audit_log [--noted PLACE:SHA256]"""

import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand, counted
from annotation.services import audit


class Command(OperatorCommand):
    help = "Compute the chain of the audit log anew, and name the first row that does not fit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--noted",
            default="",
            metavar="PLACE:SHA256",
            help="a link that this command or the worker's log said before: it must be there still",
        )

    def run(self, **options: Any) -> None:
        noted = re.fullmatch(r"(\d{1,18}):([0-9a-f]{64})", options["noted"])
        if options["noted"] and not noted:
            raise CommandError(f"{options['noted']} is no link: PLACE:SHA256, as this command says it.")
        chain = audit.verify(noted=(int(noted[1]), noted[2]) if noted else None)
        if chain.misfit:
            raise CommandError(
                f"The audit log was changed: it does not fit its chain from {chain.misfit_text} on."
            )
        if not chain.kept:
            raise CommandError(
                f"The audit log was changed: its chain no longer has the link {options['noted']}."
            )
        self.summary(
            f"The audit log is intact: {counted(chain.position, 'row')}, "
            f"{chain.waiting:,} not chained yet; the last link is {chain.head}."
        )
