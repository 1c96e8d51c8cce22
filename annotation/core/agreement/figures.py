"""What the figures of agreement are: their names, titles and conventions, and how counts make them.

`FIGURES` is the one list of them, in the order in which pages and documents give them. A figure of pairs is
the mean over the pairs of annotators, weighted by each pair's n, without the pairs that leave it undefined; a
pooled figure comes from the sum over all pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from annotation.core.agreement.alpha import alpha_values
from annotation.core.agreement.confusion import SIZE, error_tables
from annotation.core.agreement.counts import (
    COINCIDENCES,
    FIRST_ERRORS,
    STEPS_BEFORE,
    TABLE,
    TRANSITIONS,
    UNITS,
)
from annotation.core.agreement.firsterror import onset_tables, presence_tables
from annotation.core.agreement.kappa import ac1_values, agreement_values, kappa_values
from annotation.core.agreement.measure import (
    NO_PAIRS,
    NO_SHARED_ERROR,
    NO_TRAJECTORIES,
    ONE_LABEL,
    ONE_VERDICT,
    FloatArray,
    divide,
)
from annotation.core.agreement.transition import STRATA, transition_values
from annotation.core.i18n import Translatable, translatable

NO_ERROR: Final = translatable("both annotators always, or never, called a step an error")
NO_OUTCOMES: Final = translatable("there are no outcomes that two annotators labelled")
NO_ONSET: Final = translatable("every step, or none, is the first error for both annotators")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: how sums of counts (…, columns) make its values and its n, both (…), and its words.

    `reason`: why it is undefined although n is not 0; `empty`: why, when n is 0. `headline`: shown first, the
    others beside it. `of_outcomes`: outcomes have it too. `percent`: a share, shown in percent.
    """

    name: str
    title: Translatable
    convention: Translatable
    values: Callable[[FloatArray], FloatArray]
    n: Callable[[FloatArray], FloatArray]
    reason: str
    empty: str = NO_PAIRS
    headline: bool = False
    pooled: bool = False
    of_outcomes: bool = False
    percent: bool = False


def tables(sums: FloatArray) -> FloatArray:
    """Sums (…, columns) → the confusion of `first` (rows) and `second`, (…, 3, 3)."""
    return sums[..., TABLE].reshape(*sums.shape[:-1], SIZE, SIZE)


def coincidences(sums: FloatArray) -> FloatArray:
    """Sums (…, columns) → coincidences for α, (…, 3, 3)."""
    result = np.empty((*sums.shape[:-1], SIZE, SIZE))
    a, b = np.triu_indices(SIZE)
    result[..., a, b] = result[..., b, a] = sums[..., COINCIDENCES]
    result[..., np.arange(SIZE), np.arange(SIZE)] *= 2
    return result


def _steps(sums: FloatArray) -> FloatArray:
    total: FloatArray = sums[..., TABLE].sum(axis=-1)
    return total


def _units(sums: FloatArray) -> FloatArray:
    return np.round(sums[..., UNITS])


def _presence(sums: FloatArray) -> FloatArray:
    return presence_tables(sums[..., FIRST_ERRORS])


def _onset(sums: FloatArray) -> FloatArray:
    return onset_tables(sums[..., FIRST_ERRORS], sums[..., STEPS_BEFORE])


def _transitions(sums: FloatArray) -> FloatArray:
    return sums[..., TRANSITIONS].reshape(*sums.shape[:-1], STRATA, SIZE, SIZE)


def _both_found_one(sums: FloatArray) -> FloatArray:
    return _presence(sums)[..., 0, 0]


_ALL: Final = (
    Figure(
        "percent_agreement",
        translatable("Percent agreement"),
        translatable("Share of pairs of labels that are equal. Not corrected for chance."),
        lambda s: agreement_values(tables(s)),
        _steps,
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
        lambda s: kappa_values(tables(s)),
        _steps,
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
        lambda s: transition_values(_transitions(s)),
        lambda s: s[..., TRANSITIONS].sum(axis=-1),
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
        lambda s: alpha_values(coincidences(s)),
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
        lambda s: kappa_values(error_tables(tables(s))),
        _steps,
        NO_ERROR,
        of_outcomes=True,
    ),
    Figure(
        "error_presence_kappa",
        translatable("Error presence κ"),
        translatable("κ of whether a trajectory has a −1 at all. Whole trajectories only."),
        lambda s: kappa_values(_presence(s)),
        lambda s: s[..., FIRST_ERRORS].sum(axis=-1),
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
        lambda s: divide(s[..., FIRST_ERRORS][..., 2], _both_found_one(s)),
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
        lambda s: kappa_values(_onset(s)),
        lambda s: _onset(s).sum(axis=(-2, -1)),
        NO_ONSET,
        NO_TRAJECTORIES,
    ),
    Figure(
        "linear_kappa",
        translatable("κ, linear weights"),
        translatable("κ in which −1 against +1 counts twice as far as −1 against 0."),
        lambda s: kappa_values(tables(s), "linear"),
        _steps,
        ONE_LABEL,
        of_outcomes=True,
    ),
    Figure(
        "quadratic_kappa",
        translatable("κ, quadratic weights"),
        translatable("κ in which −1 against +1 counts four times as far as −1 against 0."),
        lambda s: kappa_values(tables(s), "quadratic"),
        _steps,
        ONE_LABEL,
        of_outcomes=True,
    ),
    Figure(
        "ordinal_alpha",
        translatable("Krippendorff’s α, ordinal"),
        translatable("α in which labels have an order, and differ by how many labels lie between them."),
        lambda s: alpha_values(coincidences(s), "ordinal"),
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
        lambda s: ac1_values(tables(s)),
        _steps,
        "",
        of_outcomes=True,
    ),
)
FIGURES: Final[dict[str, Figure]] = {figure.name: figure for figure in _ALL}
OUTCOME_FIGURES: Final[dict[str, Figure]] = {
    one.name: replace(one, empty=NO_OUTCOMES) for one in _ALL if one.of_outcomes
}
"""What outcomes have: nothing that needs a sequence of steps."""
