"""The outline of a release: its labels and how they were reached, without messages, kept after the first
use."""

import json
import zlib
from collections.abc import Iterator
from typing import Any

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.releases.details import DetailsOf, ReleasedDetails
from annotation.core.releases.diff import ComparedRelease
from annotation.core.releases.scored_questions import facts_of
from annotation.core.releases.statistics import ReleaseStatistics, release_statistics
from annotation.core.scoring import ReleasedLabels
from annotation.models import Release, ReleaseOutline
from annotation.policies import Actor, require

from .verify import bodies


def outline(release: Release) -> ComparedRelease:
    """The outline of a release: one query, once it is kept; the first time from all its records, in the
    memory of 100 of them and the outline itself. The caller has asked for permission. Raises Conflict on a
    damaged record, and for a format that is read no more."""
    kept = ReleaseOutline.objects.filter(release=release).values_list("labels", "details").first()
    if kept is not None and kept[1] is not None:
        details = ReleasedDetails.unpacked(bytes(kept[1]))
        labels = ReleasedLabels.unpacked(bytes(kept[0]))
        if details is not None and labels.complete:
            return ComparedRelease(labels, details)
    made = _made(release)
    row = ReleaseOutline(release=release, labels=made.labels.packed(), details=made.details.packed())
    # two may look at a new release at the same time: what they make is equal
    ReleaseOutline.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["release"], update_fields=["labels", "details"]
    )
    return made


def statistics(*, actor: Actor, release: Release) -> ReleaseStatistics:
    """The statistics of a release. One query and those of the permission, once its outline is kept. Raises
    Conflict on a damaged record."""
    require(actor, "release.view", release)
    kept = outline(release)
    return release_statistics(kept.labels, kept.details)


def _made(release: Release) -> ComparedRelease:
    release.parsed_manifest()
    details = DetailsOf()
    labels = ReleasedLabels.of(details.watched(_records(release)), facts_of)
    return ComparedRelease(labels, details.details)


def _records(release: Release) -> Iterator[dict[str, Any]]:
    for row, body in bodies(release):
        try:
            if body is None:
                raise ValueError
            yield json.loads(body)
        except (zlib.error, ValueError) as error:
            raise Conflict(
                translatable(
                    "Record {record_id} of this release is damaged; verify the release.",
                    record_id=row.record_id,
                ),
                code="damaged",
            ) from error
