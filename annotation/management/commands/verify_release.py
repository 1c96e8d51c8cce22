"""verify_release PROJECT VERSION | --path DIR"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand, find_release
from annotation.policies import OPERATOR
from annotation.services import release


class Command(OperatorCommand):
    help = "Recompute every checksum of a release, or of an exported folder, and say whether they hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", nargs="?", default="")
        parser.add_argument("release_version", metavar="VERSION", nargs="?", default="")
        parser.add_argument("--path", default="", metavar="DIR", help="an exported folder instead")

    def run(self, **options: Any) -> None:
        if bool(options["path"]) == bool(options["release_version"]):
            raise CommandError("Name a project and a version, or a folder with --path.")
        if options["path"]:
            what = options["path"]
            found = release.verify_export(path=Path(what))
        else:
            frozen = find_release(options["project"], options["release_version"])
            what = f"Release {frozen.version}"
            found = release.verify(actor=OPERATOR, release=frozen)
        for problem in found.problems:
            self.stderr.write(problem)
        if not found.ok:
            raise CommandError(f"{what} is NOT what was frozen.")
        self.summary(
            f"{what} is intact: {found.records:,} records, {found.labels:,} step labels, "
            f"digest {found.digest}."
        )
