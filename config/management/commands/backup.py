"""backup FILE"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand, counted
from config.management import archive


class Command(OperatorCommand):
    help = (
        "Write everything (tables and pending uploads) into one .tar.gz; people may go on working meanwhile."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE")

    def run(self, **options: Any) -> None:
        path = Path(options["file"])
        if path.is_dir():
            raise CommandError(f"{path} is a folder; name a file in it.")
        manifest = archive.backup(path)
        rows = counted(sum(manifest["rows"].values()), "row")
        self.summary(f"{rows} written to {path} ({path.stat().st_size:,} bytes).")
