"""triage PROJECT [--batch-size N] [--seed N] [--undo]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.policies import OPERATOR
from annotation.services import projects


class Command(OperatorCommand):
    help = "Serve what judges contest first, shuffled within batches. What somebody has begun stays in place."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--batch-size", type=int, metavar="N", help="default: the project's, at first 25")
        parser.add_argument("--seed", type=int, metavar="N", help="default: drawn anew")
        parser.add_argument("--undo", action="store_true", help="back to the order of chance")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        if options["undo"]:
            if options["batch_size"] is not None or options["seed"] is not None:
                raise CommandError("--undo takes neither --batch-size nor --seed.")
            moved = projects.undo_triage(actor=OPERATOR, project=project)
            self.summary(f"Back in the order of chance: {counted(moved, 'trajectory')} changed places.")
            return
        done = projects.triage(
            actor=OPERATOR, project=project, batch_size=options["batch_size"], seed=options["seed"]
        )
        self.summary(
            f"{counted(done.moved, 'trajectory')} changed places: {done.contested:,} contested ones first, "
            f"then {done.unanimous:,} unanimous and {done.unscored:,} without suggestions of two judges, "
            f"in batches of {done.batch_size:,}; seed {done.seed}."
        )
