"""export_release PROJECT VERSION --format agentprocessbench --output DIR"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.core.release_format import AGENTPROCESSBENCH, EXPORT_FORMATS
from annotation.management.base import OperatorCommand, add_project, find_release
from annotation.policies import OPERATOR
from annotation.services import release


class Command(OperatorCommand):
    help = "Write a release as files: <subset>.jsonl and manifest.json with every file's sha256."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("release_version", metavar="VERSION")
        parser.add_argument("--format", default=AGENTPROCESSBENCH, choices=EXPORT_FORMATS)
        parser.add_argument("--output", required=True, metavar="DIR")

    def run(self, **options: Any) -> None:
        frozen = find_release(options["project"], options["release_version"])
        output = Path(options["output"])
        manifest = release.export_release(
            actor=OPERATOR, release=frozen, format=options["format"], output=output
        )
        self.summary(
            f"{manifest['records']:,} records in {len(manifest['files'])} files written to {output}."
        )
