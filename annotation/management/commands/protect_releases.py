"""Reinstall the triggers that keep releases frozen."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from annotation.models import frozen


class Command(BaseCommand):
    help = "Reinstall the database triggers that keep releases frozen (after a restore by hand)."

    def handle(self, *args: Any, **options: Any) -> None:
        frozen.install(connection)
        self.stderr.write("Frozen releases are protected.")
