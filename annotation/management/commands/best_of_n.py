"""best_of_n PROJECT VERSION [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_release, counted, find_release
from annotation.policies import OPERATOR
from annotation.reports.evaluation.best_of_n import as_json, selections


class Command(OperatorCommand):
    help = "How many tasks are solved when a model's labels choose among the runs of each task."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_release(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        release = find_release(options["project"], options["release_version"])
        models = selections(actor=OPERATOR, release=release)
        if options["json"]:
            self.document(as_json(release, models))
        else:
            for model in models:
                part = model.overall
                self.stdout.write(f"{model.name}: {counted(part.tasks, 'task')}, {counted(part.runs, 'run')}")
                self.stdout.write(f"  {'random':<12}{part.random:.2f}\n  {'oracle':<12}{part.oracle}")
                if part.majority is not None:
                    vote = part.majority
                    self.stdout.write(f"  {'majority':<12}{vote.averaged:.2f}  (lowest index: {vote.lowest})")
                for rule, solved in part.rules.items():
                    self.stdout.write(f"  {rule:<12}{solved.averaged:.2f}  (lowest index: {solved.lowest})")
        self.summary(f"{counted(len(models), 'model')} on release {release.version}.")
