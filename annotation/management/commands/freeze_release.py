"""freeze_release PROJECT VERSION [--title TEXT] [--licence SPDX] [--note TEXT] [--leave-out SUBSET …]
[--difficulty FROM TO]"""

import sys
from argparse import ArgumentParser
from typing import Any

from tqdm import tqdm

from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.policies import OPERATOR
from annotation.services import release


class Command(OperatorCommand):
    help = "Freeze all resolved trajectories of a project as a numbered, checksummed release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        # "version" is an option of every command of Django's already.
        parser.add_argument("release_version", metavar="VERSION")
        parser.add_argument("--title", default="")
        parser.add_argument(
            "--licence", default="", help="an SPDX identifier, such as CC-BY-4.0, or words of your own"
        )
        parser.add_argument("--note", default="")
        parser.add_argument(
            "--leave-out", metavar="SUBSET", nargs="+", default=[], help="subsets that do not come into it"
        )

        parser.add_argument(
            "--difficulty",
            metavar=("FROM", "TO"),
            nargs=2,
            type=float,
            help="of decisions: those of which judges answered such a share right, from 0 to 1",
        )

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        with tqdm(unit=" records", leave=False, disable=not sys.stderr.isatty()) as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            frozen = release.freeze(
                actor=OPERATOR,
                project=project,
                version=options["release_version"],
                title=options["title"],
                licence=options["licence"],
                note=options["note"],
                leave_out=options["leave_out"],
                difficulty=options["difficulty"],
                progress=progress,
            )
        self.summary(
            f"Release {frozen.version}: {counted(frozen.record_count, 'trajectory')}, "
            f"{counted(frozen.label_count, 'step label')}, digest {frozen.digest}."
        )
