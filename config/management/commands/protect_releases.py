"""Reinstall the triggers that keep releases frozen."""

from typing import Any

from django.core.management.base import CommandError
from django.db import connection

from annotation.management.base import OperatorCommand
from annotation.models import frozen


class Command(OperatorCommand):
    help = "Reinstall the database triggers that keep releases frozen (after a restore by hand)."

    def run(self, **options: Any) -> None:
        frozen.install(connection)
        if problems := frozen.problems(connection):
            raise CommandError(f"Frozen releases are still not protected: {', '.join(problems)}.")
        self.summary("Frozen releases are protected.")
