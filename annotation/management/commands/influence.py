"""influence PROJECT [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.core.influence.arm_figures import ArmDifference
from annotation.management.base import OperatorCommand, add_project, counted, find_project, measure_text
from annotation.policies import OPERATOR
from annotation.reports.influence.annotator_effects import AnnotatorEffect
from annotation.reports.influence.experiment_report import ExperimentReport, TestedContrast
from annotation.reports.influence.report import ComparisonLine, Contrast, Influence, as_json
from annotation.reports.shared.label_changes import ChangeRates
from annotation.services.interim import influence

NAMES = {"people": "annotators", "judges": "judges, pooled", "majority": "most judges"}


class Command(OperatorCommand):
    help = (
        "How far judges' suggestions move a project's annotators: by arm of its experiment, or as observed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        report = influence(actor=OPERATOR, project=find_project(options["project"]))
        if options["json"]:
            self.document(as_json(report))
        else:
            self._write(report)
        dealt = {"annotator": "people on tasks", "task": "tasks"}.get(report.unit or "", "")
        design = f"{dealt} randomised, seed {report.seed}" if dealt else "observed, not randomised"
        labels = sum(rates.changes.labels for rates in report.change_rates if not rates.judge)
        self.summary(
            f"{design}; {counted(sum(arm.tasks for arm in report.arms), 'task')} with labels; "
            f"{counted(labels, 'label')} had a value when their suggestions were seen."
        )

    def _write(self, report: Influence) -> None:
        of = "tasks" if report.trial is None else "tasks of people"
        for arm in report.arms:
            self.stdout.write(
                f"{arm.arm or 'all tasks'}: {arm.tasks:,} of {arm.allocated:,} {of}, "
                f"{counted(arm.trajectories, 'trajectory')}, {counted(arm.steps, 'step')}, "
                f"{counted(arm.pairs, 'pair')} of labels"
            )
            for line in arm.lines:
                self.stdout.write(f"  {_who(line)}, {line.basis} values")
                self.stdout.write(f"    agreement {measure_text(line.agreement.measure)}")
                self.stdout.write(f"    κ         {measure_text(line.kappa.measure)}")
        for contrast in report.contrasts:
            self.stdout.write(f"{contrast.arm} − sealed: {_who(contrast)}")
            self.stdout.write(f"    agreement {_difference_text(contrast.agreement)}")
            self.stdout.write(f"    κ         {_difference_text(contrast.kappa)}")
        if report.trial is not None:
            self._trial(report.trial)
        if report.reason:
            self.stdout.write(f"differences: –  ({report.reason})")
        for rates in report.change_rates:
            self._change_rates(rates)
        for one in report.annotators:
            self._annotator(one)

    def _trial(self, trial: ExperimentReport) -> None:
        look = trial.look
        self.stdout.write(
            f"look {look.number}: {look.settled:,} of {counted(look.planned, 'trajectory')} settled, "
            f"{look.spent:.4f} of the level spent"
        )
        for tested in trial.tested:
            self.stdout.write(f"{_tested_name(tested)}: {_tested_text(tested)}")
        for fate in trial.fates:
            judges = ", ".join(f"{name} {n:,}" for name, n in fate.judges.items())
            self.stdout.write(
                f"{fate.arm}: {counted(fate.claimed, 'trajectory')} claimed, {fate.counted:,} counted, "
                f"{fate.waiting:,} waiting, {fate.lost:,} lost; {counted(fate.labels, 'label')}, "
                f"with suggestions on screen {fate.before:,} before, {fate.after:,} after ({judges})"
            )
        for pair in trial.pairs:
            self.stdout.write(
                f"{' with '.join(pair.arms)}: annotators, {counted(pair.pairs, 'pair')} of labels"
            )
            self.stdout.write(f"    agreement {measure_text(pair.agreement.measure)}")
            self.stdout.write(f"    κ         {measure_text(pair.kappa.measure)}")

    def _change_rates(self, rates: ChangeRates) -> None:
        changes = rates.changes
        against = rates.judge or "the majority of the judges"
        self.stdout.write(f"{rates.unit} labels after a look, against {against} (n = {changes.labels:,})")
        for name in ("changed", "towards", "away", "neither", "followed"):
            self.stdout.write(f"    {name:<10}{measure_text(getattr(changes, name))}")

    def _annotator(self, one: AnnotatorEffect) -> None:
        self.stdout.write(f"{one.name} (n = {one.labels:,})")
        if one.effect is not None:
            self.stdout.write(f"    always − sealed {_difference_text(one.effect)}")
        for name in ("changed", "followed"):
            self.stdout.write(f"    {name:<10}{measure_text(getattr(one, name))}")


def _who(line: ComparisonLine | Contrast) -> str:
    return line.judge or NAMES[line.who]


def _difference_text(difference: ArmDifference) -> str:
    if difference.measure.value is None:
        return measure_text(difference.measure)
    could = f"{difference.mde:.4f}" if difference.mde is not None else f"–  ({difference.mde_reason})"
    return f"{measure_text(difference.measure)}; could have shown {could}"


def _tested_name(tested: TestedContrast) -> str:
    arms = f"{' with '.join(tested.effect.arms)} − {' with '.join(tested.effect.base)}"
    primary = " (primary)" if tested.primary else ""
    return f"{arms}{primary}, {tested.judge or NAMES[tested.effect.who]}"


def _tested_text(tested: TestedContrast) -> str:
    fit = tested.effect.measured
    if tested.effect.fit is None or fit is None or tested.level is None:
        value = "–" if tested.effect.fit is None else f"{tested.effect.fit.value:+.4f}"
        return f"{value}  ({tested.reason})"
    half, mde = fit.half_width(tested.level) or 0.0, fit.detectable() or 0.0
    return (
        f"{fit.value:+.4f}  ({fit.value - half:+.4f} to {fit.value + half:+.4f} at level {tested.level:.4f}, "
        f"p {fit.p():.4f}, n = {tested.effect.labels:,}); could have shown {mde:.4f}"
    )
