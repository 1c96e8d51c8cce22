"""The figures of models and of judges: names, titles, conventions, and computation from sums of counts.

`FIGURES` is the one list of a model's on a release, `JUDGE_FIGURES` of a judge's against people, in the order
in which pages and documents give them. StepAcc and FirstErrAcc are those of AgentProcessBench (arXiv
2603.14465).
"""

from dataclasses import replace
from typing import Final

import numpy as np

from annotation.core.figures.figure import Figure, Sums, by_name
from annotation.core.figures.first_errors import onset_tables
from annotation.core.figures.kappa import Weights, agreement_values, kappa_values
from annotation.core.figures.measure import NO_PAIRS, FloatArray, divide
from annotation.core.i18n import Translatable, translatable
from annotation.core.kinds import Feature
from annotation.core.scoring.counts import (
    ERRONEOUS,
    ERROR_FREE,
    EXACT,
    FIRST_ERRORS,
    OUTCOMES,
    RIGHT,
    STEPS_BEFORE,
    STRICT,
    TABLE,
    tables,
)
from annotation.core.vocabulary import SIGNS, VALUE_NAMES, VALUES

NO_STEPS: Final = translatable("there are no steps")
NO_TRAJECTORIES: Final = translatable("there are no trajectories")
NO_ERRONEOUS: Final = translatable("no trajectory of the release has an error")
NO_ERROR_FREE: Final = translatable("every trajectory of the release has an error")
NOTHING_PREDICTED: Final = translatable("nothing was predicted")
ONE_LABEL: Final = translatable("release and model use one label only")
NO_ONSET: Final = translatable("every step, or none, is the first error in release and model")
NEVER_PREDICTED: Final = translatable("the model predicts this label for no step")
NEVER_THERE: Final = translatable("no step of the release has this label")
NO_LABELS: Final = translatable("there are no steps that people have labelled")
ONE_LABEL_JUDGE: Final = translatable("people and judge used one label only")


def _total(part: slice) -> Sums:
    return lambda s: s[..., part].sum(axis=-1)


def _right(part: slice) -> Sums:
    return lambda s: np.trace(tables(s, part), axis1=-2, axis2=-1)


def _share(
    name: str,
    title: Translatable,
    convention: Translatable,
    right: Sums,
    n: Sums,
    empty: str = NO_TRAJECTORIES,
    needs: Feature | None = None,
) -> Figure:
    values: Sums = lambda s: divide(right(s), n(s))  # noqa: E731
    return Figure(name, title, convention, values, n, "", empty, percent=True, needs=needs)


def _kappa(weights: Weights) -> Sums:
    return lambda s: kappa_values(tables(s)[..., :3], weights)


def _answered(s: FloatArray) -> FloatArray:
    total: FloatArray = tables(s)[..., :3].sum(axis=(-2, -1))
    return total


def _onset(s: FloatArray) -> FloatArray:
    return onset_tables(s[..., FIRST_ERRORS], s[..., STEPS_BEFORE])


def _class_f1(s: FloatArray) -> FloatArray:
    """F1 by class, (…, 3): NaN for a class that neither release nor model uses."""
    table = tables(s)
    hits = np.stack([table[..., code, code] for code in range(3)], axis=-1)
    return divide(2 * hits, table.sum(axis=-1) + table[..., :3].sum(axis=-2))


def _macro_f1(s: FloatArray) -> FloatArray:
    values = _class_f1(s)
    used = ~np.isnan(values)
    return divide(np.where(used, values, 0.0).sum(axis=-1), used.sum(axis=-1))


def _binary_right(s: FloatArray) -> FloatArray:
    """Right successes, and what is neither a success nor said to be one; the last column is a missing one."""
    table = tables(s, OUTCOMES)
    right: FloatArray = (
        table[..., 2, 2] + table[..., :2, :2].sum(axis=(-2, -1)) + table[..., :2, 3].sum(axis=-1)
    )
    return right


def _binary_right_strict(s: FloatArray) -> FloatArray:
    right: FloatArray = _binary_right(s) - tables(s, OUTCOMES)[..., :2, 3].sum(axis=-1)
    return right


def _trajectories(s: FloatArray) -> FloatArray:
    total: FloatArray = s[..., ERRONEOUS] + s[..., ERROR_FREE]
    return total


