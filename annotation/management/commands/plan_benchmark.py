"""plan_benchmark PROJECT [--tasks N] [--runs R] [--json]"""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.policies import OPERATOR
from annotation.reports.evaluation.size_plan import (
    MOST_RUNS,
    MOST_TASKS,
    POINTS,
    SizePlan,
    as_json,
    size_plan,
)


def _tasks(text: str) -> int:
    if not text.isdecimal() or not 20 <= int(text) <= MOST_TASKS:
        raise ArgumentTypeError(f"a whole number from 20 to {MOST_TASKS:,}")
    return int(text)


def _runs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_RUNS:
        raise ArgumentTypeError(f"a whole number from 1 to {MOST_RUNS}")
    return int(text)


class Command(OperatorCommand):
    help = "How many tasks a benchmark needs, before it is labelled or frozen."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--tasks", type=_tasks, help="plan for so many (default: those of the project)")
        parser.add_argument("--runs", type=_runs, help="runs of each task (default: as in the project)")
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        plan = size_plan(
            viewer=OPERATOR,
            project=find_project(options["project"]),
            tasks=options["tasks"],
            runs=options["runs"],
        )
        if options["json"]:
            self.document(as_json(plan))
        else:
            self._write(plan)
        so_far = f"{counted(plan.labelled, 'task')} resolved so far"
        source = so_far if plan.from_labels else "published labels"
        self.summary(f"At 95 %, with a power of 80 %; variances from {source}.")

    def _write(self, plan: SizePlan) -> None:
        accuracy, difference = plan.variance.accuracy, plan.variance.difference
        for size in plan.sizes:
            half, detectable = 100 * accuracy.half_width(size), 100 * difference.detectable(size)
            self.stdout.write(
                f"{size.tasks:,} tasks × {size.runs:.1f} runs: StepAcc ± {half:.1f} points, "
                f"differences from {detectable:.1f} points on"
            )
        for points in POINTS:
            within = _number(accuracy.tasks_within(points, plan.design))
            showing = _number(difference.tasks_for(points, plan.design))
            self.stdout.write(f"{100 * points:.0f} points: ± by {within} tasks, a difference by {showing}")


def _number(tasks: int | None) -> str:
    return "more than a million" if tasks is None else f"{tasks:,}"
