"""Entries of a leaderboard: models, models derived from them, and baselines, with their predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from annotation.core.i18n import Translatable, translatable
from annotation.core.kinds import Feature
from annotation.core.scoring import Predictions, ReleasedLabels, without_reading
from annotation.core.scoring.blind import BlindLabellings
from annotation.core.scoring.decisions.facts import cue_title
from annotation.core.scoring.fitted import read
from annotation.core.scoring.labels import always_plus, majority
from annotation.core.scoring.pairs import shallow
from annotation.core.scoring.question_figures import question_facts
from annotation.core.scoring.scheme import as_pairs, has_pairs_beside, has_questions
from annotation.models import PredictionSet, Release

from ..shared.release_labels import ReleaseIndex, outline, predictions

ALWAYS_PLUS: Final = "always_plus_one"
MAJORITY: Final = "majority"
TRAINED: Final = "trained_baseline"
STACKED: Final = "stacked"
HUMAN: Final = "blind_human"
BY_OTHERS: Final = "blind_human_by_others"
BASELINES: Final[dict[str, Translatable]] = {
    ALWAYS_PLUS: translatable("Always +1"),
    MAJORITY: translatable("The commonest label"),
    TRAINED: translatable("The trained baseline"),
}
TITLES: Final[dict[str, Translatable]] = {
    **BASELINES,
    **without_reading.TITLES,
    STACKED: translatable("All models, stacked"),
    HUMAN: translatable("Blind human"),
    BY_OTHERS: translatable("Blind human, by others’ labels alone"),
}
"""The rows that are no models, by name, without the shallow cues of decisions."""


def title_of(name: str) -> str | Translatable:
    """The title of a row that is no model."""
    return TITLES.get(name) or cue_title(name)


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """One row of a leaderboard with its predictions, and the subsets (by place) that these are of; `row` is
    None for what is no model. `recalibrated`: the same model's predictions after recalibration, if there
    are."""

    name: str
    row: PredictionSet | None
    predicted: Predictions
    covered: frozenset[int]
    recalibrated: Predictions | None = None


@dataclass(frozen=True, slots=True)
class LeaderboardEntries:
    """`models` by name, then `others`: the stacked judge and the baselines, or shallow cues. `blind`: the
    blind labellings, None as long as nobody has looked for them. `pending`: something is still to be fitted.
    `unlabelled`: the unlabelled part, None likewise. `switches`: the release holds questions and pairs."""

    released: ReleasedLabels
    models: list[LeaderboardEntry]
    others: list[LeaderboardEntry]
    blind: BlindLabellings | None
    pending: bool
    unlabelled: ReleasedLabels | None = None
    switches: bool = False


def entries(release: Release, *, by_pairs: bool = False) -> LeaderboardEntries:
    """All entries of a release's leaderboard; of one that holds questions and pairs those about questions, or
    `by_pairs`. Two queries, however many models there are."""
    index = outline(release)
    switches = has_pairs_beside(index.released)
    if by_pairs and switches:
        index = replace(index, released=as_pairs(index.released))
    released = index.released
    rows = list(PredictionSet.objects.filter(release=release).select_related("created_by").order_by("model"))
    models = [
        LeaderboardEntry(
            row.model,
            row,
            labels,
            _covered(released, labels),
            read(row.recalibrated if index.fitted else None, released),
        )
        for row, labels in zip(rows, predictions(released, rows), strict=True)
    ]
    others = [
        LeaderboardEntry(name, None, labels, _covered(released, labels))
        for name, labels in _no_models(index).items()
        if labels is not None
    ]
    # what has neither predictions nor an outline is fitted by nobody
    pending = (index.kept or bool(rows)) and (
        None in (index.baseline, index.stacked, index.blind, index.unlabelled)
        or any(None in (row.recalibrated, row.powered) for row in rows)
    )
    # what an older method has packed reads otherwise
    known = index.fitted and index.blind is not None
    blind = BlindLabellings.unpacked(index.blind, released) if known else None
    return LeaderboardEntries(released, models, others, blind, pending, index.unlabelled, switches)


def _no_models(index: ReleaseIndex) -> Mapping[str, Predictions | None]:
    """Rows beside the models: for questions, answers that need no reading; for other decisions, those of a
    choice by shallow cues."""
    released = index.released
    if has_questions(released):
        return without_reading.beside(released, question_facts(released))
    if not released.kind.has(Feature.STEP_SCORES):
        return shallow(released)
    return {
        STACKED: read(index.stacked, released),
        ALWAYS_PLUS: always_plus(released),
        MAJORITY: majority(released),
        TRAINED: read(index.baseline, released),
    }


def _covered(released: ReleasedLabels, predicted: Predictions) -> frozenset[int]:
    return frozenset(released.subset[predicted.there].tolist())
