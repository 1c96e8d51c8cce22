"""The labels of a release as arrays, and the predictions that are stored for it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.models import PredictionSet, Release, ReleaseOutline, ReleaseRecord

CHUNK = 100


def released_labels(release: Release) -> ReleasedLabels:
    """The labels of a release: from its outline in one query; without one from all its records, in the memory
    of 100. Raises Conflict on a damaged record."""
    packed = ReleaseOutline.objects.filter(release=release).values_list("labels", flat=True).first()
    if packed is not None:
        return ReleasedLabels.unpacked(bytes(packed))
    return ReleasedLabels.of(_records(release))


def _records(release: Release) -> Iterator[dict[str, Any]]:
    rows = ReleaseRecord.objects.filter(release=release).order_by("ordinal")
    for record_id, body in rows.values_list("record_id", "body").iterator(chunk_size=CHUNK):
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
    """What these prediction sets of the release say."""
    return [Predictions.unpacked(bytes(row.labels), released) for row in rows]
