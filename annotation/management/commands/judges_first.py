"""judges_first PROJECT --judge NAME --judge NAME --judge NAME [--preview] [--json]"""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.management.judge_arguments import find_judge
from annotation.policies import OPERATOR
from annotation.reports.judging.judges_first import preview
from annotation.services.judges_first import settle_judged


class Command(OperatorCommand):
    help = "Settle what three judges or more agree on before people are asked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument(
            "--judge", action="append", required=True, metavar="NAME", help="three times or more"
        )
        parser.add_argument(
            "--preview", action="store_true", help="say what would be settled, and do nothing"
        )
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        judges = [find_judge(project, name) for name in options["judge"]]
        if options["preview"]:
            found = preview(viewer=OPERATOR, project=project, judges=judges)
        else:
            found = settle_judged(actor=OPERATOR, project=project, judges=judges)
        if options["json"]:
            self.document({"project": project.slug, **asdict(found)})
        self.summary(
            f"{counted(found.judged, 'trajectory')} judged, {found.dropped:,} dropped, {found.people:,} for "
            f"people ({found.claimed:,} claimed before, {found.lacking:,} without a judge's answer), "
            f"{found.waiting:,} that a judge has not been asked about"
        )
