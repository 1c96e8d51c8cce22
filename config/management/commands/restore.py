"""restore FILE"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, counted, existing_file
from config.management import archive


class Command(OperatorCommand):
    help = "Fill an empty, migrated database from a backup, SQLite or PostgreSQL alike; all or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE")

    def run(self, **options: Any) -> None:
        manifest = archive.restore(existing_file(options["file"]))
        self.summary(f"{counted(sum(manifest['rows'].values()), 'row')} restored.")
