"""Train the baseline, and score it on tasks it has not seen."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from annotation.core.figures.folds import deal
from annotation.core.i18n import translatable
from annotation.core.scoring.judges import JudgedSteps, judge_scores
from annotation.core.vocabulary import VALUES

from ..judging.judge_input import JudgeInput
from ..judging.parsed_answer import ParsedAnswer
from . import model
from .evidence import Evidence
from .explanations import reason
from .features import VERSION, run_features, step_features
from .forest import Floats, Forest, Ints, grow
from .model import Classifier, CrossFit, TrainingSet, cross_fit, held_out, log_loss, places
from .regression import regress

METHOD: Final = f"{VERSION}/{model.VERSION}"
"""Changes with every change of the figures or of what is made of them: another method, another judge."""

PLACES: Final = 9
"""Digits of a figure that the digest is made of: the last ones may differ between machines."""

KEPT_FIGURES: Final = ("step_accuracy", "first_error_accuracy", "kappa", "quadratic_kappa")


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One labelled trajectory. `task`: who shares it is one task (`task_of`); `features` (n_steps,
    n_features); `labels` (n_steps,) of VALUES."""

    task: str
    features: Floats
    labels: tuple[int, ...]
    outcome: int


@dataclass(frozen=True, slots=True)
class BaselineAnswer:
    """One trajectory as the baseline sees it. `probabilities` (n_steps, 3) and `outcome` (3,), in the order
    of VALUES; `seen`: whether its task is one of those trained on (by other folds' models)."""

    judgement: ParsedAnswer
    probabilities: Floats
    outcome: Floats
    seen: bool


def task_of(question: str, otherwise: str) -> str:
    """The identity of a task: its question, wherever it stands; `otherwise` for a task without one.

    Imported twice, into two subsets or two projects, a task is still one, and must be in one fold.
    """
    plain = " ".join(question.split()).casefold()
    digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
    return f"question {digest}" if plain else otherwise


def digest(examples: Sequence[TrainingExample], *, seed: int) -> str:
    """The sha256 of everything a training depends on but its method; the order of the examples is part of
    it."""
    sha256 = hashlib.sha256(f"{VERSION} {seed}".encode())
    for example in examples:
        features = example.features
        sha256.update(f"\n{example.task} {example.labels} {example.outcome} {features.shape}\n".encode())
        sha256.update((features.round(PLACES) + 0.0).astype("<f8").tobytes())
    return sha256.hexdigest()


class Trained:
    """The models of one training, in memory only. Shared by threads: nothing changes after `train`."""

    def __init__(self, steps: CrossFit, outcomes: CrossFit, folds: dict[str, int]) -> None:
        self._steps = steps
        self._outcomes = outcomes
        self._folds = folds
        self._evidence = {id(model): _evidence(model) for model in (steps.everything, *steps.without)}

    def models(self, task: str) -> tuple[Classifier, Classifier]:
        """The models of steps and of outcomes that saw no run of this task."""
        fold = self._folds.get(task)
        if fold is None:
            return self._steps.everything, self._outcomes.everything
        return self._steps.without[fold], self._outcomes.without[fold]

    def judge(self, material: JudgeInput, task: str) -> BaselineAnswer:
        """Labels, the most probable of each step, with probabilities and reasons."""
        of_steps, of_outcome = self.models(task)
        rows = step_features(material)
        first = np.arange(len(rows)) == 0
        probabilities = of_steps.probabilities(rows, first)
        values = _values(probabilities)
        evidence = self._evidence[id(of_steps)]
        weights = of_steps.trust * evidence.of(rows, first, values)
        outcome = of_outcome.probabilities(run_features(rows)[None], np.ones(1, dtype=np.bool_))[0]
        best = int(outcome.argmax())
        judgement = ParsedAnswer(
            labels=dict(zip(material.steps, values.tolist(), strict=True)),
            reasons={
                index: reason(weight, row, evidence.mean)
                for index, row, weight in zip(material.steps, rows, weights, strict=True)
            },
            outcome=VALUES[best],
            outcome_reason=translatable(
                "From its last step and the average of all; probability {p}.", p=f"{outcome[best]:.2f}"
            ),
            problems=(),
            missing=0,
            extra=0,
            invalid=0,
            probabilities={
                index: float(row.max()) for index, row in zip(material.steps, probabilities, strict=True)
            },
        )
        return BaselineAnswer(judgement, probabilities, outcome, task in self._folds)


def train(
    examples: Sequence[TrainingExample], *, seed: int, alive: Callable[[], None] = lambda: None
) -> tuple[Trained, dict[str, Any]]:
    """Train on these, and the figures as `details` of a judge keep them (JSON-ready, see `figures`).

    `alive` is called every few trees and may raise. Raises ValueError for fewer than two tasks.
    """
    table = _Table.of(examples)
    of_steps, of_outcomes = table.labelled(seed)
    steps = cross_fit(of_steps, seed=seed, alive=alive)
    outcomes = cross_fit(of_outcomes, seed=seed, alive=alive)
    folds = {
        table.names[group]: int(number) for group, number in zip(table.groups, of_steps.fold, strict=True)
    }
    training_figures = figures(table.labels, table.groups, table.trajectory, steps)
    right = _values(outcomes.probabilities) == table.outcomes
    training_figures["cv"]["outcome_accuracy"] = float(right.mean())
    training_figures["always_plus_one"]["outcome_accuracy"] = float((table.outcomes == 1).mean())
    return Trained(steps, outcomes, folds), training_figures


