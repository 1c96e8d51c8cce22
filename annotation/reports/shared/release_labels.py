"""The labels of a release as arrays, and the predictions that are stored for it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from annotation.core.baseline import training
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.releases.details import ReleasedDetails, answer_digest
from annotation.core.releases.scored_questions import facts_of
from annotation.core.scoring import Predictions, ReleasedLabels, blind, recalibration, stack
from annotation.models import PredictionSet, Release, ReleaseOutline, ReleaseRecord

RECORDS_AT_ONCE = 100
METHOD: Final = f"{recalibration.VERSION} {stack.VERSION} {training.METHOD} {blind.VERSION}"
"""Changes with every change of what comes out of a fit: what was kept before is fitted again."""


@dataclass(frozen=True, slots=True)
class ReleaseIndex:
    """The labels of a release; what is fitted on it, as it is stored (core.scoring.fitted), None as long as
    it is not; whether that is of the present method; the blind labellings (core.scoring.blind); whether all
    this comes from an outline that is `kept`; and the unlabelled part, None as long as it is not read."""

    released: ReleasedLabels
    baseline: bytes | memoryview | None = None
    stacked: bytes | memoryview | None = None
    fitted: bool = False
    blind: bytes | memoryview | None = None
    kept: bool = False
    unlabelled: ReleasedLabels | None = None


def released_labels(release: Release) -> ReleasedLabels:
    """The labels of a release, as `outline` has them."""
    return outline(release).released


def outline(release: Release) -> ReleaseIndex:
    """From the outline of a release in one query; without one from all its records, in the memory of 100.
    Raises Conflict on a damaged record, and for a format that is read no more."""
    release.parsed_manifest()
    kept = ReleaseOutline.objects.filter(release=release).first()
    kind = release.project.of_kind
    labels = None if kept is None else ReleasedLabels.unpacked(bytes(kept.labels))
    # an older version has kept less of decisions
    if labels is None or not labels.complete:
        labels = ReleasedLabels.of(records(release), facts_of)
    released = replace(labels, kind=kind)
    if kept is None:
        return ReleaseIndex(released)
    more = None if kept.unlabelled is None else unpacked_part(kept.unlabelled, released)
    if kept.method != METHOD:
        return ReleaseIndex(released, blind=kept.blind, kept=True, unlabelled=more)
    return ReleaseIndex(
        released,
        kept.baseline,
        kept.stacked,
        fitted=True,
        blind=kept.blind,
        kept=True,
        unlabelled=more,
    )


def unpacked_part(stored: bytes | memoryview, released: ReleasedLabels) -> ReleasedLabels:
    """The unlabelled part of a release as its outline keeps it; without a record where there is none."""
    if not stored:
        return released.only(np.zeros(released.n_records, dtype=bool))
    return replace(ReleasedLabels.unpacked(bytes(stored)), kind=released.kind)


def answers(release: Release) -> tuple[str, ...]:
    """The answer of each record (`ReleasedDetails.answers`): from the outline in one query; without its
    details from all records. Raises Conflict on a damaged record."""
    kept = ReleaseOutline.objects.filter(release=release).values_list("details", flat=True).first()
    details = None if kept is None else ReleasedDetails.unpacked(bytes(kept))
    if details is not None:
        return details.answers
    return tuple(answer_digest(record.get("answer_text")) for record in records(release))


def records(release: Release) -> Iterator[dict[str, Any]]:
    """The records of a release in order. Raises Conflict on a damaged one."""
    rows = ReleaseRecord.objects.filter(release=release).order_by("ordinal")
    for record_id, body in rows.values_list("record_id", "body").iterator(chunk_size=RECORDS_AT_ONCE):
        yield parsed_record(record_id, body)


def parsed_record(record_id: str, body: bytes | memoryview) -> dict[str, Any]:
    """A record of a release from its body. Raises Conflict on a damaged one."""
    try:
        record: dict[str, Any] = json.loads(zlib.decompress(bytes(body)))
    except (zlib.error, ValueError) as error:
        raise Conflict(
            translatable(
                "Record {record_id} of this release is damaged; verify the release.", record_id=record_id
            ),
            code="damaged",
        ) from error
    return record


def predictions(released: ReleasedLabels, rows: Sequence[PredictionSet]) -> list[Predictions]:
    """The predictions of these sets of the release."""
    return [Predictions.unpacked(bytes(row.labels), released) for row in rows]


def predictions_of_both(
    released: ReleasedLabels, more: ReleasedLabels, row: PredictionSet | None
) -> Predictions:
    """A set's predictions for a release and its unlabelled part; none without a set."""
    if row is None:
        return Predictions.none(released.joined(more))
    own = Predictions.unpacked(bytes(row.labels), released)
    stored = row.unlabelled
    return own.joined(Predictions.unpacked(bytes(stored), more) if stored else Predictions.none(more))
