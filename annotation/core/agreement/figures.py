"""The figures of agreement: their names, titles, conventions, and computation from counts.

`FIGURES` is the one list of them, in the order in which pages and documents give them. A figure of pairs is
the mean over the pairs of annotators, weighted by each pair's n, without the pairs that leave it undefined; a
pooled figure comes from the sum over all pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from annotation.core.agreement.alpha import alpha_values
from annotation.core.agreement.counts import (
    COINCIDENCES,
    FIRST_ERRORS,
    STEPS_BEFORE,
    TABLE,
    TRANSITIONS,
    UNITS,
)
from annotation.core.agreement.transition import STRATA, transition_values
from annotation.core.figures.confusion import SIZE, error_tables
from annotation.core.figures.first_errors import onset_tables, presence_tables
from annotation.core.figures.kappa import ac1_values, agreement_values, kappa_values
from annotation.core.figures.measure import (
    NO_PAIRS,
    NO_SHARED_ERROR,
    NO_TRAJECTORIES,
    ONE_LABEL,
    ONE_VERDICT,
    FloatArray,
    divide,
)
from annotation.core.i18n import Translatable, translatable

NO_ERROR: Final = translatable("both annotators always, or never, called a step an error")
NO_OUTCOMES: Final = translatable("there are no outcomes that two annotators labelled")
NO_ONSET: Final = translatable("every step, or none, is the first error for both annotators")


OF_TABLE: Final = TABLE
OF_UNITS: Final = slice(COINCIDENCES.start, UNITS + 1)
OF_TRANSITIONS: Final = TRANSITIONS
OF_FIRST_ERRORS: Final = slice(FIRST_ERRORS.start, STEPS_BEFORE + 1)
"""The columns of counts that figures are made of; all figures with the same columns are made together."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: how its columns of counts, `reads`, make its values and its n, and its words.

    `make` and `count` take sums of these columns alone, (…, reads), `values` and `n` sums of all columns; all
    give (…). `reason`: why it is undefined although n is not 0; `empty`: why, when n is 0. `headline`: shown
    first, the others beside it. `of_outcomes`: outcomes have it too. `percent`: a share, shown in percent.
    """

    name: str
    title: Translatable
    convention: Translatable
    reads: slice
    make: Callable[[FloatArray], FloatArray]
    count: Callable[[FloatArray], FloatArray]
    reason: str
    empty: str = NO_PAIRS
    headline: bool = False
    pooled: bool = False
    of_outcomes: bool = False
    percent: bool = False

    def values(self, sums: FloatArray) -> FloatArray:
        """The figure of sums (…, columns): (…), NaN where it is undefined."""
        return self.make(sums[..., self.reads])

    def n(self, sums: FloatArray) -> FloatArray:
        """The figure's n of sums (…, columns): (…)."""
        return self.count(sums[..., self.reads])


def tables(sums: FloatArray) -> FloatArray:
    """Sums (…, columns) → the confusion of `first` (rows) and `second`, (…, 3, 3)."""
    return sums[..., TABLE].reshape(*sums.shape[:-1], SIZE, SIZE)


def _table(own: FloatArray) -> FloatArray:
    return own.reshape(*own.shape[:-1], SIZE, SIZE)


def _coincidences(own: FloatArray) -> FloatArray:
    """Coincidences for α, (…, 3, 3)."""
    result = np.empty((*own.shape[:-1], SIZE, SIZE), order="F")
    for column, (a, b) in enumerate(zip(*np.triu_indices(SIZE), strict=True)):
        result[..., a, b] = result[..., b, a] = own[..., column] * (2 if a == b else 1)
    return result


def _sum(own: FloatArray) -> FloatArray:
    total: FloatArray = own.sum(axis=-1)
    return total


def _units(own: FloatArray) -> FloatArray:
    return np.round(own[..., -1])


def _presence(own: FloatArray) -> FloatArray:
    return presence_tables(own[..., :-1])


def _onset(own: FloatArray) -> FloatArray:
    return onset_tables(own[..., :-1], own[..., -1])


def _transitions(own: FloatArray) -> FloatArray:
    return own.reshape(*own.shape[:-1], STRATA, SIZE, SIZE)


def _both_found_one(own: FloatArray) -> FloatArray:
    return _presence(own)[..., 0, 0]


