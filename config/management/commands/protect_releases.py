"""Reinstall the triggers that keep releases frozen and the audit log as it was written."""

from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from annotation.management.base import OperatorCommand
from annotation.models import frozen


class Command(OperatorCommand):
    help = "Reinstall the triggers of frozen releases and of the audit log (after a restore by hand)."

    def run(self, **options: Any) -> None:
        frozen.install(connection)
        if problems := frozen.problems(connection):
            raise CommandError(
                f"Frozen releases or the audit log are still not protected: {', '.join(problems)}."
            )
        self.summary("Frozen releases and the audit log are protected.")
