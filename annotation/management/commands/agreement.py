"""agreement PROJECT [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.core.agreement.figures import FIGURES
from annotation.management.base import OperatorCommand, add_project, counted, find_project, measure_text
from annotation.policies import OPERATOR
from annotation.reports.agreement.report import AgreementPart, agreement, as_json


class Command(OperatorCommand):
    help = "Percent agreement, Cohen's κ and the confusion of a project's annotators, overall and per subset."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        report = agreement(viewer=OPERATOR, project=find_project(options["project"]))
        if options["json"]:
            self.document(as_json(report))
        else:
            for part in (report.overall, *report.subsets):
                self._table(part)
        states = report.overall.states
        self.summary(
            f"{counted(report.overall.steps.n, 'pair')} of labels; "
            f"{counted(states['unanimous'], 'trajectory')} unanimous, {states['disputed']:,} disputed, "
            f"{states['adjudicated']:,} adjudicated, {states['labelling']:,} still being labelled."
        )

    def _table(self, part: AgreementPart) -> None:
        self.stdout.write(f"{part.name or 'all subsets'} (n = {part.steps.n:,})")
        for name, measure in part.steps.figures.items():
            self.stdout.write(f"  {FIGURES[name].title:<28}{measure_text(measure)}")
        if part.after_discussion:
            changed = part.after_discussion.changed
            self.stdout.write(f"  after discussion ({counted(changed, 'pair')} of labels changed)")
            for name, measure in part.after_discussion.steps.figures.items():
                if FIGURES[name].headline:
                    self.stdout.write(f"  {FIGURES[name].title:<28}{measure_text(measure)}")
        order = (
            "rows: first annotator" if len(part.steps.pairs) == 1 else "each pair of labels in both orders"
        )
        self.stdout.write(f"  confusion (−1, 0, +1; {order})")
        for row in part.steps.table.tolist():
            self.stdout.write("    " + " ".join(f"{count:>6}" for count in row))
