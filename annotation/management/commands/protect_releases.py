"""Reinstall the triggers that keep releases frozen."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from annotation.models import frozen


class Command(BaseCommand):
    help = "Reinstall the database triggers that keep releases frozen (after a restore by hand)."

    def handle(self, *args: Any, **options: Any) -> None:
        frozen.install(connection)
        if problems := frozen.problems(connection):
            raise CommandError(f"Frozen releases are still not protected: {', '.join(problems)}.")
        self.stderr.write("Frozen releases are protected.")
