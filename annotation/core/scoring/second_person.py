"""The rule for a second person: whether a trajectory that one person has labelled needs another.

A judge as the second reader: the stack of judges says how probable each label is, the doubly labelled
trajectories how often people err and how, and Bayes' rule makes of both the probability that a person's label
is wrong. Its sum over a trajectory, outcome included, is the expected number of wrong labels, the *doubt*.
Where that is above a bound a second person is asked, who labels blind as ever.

The bound is chosen on trajectories that two people labelled for other reasons than doubt: each of the two is
taken for the first, and the largest doubt counts up to which no more than `MOST_WRONG` of all labels pass
wrongly. What passes is the larger of what is expected and what was seen. Probabilities of a trajectory come
from regressions fitted without its task (`core.scoring.stack`), so that none knows what it is asked.

Judges resolve nothing here. Whatever hinders them (too few doubly labelled trajectories, fewer than three
judges, a label that one of them did not give) sends a trajectory to two people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.rechecks.sampling import fraction
from annotation.core.scoring.labels import MISSING, BoolArray, Labels, Predictions, ReleasedLabels
from annotation.core.scoring.stack import JudgeLabels, Stack
from annotation.core.vocabulary import VALUES

FEWEST_JUDGES: Final = 3
FITTED_AT: Final = (100, 200)
"""The numbers of doubly labelled trajectories at which the rule is made: first, and once more."""
MOST_WRONG: Final = 0.0025
"""The share of all labels that may pass wrongly for want of a second person, by what is known when it is
chosen. An audit proves what came of it."""
ALWAYS_TWO: Final = 0.1
"""The share of trajectories that two people label whatever judges say."""
SMOOTHING: Final = 3.0
"""The labels of each value that are taken for known before any is seen, 95 % of them right."""
RIGHT: Final = 0.95

Shares = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class SecondPersonRule:
    """The rule.

    `bound`: the doubt above which a second person is asked. `step_labels` and `outcomes`: the share of −1, 0,
    +1 (columns) that people say where the label is −1, 0, +1 (rows). `factor`: how many wrong labels there
    were for each expected one. On what it was chosen from, `expected_wrong` is the share of all labels that
    passes wrongly, and `one_person` that of the trajectories which one person decides.
    """

    bound: float
    step_labels: Shares
    outcomes: Shares
    factor: float
    expected_wrong: float
    one_person: float

    def as_json(self) -> dict[str, Any]:
        """All of it, by name, for `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> SecondPersonRule:
        """The rule that `as_json` wrote."""
        shares = {name: tuple(map(tuple, stored[name])) for name in ("step_labels", "outcomes")}
        return cls(**{**stored, **shares})


def fitted_on(doubly_labelled: int) -> int:
    """The number of doubly labelled trajectories, the first ones, from which the rule is made; 0 while there
    is none."""
    return max((number for number in FITTED_AT if number <= doubly_labelled), default=0)


def drawn_for_two(seed: int, trajectory: int) -> bool:
    """Whether chance gives a trajectory to two people: by a project's secret seed, before anybody labels."""
    return fraction(seed, "two people", trajectory) < ALWAYS_TWO


def labelled_by_all(released: ReleasedLabels, judges: Sequence[JudgeLabels]) -> BoolArray:
    """The records of which each of at least three judges labels every step and the outcome: (R,)."""
    if len(judges) < FEWEST_JUDGES:
        return np.zeros(released.n_records, dtype=bool)
    lacking = np.zeros(released.n_records, dtype=bool)
    for judge in judges:
        lacking |= judge.predicted.outcome == MISSING
        lacking[released.record[judge.predicted.steps == MISSING]] = True
    return ~lacking


def rule(
    released: ReleasedLabels, stack: Stack, people: tuple[Predictions, Predictions], taught: BoolArray
) -> SecondPersonRule | None:
    """The rule from the records `taught` (R,), whose labels in `released` are resolved and which both
    `people` have labelled. None for fewer than 100 of them."""
    if int(taught.sum()) < FITTED_AT[0]:
        return None
    steps = taught[released.record]
    step_labels = _confusion(released.value[steps], [one.steps[steps] for one in people])
    outcomes = _confusion(released.outcome[taught], [one.outcome[taught] for one in people])
    expected = np.concatenate([_doubt(released, stack, one, step_labels, outcomes)[taught] for one in people])
    wrong = np.concatenate([_wrong(released, one)[taught] for one in people])
    factor = max(1.0, float((wrong.sum() + 1) / (expected.sum() + 1)))
    labels = len(people) * int((released.lengths() + 1)[taught].sum())
    order = np.argsort(expected, kind="stable")
    passing = np.maximum(np.cumsum(expected[order]) * factor, np.cumsum(wrong[order])) / labels
    most = int(np.searchsorted(np.maximum.accumulate(passing), MOST_WRONG, side="right"))
    return SecondPersonRule(
        bound=float(expected[order[most - 1]]) if most else 0.0,
        step_labels=step_labels,
        outcomes=outcomes,
        factor=factor,
        expected_wrong=float(passing[most - 1]) if most else 0.0,
        one_person=most / len(order),
    )


def doubts(released: ReleasedLabels, stack: Stack, person: Predictions, by: SecondPersonRule) -> FloatArray:
    """The expected number of wrong labels of a person in each record, (R,), outcome included; infinite where
    a label is missing."""
    return _doubt(released, stack, person, by.step_labels, by.outcomes)


def needs_second(doubt: FloatArray, by: SecondPersonRule) -> BoolArray:
    """Whether a second person is asked, (R,)."""
    asked: BoolArray = doubt > by.bound
    return asked


def _doubt(
    released: ReleasedLabels, stack: Stack, person: Predictions, step_labels: Shares, outcomes: Shares
) -> FloatArray:
    of_steps = _probably_wrong(stack.steps, person.steps, step_labels)
    doubts = np.bincount(released.record, weights=of_steps, minlength=released.n_records).astype(np.float64)
    return doubts + _probably_wrong(stack.outcome, person.outcome, outcomes)


def _probably_wrong(by_stack: FloatArray, labels: Labels, shares: Shares) -> FloatArray:
    """The probability that each label is another, (n,), by what judges make probable and how people err."""
    there = labels != MISSING
    column = np.where(there, labels, VALUES[0]).astype(np.int64) - VALUES[0]
    each = by_stack * np.array(shares)[:, column].T
    total = each.sum(axis=1)
    right = np.divide(each[np.arange(len(column)), column], total, out=np.zeros(len(total)), where=total > 0)
    chances: FloatArray = np.where(there, 1 - right, np.inf)
    return chances


def _wrong(released: ReleasedLabels, person: Predictions) -> FloatArray:
    """The number of a person's labels that were not resolved so, (R,), outcome included."""
    wrong = (person.steps != released.value).astype(np.float64)
    number = np.bincount(released.record, weights=wrong, minlength=released.n_records).astype(np.float64)
    number += person.outcome != released.outcome
    return number


def _confusion(truth: IntArray, readers: Sequence[Labels]) -> Shares:
    other = (1 - RIGHT) / (len(VALUES) - 1)
    counts = SMOOTHING * np.where(np.eye(len(VALUES)) == 1, RIGHT, other)
    for labels in readers:
        there = labels != MISSING
        np.add.at(counts, (truth[there] - VALUES[0], labels[there].astype(np.int64) - VALUES[0]), 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return tuple((float(a), float(b), float(c)) for a, b, c in shares)