_ALL: Final = (
    _share(
        "step_accuracy",
        translatable("StepAcc"),
        translatable("Share of all steps whose label is right. A step without a prediction is wrong."),
        _right(TABLE),
        _total(TABLE),
        NO_STEPS,
    ),
    _share(
        "first_error_accuracy",
        translatable("FirstErrAcc"),
        translatable(
            "Share of trajectories whose first −1 is at the right step, “none” equal to “none”. As "
            "published, a failed prediction counts as “none”."
        ),
        lambda s: s[..., RIGHT].sum(axis=-1),
        _trajectories,
        needs=Feature.SEQUENCE,
    ),
    _share(
        "strict_first_error_accuracy",
        translatable("FirstErrAcc, strict"),
        translatable("FirstErrAcc in which a trajectory without a single prediction earns nothing."),
        lambda s: s[..., STRICT].sum(axis=-1),
        _trajectories,
        needs=Feature.SEQUENCE,
    ),
    _share(
        "first_error_accuracy_erroneous",
        translatable("FirstErrAcc, erroneous"),
        translatable("FirstErrAcc over the trajectories with an error."),
        lambda s: s[..., RIGHT.start],
        lambda s: s[..., ERRONEOUS],
        NO_ERRONEOUS,
        Feature.SEQUENCE,
    ),
    _share(
        "first_error_accuracy_error_free",
        translatable("FirstErrAcc, error-free"),
        translatable("FirstErrAcc over the trajectories without an error."),
        lambda s: s[..., RIGHT.start + 1],
        lambda s: s[..., ERROR_FREE],
        NO_ERROR_FREE,
        Feature.SEQUENCE,
    ),
    _share(
        "strict_first_error_accuracy_error_free",
        translatable("FirstErrAcc, error-free, strict"),
        translatable("The same, where a trajectory without a single prediction earns nothing."),
        lambda s: s[..., STRICT.start + 1],
        lambda s: s[..., ERROR_FREE],
        NO_ERROR_FREE,
        Feature.SEQUENCE,
    ),
    _share(
        "exact_match",
        translatable("Exact match"),
        translatable("Share of trajectories all of whose steps are right. The outcome is scored apart."),
        lambda s: s[..., EXACT],
        _trajectories,
    ),
    Figure(
        "macro_f1",
        translatable("Macro F1"),
        translatable(
            "Mean of the F1 of the labels that release or model use; a missing prediction is a miss."
        ),
        _macro_f1,
        _total(TABLE),
        "",
        NO_STEPS,
        percent=True,
    ),
    Figure(
        "kappa",
        translatable("Cohen’s κ"),
        translatable("Agreement with the consensus beyond chance, over the steps that have a prediction."),
        _kappa("plain"),
        _answered,
        ONE_LABEL,
        NOTHING_PREDICTED,
    ),
    Figure(
        "quadratic_kappa",
        translatable("κ, quadratic weights"),
        translatable("κ in which −1 against +1 counts four times as far as −1 against 0."),
        _kappa("quadratic"),
        _answered,
        ONE_LABEL,
        NOTHING_PREDICTED,
    ),
    Figure(
        "onset_kappa",
        translatable("Onset κ"),
        translatable(
            "κ of “this step is the first error”, over the steps up to the first that release or model has. "
            "Completely predicted trajectories only."
        ),
        lambda s: kappa_values(_onset(s)),
        lambda s: _onset(s).sum(axis=(-2, -1)),
        NO_ONSET,
        NOTHING_PREDICTED,
        needs=Feature.SEQUENCE,
    ),
    _share(
        "outcome_accuracy",
        translatable("Outcome accuracy"),
        translatable("Share of outcomes that are right, of three values. A missing one is wrong."),
        _right(OUTCOMES),
        _total(OUTCOMES),
    ),
    _share(
        "binary_outcome_accuracy",
        translatable("Outcome accuracy, binary"),
        translatable(
            "Share of outcomes that are right as success (+1) or not (0, −1). As published, a missing one is "
            "“no success”."
        ),
        _binary_right,
        _total(OUTCOMES),
    ),
    _share(
        "strict_binary_outcome_accuracy",
        translatable("Outcome accuracy, binary, strict"),
        translatable("Outcome accuracy, binary, in which a missing outcome is wrong."),
        _binary_right_strict,
        _total(OUTCOMES),
    ),
)


def _of_class(code: int, value: int) -> tuple[Figure, Figure, Figure]:
    name, sign = VALUE_NAMES[value], SIGNS[value]

    def hits(s: FloatArray) -> FloatArray:
        return tables(s)[..., code, code]

    def predicted(s: FloatArray) -> FloatArray:
        total: FloatArray = tables(s)[..., code].sum(axis=-1)
        return total

    def there(s: FloatArray) -> FloatArray:
        total: FloatArray = tables(s)[..., code, :].sum(axis=-1)
        return total

    return (
        _share(
            f"precision_{name}",
            translatable("Precision of {sign}", sign=sign),
            translatable(
                "Of the steps to which the model gives this label, the share that has it in the release."
            ),
            hits,
            predicted,
            NEVER_PREDICTED,
        ),
        _share(
            f"recall_{name}",
            translatable("Recall of {sign}", sign=sign),
            translatable(
                "Of the steps that have this label in the release, the share to which the model gives it."
            ),
            hits,
            there,
            NEVER_THERE,
        ),
        Figure(
            f"f1_{name}",
            translatable("F1 score of {sign}", sign=sign),
            translatable("The harmonic mean of precision and recall."),
            lambda s: _class_f1(s)[..., code],
            lambda s: predicted(s) + there(s),
            "",
            NEVER_THERE,
            percent=True,
        ),
    )


FIGURES: Final = by_name(
    *_ALL, *(figure for code, value in enumerate(VALUES) for figure in _of_class(code, value))
)
RANKED: Final = (
    "step_accuracy",
    "strict_first_error_accuracy",
    "first_error_accuracy",
    "macro_f1",
    "kappa",
    "onset_kappa",
)
"""The figures by which models are compared and ranked."""

JUDGE_FIGURES: Final = by_name(
    replace(FIGURES["step_accuracy"], empty=NO_LABELS),
    Figure(
        "percent_agreement",
        translatable("Percent agreement"),
        translatable("Share of pairs of labels that are equal. Not corrected for chance."),
        lambda s: agreement_values(tables(s)[..., :3]),
        _answered,
        "",
        NO_PAIRS,
        percent=True,
    ),
    replace(FIGURES["kappa"], reason=ONE_LABEL_JUDGE, empty=NO_PAIRS),
    replace(FIGURES["quadratic_kappa"], reason=ONE_LABEL_JUDGE, empty=NO_PAIRS),
    replace(FIGURES["first_error_accuracy"], empty=NO_LABELS),
    replace(FIGURES["strict_first_error_accuracy"], empty=NO_LABELS),
)
