"""The training data of a baseline, and its scores beside trivial predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.core.baseline.training import KEPT_FIGURES
from annotation.core.i18n import translatable
from annotation.core.judging.kinds import KINDS
from annotation.core.scoring.figures import JUDGE_FIGURES
from annotation.models import Judge

MEASURES: Final[tuple[tuple[str, str, str], ...]] = (
    *((name, JUDGE_FIGURES[name].title, "always_plus_one") for name in KEPT_FIGURES),
    ("outcome_accuracy", translatable("Outcome"), "always_plus_one"),
    ("log_loss", translatable("Log-loss"), "shares"),
    ("brier", translatable("Brier score"), "shares"),
)
"""Name, what it is called, and what stands beside it: probabilities are set against the labels' shares."""


@dataclass(frozen=True, slots=True)
class BaselineFigure:
    """One measure of the cross-validation by task, and the same of what it must beat.

    `value` None: `reason` says why. `reference`: of saying +1 to everything, or, for log-loss and Brier score
    (smaller is better), of saying no more than how frequent each label is.
    """

    name: str
    title: str
    value: float | None
    low: float | None
    high: float | None
    reference: float | None
    reference_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class BaselineTraining:
    """The training data of a baseline. `demo`: the demo release, for want of labels of its own."""

    demo: bool
    until: str
    steps: int
    trajectories: int
    tasks: int
    folds: int
    seed: int
    digest: str
    figures: tuple[BaselineFigure, ...]


def training(judge: Judge) -> BaselineTraining | None:
    """None for other judges, and before the first run."""
    details = judge.details
    if not KINDS[judge.kind].trained or "cv" not in details:
        return None
    return BaselineTraining(
        demo=details["trained_on"] == "demo",
        until=details["until"] or "",
        steps=details["n_steps"],
        trajectories=details["n_trajectories"],
        tasks=details["n_tasks"],
        folds=details["cv"]["folds"],
        seed=details["seed"],
        digest=details["digest"],
        figures=tuple(_figure(details, *measure) for measure in MEASURES),
    )


def _figure(details: Mapping[str, Any], name: str, title: str, beside: str) -> BaselineFigure:
    cv = details["cv"]
    low, high = cv["intervals"].get(name) or (None, None)
    return BaselineFigure(
        name=name,
        title=title,
        value=cv[name],
        low=low,
        high=high,
        reference=details[beside][name],
        reference_name=beside,
        reason=cv["undefined"].get(name, ""),
    )


def lines(training: BaselineTraining) -> list[str]:
    """The same for a terminal."""
    source = "the demo release (too few resolved labels yet)" if training.demo else "the resolved labels"
    beside = {"always_plus_one": "always +1", "shares": "shares of the labels alone"}
    return [
        f"Trained on {source}: {training.steps:,} steps, {training.trajectories:,} trajectories, "
        f"{training.tasks:,} tasks. Cross-validation by task, {training.folds} folds:",
        *(
            f"  {one.title:<20} {_number(one.value)}{_interval(one)}   "
            f"{beside[one.reference_name]} {_number(one.reference)}"
            for one in training.figures
        ),
    ]


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"


def _interval(one: BaselineFigure) -> str:
    return "" if one.low is None or one.high is None else f" [{one.low:.4f}, {one.high:.4f}]"
