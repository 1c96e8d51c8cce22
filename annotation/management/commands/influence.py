"""influence PROJECT [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.core.agreement.influence import Difference
from annotation.management.base import OperatorCommand, add_project, find_project, measure_text
from annotation.policies import OPERATOR
from annotation.reports.influence import Contrast, Influence, Line, as_json, influence
from annotation.reports.label_changes import ChangeRates

NAMES = {"people": "annotators", "judges": "judges, pooled"}


class Command(OperatorCommand):
    help = (
        "How far judges' suggestions move a project's annotators: by arm of its experiment, or as observed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        report = influence(viewer=OPERATOR, project=find_project(options["project"]))
        if options["json"]:
            self.document(as_json(report))
        else:
            self._write(report)
        design = f"randomised, seed {report.seed}" if report.randomised else "observed, not randomised"
        labels = sum(rates.changes.labels for rates in report.change_rates if not rates.judge)
        self.summary(
            f"{design}; {sum(arm.tasks for arm in report.arms):,} tasks with labels; "
            f"{labels:,} labels had a value when their suggestions were seen."
        )

    def _write(self, report: Influence) -> None:
        for arm in report.arms:
            self.stdout.write(
                f"{arm.arm or 'all tasks'}: {arm.tasks:,} of {arm.allocated:,} tasks, "
                f"{arm.trajectories:,} trajectories, {arm.steps:,} steps, {arm.pairs:,} pairs of labels"
            )
            for line in arm.lines:
                self.stdout.write(f"  {_who(line)}, {line.basis} values")
                self.stdout.write(f"    agreement {measure_text(line.agreement.measure)}")
                self.stdout.write(f"    κ         {measure_text(line.kappa.measure)}")
        for contrast in report.contrasts:
            self.stdout.write(f"{contrast.arm} − sealed: {_who(contrast)}")
            self.stdout.write(f"    agreement {_difference_text(contrast.agreement)}")
            self.stdout.write(f"    κ         {_difference_text(contrast.kappa)}")
        if report.reason:
            self.stdout.write(f"differences: –  ({report.reason})")
        for rates in report.change_rates:
            self._change_rates(rates)

    def _change_rates(self, rates: ChangeRates) -> None:
        found = rates.changes
        against = rates.judge or "the majority of the judges"
        self.stdout.write(f"{rates.unit} labels after a look, against {against} (n = {found.labels:,})")
        for name in ("changed", "towards", "away", "neither", "followed"):
            self.stdout.write(f"    {name:<10}{measure_text(getattr(found, name))}")


def _who(line: Line | Contrast) -> str:
    return line.judge or NAMES[line.who]


def _difference_text(found: Difference) -> str:
    if found.measure.value is None:
        return measure_text(found.measure)
    could = f"{found.mde:.4f}" if found.mde is not None else f"–  ({found.mde_reason})"
    return f"{measure_text(found.measure)}; could have shown {could}"
