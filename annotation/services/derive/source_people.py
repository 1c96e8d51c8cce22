"""People who know what became of a trajectory, so that they verify no decision that is derived from it."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from annotation.core.text import escape
from annotation.core.vocabulary import SEEN_LABELS, ExposureKind
from annotation.models import (
    Adjudication,
    Assignment,
    AuditedTrajectory,
    AuditRuling,
    Comment,
    Correction,
    Exposure,
    ImportFile,
    Trajectory,
    User,
)

from .. import exposures

LOOKED_UP_AT_ONCE = 500

SourceAddress = tuple[str, str]
"""A trajectory by its subset and its record id, as a release names it."""


def people_who_know(project: int, sources: Collection[SourceAddress]) -> dict[SourceAddress, set[int]]:
    """By trajectory the people (by pk) who had it to label, discussed it, decided something in it, corrected
    it, or saw the labels or the consensus of it. Eight queries for every 500 trajectories."""
    people: dict[SourceAddress, set[int]] = {source: set() for source in sources}
    ordered = sorted(people)
    for at in range(0, len(ordered), LOOKED_UP_AT_ONCE):
        _look_up(project, ordered[at : at + LOOKED_UP_AT_ONCE], people)
    return people


def _look_up(project: int, part: list[SourceAddress], people: dict[SourceAddress, set[int]]) -> None:
    names = {(escape(subset), escape(record)): (subset, record) for subset, record in part}
    rows = Trajectory.objects.filter(
        project=project, live=True, record_id__in={record for _, record in names}
    ).values_list("pk", "subset__name", "record_id")
    pks = {pk: names[subset, record] for pk, subset, record in rows.order_by() if (subset, record) in names}
    of_it = {"trajectory__in": list(pks)}
    seen = Exposure.objects.filter(**of_it, kind__in=SEEN_LABELS)
    for pairs in (
        Assignment.stored.filter(**of_it).values_list("trajectory", "annotator"),
        Adjudication.objects.filter(**of_it).values_list("trajectory", "adjudicator"),
        Comment.objects.filter(discussion__trajectory__in=list(pks)).values_list(
            "discussion__trajectory", "author"
        ),
        AuditedTrajectory.objects.filter(**of_it, adjudicator__isnull=False).values_list(
            "trajectory", "adjudicator"
        ),
        AuditRuling.objects.filter(audited__trajectory__in=list(pks)).values_list(
            "audited__trajectory", "ruled_by"
        ),
        Correction.objects.filter(**of_it, author__isnull=False).values_list("trajectory", "author"),
        seen.values_list("trajectory", "user"),
    ):
        for trajectory, person in pairs.order_by().distinct():
            people[pks[trajectory]].add(person)


def expose_to_source(source: ImportFile, known_by: Mapping[str, Collection[int]]) -> None:
    """Note of these people that they know the source of decisions, which are named by record id: those of an
    import, and those that were there before. Two queries, and two for each person."""
    rows = Trajectory.objects.filter(subset=source.target.pk, record_id__in=known_by)
    of_import = rows.filter(source=source) | rows.filter(live=True)
    items: dict[int, list[int]] = defaultdict(list)
    for pk, record in of_import.order_by().values_list("pk", "record_id"):
        for person in known_by[record]:
            items[person].append(pk)
    for person, user in User.objects.in_bulk(list(items)).items():
        exposures.expose_all(user=user, trajectories=items[person], kind=ExposureKind.SOURCE)
