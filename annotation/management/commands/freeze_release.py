"""freeze_release PROJECT VERSION [--note TEXT]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_project, find_project
from annotation.policies import OPERATOR
from annotation.services import release


class Command(OperatorCommand):
    help = "Freeze all resolved trajectories of a project as a numbered, checksummed release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        # "version" is an option of every command of Django's already.
        parser.add_argument("release_version", metavar="VERSION")
        parser.add_argument("--note", default="")

    def run(self, **options: Any) -> None:
        frozen = release.freeze(
            actor=OPERATOR,
            project=find_project(options["project"]),
            version=options["release_version"],
            note=options["note"],
        )
        self.summary(
            f"Release {frozen.version}: {frozen.record_count:,} trajectories, "
            f"{frozen.label_count:,} step labels, digest {frozen.digest}."
        )
