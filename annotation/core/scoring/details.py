"""One model in detail: its confusion, where it sees first errors, and its figures by length and position."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.core.figures.first_errors import CLASSES, FirstErrors, classify
from annotation.core.figures.measure import IntArray, Measure
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.scoring.counts import TABLE, by_trajectory, tables, task_sums
from annotation.core.scoring.figures import NOTHING_PREDICTED
from annotation.core.scoring.labels import MISSING, BoolArray, Predictions, ReleasedLabels
from annotation.core.scoring.pairs import wrong_pairs
from annotation.core.scoring.scores import Scores, scores

NO_COST: Final = translatable("the cost of the predictions is not known")
NO_POINT: Final = translatable("models are scored on decisions by pairs of options")
NO_BETTER: Final = translatable("its StepAcc is not above that of always +1")

LENGTHS: Final = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, None))
"""From and to which number of steps (or of which step), in parts of a cut."""


@dataclass(frozen=True, slots=True)
class LengthScores:
    """Trajectories of `low` to `high` steps (None: and more), with the model's scores on them."""

    low: int
    high: int | None
    scores: Scores


@dataclass(frozen=True, slots=True)
class PlaceAccuracy:
    """The `low`-th to `high`-th steps of trajectories, from 1: how many, and how many of them are right."""

    low: int
    high: int | None
    steps: int
    right: int


@dataclass(frozen=True, slots=True)
class Costs:
    """US dollars for a hundred trajectories, and for each percentage point of StepAcc over always +1."""

    per_hundred: Measure
    per_point: Measure


@dataclass(frozen=True, slots=True)
class Worst:
    """A trajectory by its place in the release: how many of its steps (of a decision: pairs) are wrong, and
    whether the first error and the outcome are right."""

    record: int
    wrong: int
    steps: int
    first_error: bool
    outcome: bool


def confusion(released: ReleasedLabels, predicted: Predictions) -> IntArray:
    """Steps by consensus (rows: −1, 0, +1) and prediction (columns: −1, 0, +1, none): (3, 4)."""
    table: IntArray = tables(task_sums(released, predicted).sum(axis=0), TABLE).astype(np.int64)
    return table


def offsets(released: ReleasedLabels, predicted: Predictions) -> FirstErrors:
    """Completely predicted trajectories by where the model's first error lies, seen from the consensus's."""
    first, theirs, _, complete = by_trajectory(released, predicted)
    counts = np.bincount(classify(first, theirs)[complete], minlength=CLASSES)
    return FirstErrors(*(int(count) for count in counts))


def by_length(released: ReleasedLabels, predicted: Predictions) -> list[LengthScores]:
    """The scores over trajectories of about as many steps; lengths that do not occur are left out."""
    length = released.lengths()
    bins = []
    for low, high in LENGTHS:
        chosen = _within(length, low, high)
        if chosen.any():
            part = released.only(chosen)
            bins.append(LengthScores(low, high, scores(part, [predicted.only(released, chosen)])[0]))
    return bins


def by_position(released: ReleasedLabels, predicted: Predictions) -> list[PlaceAccuracy]:
    """The number of right steps among the first, second …; places that do not occur are left out."""
    position, right = released.positions() + 1, released.value == predicted.steps
    accuracies = []
    for low, high in LENGTHS:
        chosen = _within(position, low, high)
        if chosen.any():
            accuracies.append(PlaceAccuracy(low, high, int(chosen.sum()), int(right[chosen].sum())))
    return accuracies


def worst(released: ReleasedLabels, predicted: Predictions, limit: int) -> list[Worst]:
    """The trajectories with the most wrong steps, those that the model was asked about; of equal ones those
    with the larger share, then in the order of the release. None without a wrong step or outcome."""
    return erring(released, predicted, predicted.there)[:limit]


def erring(
    released: ReleasedLabels,
    predicted: Predictions,
    chosen: BoolArray,
    *,
    only_wrong: bool = True,
    first: IntArray | None = None,
) -> list[Worst]:
    """The `chosen` trajectories (R,), those with the most wrong steps first; with `only_wrong` those with
    a wrong step or outcome alone, with `first` (R,) those that have most of it before all. Of decisions
    pairs are counted, and the outcome counts as right."""
    of_pairs = released.kind.has(Feature.PAIRS)
    length, wrong = (
        wrong_pairs(released, predicted) if of_pairs else (released.lengths(), _wrong(released, predicted))
    )
    its, theirs, _, _ = by_trajectory(released, predicted)
    outcome = (released.outcome == predicted.outcome) | of_pairs
    listed = np.flatnonzero(chosen & ((wrong > 0) | ~outcome) if only_wrong else chosen)
    most = np.zeros(len(listed)) if first is None else -first[listed]
    share = wrong[listed] / np.maximum(length[listed], 1)
    order = listed[np.lexsort((listed, -share, -wrong[listed], most))]
    return [
        Worst(int(at), int(wrong[at]), int(length[at]), bool(its[at] == theirs[at]), bool(outcome[at]))
        for at in order
    ]


def _wrong(released: ReleasedLabels, predicted: Predictions) -> IntArray:
    """The number of wrong steps of each trajectory, (R,)."""
    return np.bincount(released.record[released.value != predicted.steps], minlength=released.n_records)


def in_cell(
    released: ReleasedLabels, predictions: Predictions, value: int, predicted: int | None
) -> BoolArray:
    """The steps of one cell of the confusion, (S,): of that label, and predicted to have that one (None: no
    label)."""
    steps: BoolArray = (released.value == value) & (
        predictions.steps == (MISSING if predicted is None else predicted)
    )
    return steps


def in_class(released: ReleasedLabels, predicted: Predictions, number: int) -> BoolArray:
    """The completely predicted trajectories of one class of first errors (the fields of FirstErrors, in their
    order), (R,)."""
    first, theirs, _, complete = by_trajectory(released, predicted)
    matching: BoolArray = complete & (classify(first, theirs) == number)
    return matching


def costs(released: ReleasedLabels, predicted: Predictions, cost: float | None) -> Costs:
    """The cost of a model's labels of a release, in US dollars; `cost` is that of all of them. A point of
    decisions has no cost: no labels would be what they are held against."""
    n_asked = int(predicted.there.sum())
    if cost is None:
        return Costs(Measure(None, n_asked, NO_COST), Measure(None, n_asked, NO_COST))
    whole = Measure(100 * cost / n_asked, n_asked) if n_asked else Measure(None, 0, NOTHING_PREDICTED)
    if not released.kind.has(Feature.STEP_SCORES):
        return Costs(whole, Measure(None, n_asked, NO_POINT))
    above = (
        float((released.value == predicted.steps).mean() - (released.value == 1).mean()) if n_asked else 0.0
    )
    point = Measure(cost / (100 * above), n_asked) if above > 0 else Measure(None, n_asked, NO_BETTER)
    return Costs(whole, point)


def _within(values: IntArray, low: int, high: int | None) -> BoolArray:
    inside: BoolArray = (values >= low) & (values <= (np.inf if high is None else high))
    return inside