def unseen_labels(examples: Sequence[TrainingExample], *, seed: int) -> tuple[Ints, Ints]:
    """Labels by models that saw no run of the task: the most probable label of every step, example by example
    (n_steps,), and of every outcome (n_examples,).

    Raises ValueError for fewer than two tasks.
    """
    steps, outcomes = _Table.of(examples).labelled(seed)
    return _values(held_out(steps, seed=seed)), _values(held_out(outcomes, seed=seed))


@dataclass(frozen=True, slots=True)
class _Table:
    """Examples as arrays. By step: `rows` of features, `labels`, `groups` (the place of the task in `names`),
    `trajectory`; by example: `runs` of features, `outcomes`, `of_run` (the task)."""

    names: list[str]
    rows: Floats
    labels: Ints
    groups: Ints
    trajectory: Ints
    runs: Floats
    outcomes: Ints
    of_run: Ints

    @classmethod
    def of(cls, examples: Sequence[TrainingExample]) -> _Table:
        names = sorted({example.task for example in examples})
        place = {name: at for at, name in enumerate(names)}
        of_run = np.array([place[example.task] for example in examples])
        trajectory = np.repeat(np.arange(len(examples)), [len(example.labels) for example in examples])
        return cls(
            names,
            np.vstack([example.features for example in examples]),
            np.array([label for example in examples for label in example.labels], dtype=np.int64),
            of_run[trajectory],
            trajectory,
            np.vstack([run_features(example.features) for example in examples]),
            np.array([example.outcome for example in examples], dtype=np.int64),
            of_run,
        )

    def labelled(self, seed: int) -> tuple[TrainingSet, TrainingSet]:
        """Steps and outcomes, dealt into the same folds of tasks."""
        fold = deal(self.groups, seed=seed)
        starts = np.unique(self.trajectory, return_index=True)[1]
        first = np.isin(np.arange(len(fold)), starts)
        steps = TrainingSet(
            fit=grow, rows=self.rows, labels=self.labels, groups=self.groups, first=first, fold=fold
        )
        outcomes = TrainingSet(
            fit=regress,
            rows=self.runs,
            labels=self.outcomes,
            groups=self.of_run,
            first=np.ones(len(starts), dtype=np.bool_),
            fold=fold[starts],
        )
        return steps, outcomes


def figures(labels: Ints, groups: Ints, trajectory: Ints, steps: CrossFit) -> dict[str, Any]:
    """The results of cross-validation by task, beside those of rules that cost nothing.

    `cv`: StepAcc, FirstErrAcc, κ, quadratic κ (with 95 % intervals over tasks from 20 tasks on), log-loss
    and Brier score (summed over the three labels: 0 … 2) of the answers of models that did not see the task.
    `always_plus_one`: the same for saying +1 to every step, which has no probabilities. `shares`: log-loss
    and Brier score of saying no more than how frequent each label is in the other folds.
    """
    shares = np.array([steps.without[number].raw.shares for number in steps.fold])
    judged_steps = JudgedSteps(
        np.zeros_like(labels), groups, trajectory, labels, _values(steps.probabilities)
    )

    def figures_of(judged: JudgedSteps, *, intervals: bool) -> dict[str, Any]:
        scores = judge_scores(judged, intervals=intervals).figures
        kept = {name: scores[name] for name in KEPT_FIGURES}
        return {
            **{name: measure.value for name, measure in kept.items()},
            "intervals": {name: measure.ends for name, measure in kept.items()},
            "undefined": {name: str(it.reason) for name, it in kept.items() if it.value is None},
        }

    return {
        "cv": {
            **figures_of(judged_steps, intervals=True),
            **_of_probabilities(steps.probabilities, labels),
            "folds": len(steps.without),
        },
        "always_plus_one": figures_of(judged_steps.plus(), intervals=False),
        "shares": _of_probabilities(shares, labels),
    }


def _evidence(classifier: Classifier) -> Evidence:
    assert isinstance(classifier.raw, Forest), "steps are the trees' business"
    return Evidence(classifier.raw, classifier.rows)


def _of_probabilities(probabilities: Floats, labels: Ints) -> dict[str, float]:
    target = places(labels)
    right = np.eye(len(VALUES))[target]
    return {
        "log_loss": log_loss(probabilities, target),
        "brier": float(((probabilities - right) ** 2).sum(axis=1).mean()),
    }


def _values(probabilities: Floats) -> Ints:
    values: Ints = np.array(VALUES, dtype=np.int64)[probabilities.argmax(axis=1)]
    return values
