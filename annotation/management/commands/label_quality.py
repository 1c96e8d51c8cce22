"""label_quality PROJECT [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_project, counted, find_project, measure_text
from annotation.policies import OPERATOR
from annotation.reports.quality.label_quality import LabelQuality, as_json, label_quality


class Command(OperatorCommand):
    help = "How often a project's consensus is wrong, from labels that were asked for once more."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        quality = label_quality(viewer=OPERATOR, project=find_project(options["project"]))
        if options["json"]:
            self.document(as_json(quality))
        else:
            self._write(quality)
        self.summary(
            f"{quality.third.done:,} of {counted(quality.third.drawn, 'trajectory')} labelled by a third "
            f"person, {quality.retest.done:,} of {quality.retest.drawn:,} labelled again."
        )

    def _write(self, quality: LabelQuality) -> None:
        error = quality.error
        bound = f"at most {error.bound:.4f}" if error.bound is not None else f"–  ({error.bound_reason})"
        self.stdout.write(
            f"label error          {measure_text(error.error)}  (n = {counted(error.error.n, 'step')})"
        )
        self.stdout.write(f"  with 95 %          {bound}")
        if error.deff is not None:
            self.stdout.write(f"  design effect      {error.deff:.2f}  ({counted(error.tasks, 'task')})")
        self.stdout.write(f"effective labels/h   {measure_text(quality.effective)}")
        for retest in quality.retests:
            who = retest.name or "all annotators"
            self.stdout.write(f"{who}, labelled twice (n = {retest.agreement.n:,})")
            self.stdout.write(f"  agreement          {measure_text(retest.agreement)}")
            self.stdout.write(f"  κ                  {measure_text(retest.kappa)}")