_ALL: Final = (
    Figure(
        "percent_agreement",
        translatable("Percent agreement"),
        translatable("Share of pairs of labels that are equal. Not corrected for chance."),
        OF_TABLE,
        lambda own: agreement_values(_table(own)),
        _sum,
        "",
        headline=True,
        of_outcomes=True,
        percent=True,
    ),
    Figure(
        "kappa",
        translatable("Cohen’s κ"),
        translatable(
            "Agreement of two annotators beyond what the shares of their labels give by chance: 0 is chance, "
            "1 is perfect. Mean over pairs of annotators, weighted by n; pairs for which it is undefined are "
            "left out. The mean falls with the number of annotators at equal quality: with more than two, "
            "read Krippendorff’s α."
        ),
        OF_TABLE,
        lambda own: kappa_values(_table(own)),
        _sum,
        ONE_LABEL,
        headline=True,
        of_outcomes=True,
    ),
    Figure(
        "transition_kappa",
        translatable("Transition κ"),
        translatable(
            "κ of where labels go next: over first steps, and steps whose previous step both labelled alike, "
            "with chance worked out apart by that previous label. Filled labels do not raise it."
        ),
        OF_TRANSITIONS,
        lambda own: transition_values(_transitions(own)),
        _sum,
        ONE_LABEL,
        headline=True,
    ),
    Figure(
        "alpha",
        translatable("Krippendorff’s α"),
        translatable(
            "Agreement beyond chance of any number of annotators, over everything that two or more labelled; "
            "chance comes from all their labels together. Nominal: all differences count alike."
        ),
        OF_UNITS,
        lambda own: alpha_values(_coincidences(own)),
        _units,
        ONE_LABEL,
        headline=True,
        pooled=True,
        of_outcomes=True,
    ),
    Figure(
        "error_kappa",
        translatable("Error κ"),
        translatable("κ of −1 against 0 and +1 taken together."),
        OF_TABLE,
        lambda own: kappa_values(error_tables(_table(own))),
        _sum,
        NO_ERROR,
        of_outcomes=True,
    ),
    Figure(
        "error_presence_kappa",
        translatable("Error presence κ"),
        translatable("κ of whether a trajectory has a −1 at all. Whole trajectories only."),
        OF_FIRST_ERRORS,
        lambda own: kappa_values(_presence(own)),
        lambda own: _sum(own[..., :-1]),
        ONE_VERDICT,
        NO_TRAJECTORIES,
    ),
    Figure(
        "first_error_agreement",
        translatable("First-error agreement"),
        translatable(
            "Of the trajectories in which both found an error, the share with the first one at the same "
            "step. Whole trajectories only."
        ),
        OF_FIRST_ERRORS,
        lambda own: divide(own[..., 2], _both_found_one(own)),
        _both_found_one,
        "",
        NO_SHARED_ERROR,
        percent=True,
    ),
    Figure(
        "onset_kappa",
        translatable("Onset κ"),
        translatable(
            "κ of “this step is the first error”, over the steps up to the first one that either found. "
            "Filled −1 labels cannot raise it. Whole trajectories only."
        ),
        OF_FIRST_ERRORS,
        lambda own: kappa_values(_onset(own)),
        lambda own: _onset(own).sum(axis=(-2, -1)),
        NO_ONSET,
        NO_TRAJECTORIES,
    ),
    Figure(
        "linear_kappa",
        translatable("κ, linear weights"),
        translatable("κ in which −1 against +1 counts twice as far as −1 against 0."),
        OF_TABLE,
        lambda own: kappa_values(_table(own), "linear"),
        _sum,
        ONE_LABEL,
        of_outcomes=True,
    ),
    Figure(
        "quadratic_kappa",
        translatable("κ, quadratic weights"),
        translatable("κ in which −1 against +1 counts four times as far as −1 against 0."),
        OF_TABLE,
        lambda own: kappa_values(_table(own), "quadratic"),
        _sum,
        ONE_LABEL,
        of_outcomes=True,
    ),
    Figure(
        "ordinal_alpha",
        translatable("Krippendorff’s α, ordinal"),
        translatable("α in which labels have an order, and differ by how many labels lie between them."),
        OF_UNITS,
        lambda own: alpha_values(_coincidences(own), "ordinal"),
        _units,
        ONE_LABEL,
        pooled=True,
        of_outcomes=True,
    ),
    Figure(
        "ac1",
        translatable("Gwet’s AC1"),
        translatable(
            "Agreement beyond chance, with a chance that stays small where one label prevails. K = 3 labels, "
            "used or not. Mean over pairs of annotators, weighted by n."
        ),
        OF_TABLE,
        lambda own: ac1_values(_table(own)),
        _sum,
        "",
        of_outcomes=True,
    ),
)
FIGURES: Final[dict[str, Figure]] = {figure.name: figure for figure in _ALL}
OUTCOME_FIGURES: Final[dict[str, Figure]] = {
    one.name: replace(one, empty=NO_OUTCOMES) for one in _ALL if one.of_outcomes
}
"""The figures of outcomes: none that needs a sequence of steps."""
