"""The trajectories of a project that a release holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.releases.frozen_content import same_content
from annotation.models import Release, ReleaseRecord, Trajectory, TrajectoryContent

from .release_labels import parsed_record

TRAJECTORIES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class FrozenTrajectories:
    """The trajectories of a release. `place`: the ordinal in the release by pk, of each trajectory with the
    record's content; one record may have several, of which one is `live`. `other`: live trajectories of a
    record's name with other content. Records without any are `changed` (there is such another one) or `gone`.
    """

    place: dict[int, int]
    live: frozenset[int]
    other: frozenset[int]
    changed: frozenset[int]
    gone: frozenset[int]


def of_release(release: Release) -> QuerySet[Trajectory]:
    """The trajectories, live or not, with the name of a record of a release."""
    named = ReleaseRecord.objects.filter(
        release=release, subset=OuterRef("subset__name"), record_id=OuterRef("record_id")
    )
    return Trajectory.objects.filter(Exists(named), project=release.project_id)


def frozen_trajectories(release: Release) -> FrozenTrajectories:
    """Find them. Two queries, and two for each hundred trajectories that may have another content than when
    the release was frozen: replaced ones, and those that came after it.

    A trajectory that was there before and is live now is the one that was frozen: content never changes, and
    what was replaced does not come back.
    """
    ordinals: dict[tuple[str, str], int] = {
        (subset, record_id): ordinal
        for subset, record_id, ordinal in ReleaseRecord.objects.filter(release=release).values_list(
            "subset", "record_id", "ordinal"
        )
    }
    place: dict[int, int] = {}
    live: set[int] = set()
    doubtful: dict[int, int] = {}
    rows = of_release(release).order_by("pk")
    for pk, subset, record_id, is_live, published in rows.values_list(
        "pk", "subset__name", "record_id", "live", "source__finished_at"
    ):
        known = is_live and published is not None and published < release.created_at
        (place if known else doubtful)[pk] = ordinals[subset, record_id]
        if is_live:
            live.add(pk)
    same = set(_same(release, doubtful))
    place |= {pk: ordinal for pk, ordinal in doubtful.items() if pk in same}
    trajectories = set(place.values())
    other = live - place.keys()
    changed = {doubtful[pk] for pk in other} - trajectories
    gone = set(ordinals.values()) - trajectories - changed
    return FrozenTrajectories(
        place, frozenset(live - other), frozenset(other), frozenset(changed), frozenset(gone)
    )


def _same(release: Release, doubtful: dict[int, int]) -> Iterator[int]:
    """The trajectories whose content is that of their record. Raises Conflict on a damaged one."""
    pks = sorted(doubtful)
    for at in range(0, len(pks), TRAJECTORIES_AT_ONCE):
        part = pks[at : at + TRAJECTORIES_AT_ONCE]
        rows = ReleaseRecord.objects.filter(release=release, ordinal__in={doubtful[pk] for pk in part})
        records = {row.ordinal: row for row in rows.only("ordinal", "record_id", "body")}
        for content in TrajectoryContent.objects.filter(trajectory__in=part).only("content"):
            row = records[doubtful[content.pk]]
            if same_content(parsed_record(row.record_id, row.body), content.parsed()):
                yield content.pk
