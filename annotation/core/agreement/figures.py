"""The figures of agreement: their names, titles, conventions, and computation from counts.

`FIGURES` is the one list of them, in the order in which pages and documents give them; `pair_sums` says how
they are made of several pairs of annotators.
"""

from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from annotation.core.agreement.alpha import Scale, alpha_values
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
from annotation.core.figures.figure import Figure, Sums, by_name
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
from annotation.core.kinds import Feature

NO_ERROR: Final = translatable("both annotators always, or never, called a step an error")
NO_OUTCOMES: Final = translatable("there are no outcomes that two annotators labelled")
NO_ONSET: Final = translatable("every step, or none, is the first error for both annotators")

COINCIDENCES_AND_UNITS: Final = slice(COINCIDENCES.start, UNITS + 1)
FIRST_ERRORS_AND_BEFORE: Final = slice(FIRST_ERRORS.start, STEPS_BEFORE + 1)


def tables(sums: FloatArray) -> FloatArray:
    """Sums (…, columns) → the confusion of `first` (rows) and `second`, (…, 3, 3)."""
    return sums[..., TABLE].reshape(*sums.shape[:-1], SIZE, SIZE)


def _coincidences(own: FloatArray) -> FloatArray:
    """Coincidences for α, (…, 3, 3)."""
    result = np.empty((*own.shape[:-1], SIZE, SIZE), order="F")
    for column, (a, b) in enumerate(zip(*np.triu_indices(SIZE), strict=True)):
        result[..., a, b] = result[..., b, a] = own[..., column] * (2 if a == b else 1)
    return result


def _sum(own: FloatArray) -> FloatArray:
    total: FloatArray = own.sum(axis=-1)
    return total


def _presence(own: FloatArray) -> FloatArray:
    return presence_tables(own[..., :-1])


def _onset(own: FloatArray) -> FloatArray:
    return onset_tables(own[..., :-1], own[..., -1])


def _both_found_one(own: FloatArray) -> FloatArray:
    return _presence(own)[..., 0, 0]


def _of_tables(
    name: str,
    title: Translatable,
    convention: Translatable,
    make: Sums,
    reason: str = "",
    *,
    headline: bool = False,
    percent: bool = False,
) -> Figure:
    """A figure of the confusions, (…, 3, 3), of steps or outcomes."""
    return Figure(
        name,
        title,
        convention,
        lambda own: make(tables(own)),
        _sum,
        reason,
        NO_PAIRS,
        TABLE,
        of_outcomes=True,
        headline=headline,
        percent=percent,
    )


def _of_units(
    name: str, title: Translatable, convention: Translatable, scale: Scale, *, headline: bool = False
) -> Figure:
    """Krippendorff's α, of steps or outcomes with all their labels."""
    return Figure(
        name,
        title,
        convention,
        lambda own: alpha_values(_coincidences(own), scale),
        lambda own: np.round(own[..., -1]),
        ONE_LABEL,
        NO_PAIRS,
        COINCIDENCES_AND_UNITS,
        pooled=True,
        of_outcomes=True,
        headline=headline,
    )


FIGURES: Final = by_name(
    _of_tables(
        "percent_agreement",
        translatable("Percent agreement"),
        translatable("Share of pairs of labels that are equal. Not corrected for chance."),
        agreement_values,
        headline=True,
        percent=True,
    ),
    _of_tables(
        "kappa",
        translatable("Cohen’s κ"),
        translatable(
            "Agreement of two annotators beyond what the shares of their labels give by chance: 0 is chance, "
            "1 is perfect. Mean over pairs of annotators, weighted by n; pairs for which it is undefined are "
            "left out. The mean falls with the number of annotators at equal quality: with more than two, "
            "read Krippendorff’s α."
        ),
        kappa_values,
        ONE_LABEL,
        headline=True,
    ),
    Figure(
        "transition_kappa",
        translatable("Transition κ"),
        translatable(
            "κ of where labels go next: over first steps, and steps whose previous step both labelled alike, "
            "with chance worked out apart by that previous label. Filled labels do not raise it."
        ),
        lambda own: transition_values(own.reshape(*own.shape[:-1], STRATA, SIZE, SIZE)),
        _sum,
        ONE_LABEL,
        NO_PAIRS,
        TRANSITIONS,
        headline=True,
        needs=Feature.SEQUENCE,
    ),
    _of_units(
        "alpha",
        translatable("Krippendorff’s α"),
        translatable(
            "Agreement beyond chance of any number of annotators, over everything that two or more labelled; "
            "chance comes from all their labels together. Nominal: all differences count alike."
        ),
        "nominal",
        headline=True,
    ),
    _of_tables(
        "error_kappa",
        translatable("Error κ"),
        translatable("κ of −1 against 0 and +1 taken together."),
        lambda table: kappa_values(error_tables(table)),
        NO_ERROR,
    ),
    Figure(
        "error_presence_kappa",
        translatable("Error presence κ"),
        translatable("κ of whether a trajectory has a −1 at all. Whole trajectories only."),
        lambda own: kappa_values(_presence(own)),
        lambda own: _sum(own[..., :-1]),
        ONE_VERDICT,
        NO_TRAJECTORIES,
        FIRST_ERRORS_AND_BEFORE,
        needs=Feature.SEQUENCE,
    ),
    Figure(
        "first_error_agreement",
        translatable("First-error agreement"),
        translatable(
            "Of the trajectories in which both found an error, the share with the first one at the same "
            "step. Whole trajectories only."
        ),
        lambda own: divide(own[..., 2], _both_found_one(own)),
        _both_found_one,
        "",
        NO_SHARED_ERROR,
        FIRST_ERRORS_AND_BEFORE,
        percent=True,
        needs=Feature.SEQUENCE,
    ),
    Figure(
        "onset_kappa",
        translatable("Onset κ"),
        translatable(
            "κ of “this step is the first error”, over the steps up to the first one that either found. "
            "Filled −1 labels cannot raise it. Whole trajectories only."
        ),
        lambda own: kappa_values(_onset(own)),
        lambda own: _onset(own).sum(axis=(-2, -1)),
        NO_ONSET,
        NO_TRAJECTORIES,
        FIRST_ERRORS_AND_BEFORE,
        needs=Feature.SEQUENCE,
    ),
    _of_tables(
        "linear_kappa",
        translatable("κ, linear weights"),
        translatable("κ in which −1 against +1 counts twice as far as −1 against 0."),
        partial(kappa_values, weights="linear"),
        ONE_LABEL,
    ),
    _of_tables(
        "quadratic_kappa",
        translatable("κ, quadratic weights"),
        translatable("κ in which −1 against +1 counts four times as far as −1 against 0."),
        partial(kappa_values, weights="quadratic"),
        ONE_LABEL,
    ),
    _of_units(
        "ordinal_alpha",
        translatable("Krippendorff’s α, ordinal"),
        translatable("α in which labels have an order, and differ by how many labels lie between them."),
        "ordinal",
    ),
    _of_tables(
        "ac1",
        translatable("Gwet’s AC1"),
        translatable(
            "Agreement beyond chance, with a chance that stays small where one label prevails. K = 3 labels, "
            "used or not. Mean over pairs of annotators, weighted by n."
        ),
        ac1_values,
    ),
)
OUTCOME_FIGURES: Final = by_name(
    *(replace(figure, empty=NO_OUTCOMES) for figure in FIGURES.values() if figure.of_outcomes)
)
"""The figures of outcomes: none that needs a sequence of steps."""
