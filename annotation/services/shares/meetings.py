"""Meetings of two people, who have a trajectory in common: counted where slots are taken and given up, so
that a claim need not look at all that both have labelled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import combinations, product

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When
from django.db.models.functions import Greatest

from annotation.models import ACTIVE_STATES, Assignment, Meeting, Membership
from annotation.models.prepared import Prepared

Pair = tuple[int, int]


def count(project_id: int, changes: Mapping[Pair, int]) -> None:
    """Add these numbers to how often pairs of people (in either order) have met; none sinks below 0. Rows are
    locked in one order, after trajectories and before memberships. Two statements for each number, none
    without a change."""
    ordered: Counter[Pair] = Counter()
    for (one, other), change in changes.items():
        ordered[min(one, other), max(one, other)] += change
    # nobody meets themselves: whoever takes up what they have already is refused only afterwards
    wanted = {pair: change for pair, change in ordered.items() if change and pair[0] != pair[1]}
    if not wanted:
        return
    counts = _locked(project_id, wanted)
    if new := sorted(wanted.keys() - counts.keys()):
        rows = [Meeting(project_id=project_id, first_id=one, second_id=other, number=0) for one, other in new]
        Meeting.objects.bulk_create(rows, ignore_conflicts=True)
        counts = _locked(project_id, wanted)
    by_change: dict[int, list[int]] = defaultdict(list)
    for pair, change in wanted.items():
        by_change[change].append(counts[pair])
    for change, pks in sorted(by_change.items()):
        Meeting.objects.filter(pk__in=pks).update(number=Greatest(F("number") + change, 0))


def _locked(project_id: int, pairs: Collection[Pair]) -> dict[Pair, int]:
    """The rows of these pairs, by their keys."""
    firsts, seconds = zip(*pairs, strict=True)
    return {
        (one, other): pk for pk, one, other in _of_pairs(project=project_id, first=firsts, second=seconds)
    }


def _rows_of_pairs(
    project: int, first: Collection[int], second: Collection[int]
) -> QuerySet[Meeting, tuple[int, int, int]]:
    pairs = zip(first, second, strict=True)
    asked = Q(*(Q(first=one, second=other) for one, other in pairs), _connector=Q.OR)
    rows = Meeting.objects.filter(asked, project=project).order_by("pk").select_for_update(no_key=True)
    return rows.values_list("pk", "first", "second")


_of_pairs = Prepared(_rows_of_pairs, "project", "first", "second")


def joined(project_id: int, annotator: int, trajectories: Collection[int]) -> None:
    """Somebody is about to have these trajectories, beside whoever has them."""
    there = holders(trajectories)
    count(project_id, Counter((annotator, person) for people in there.values() for person in people))


def left(gone: Iterable[tuple[int, int, int]]) -> None:
    """People (project, trajectory, person) have trajectories no more, and all that says so is written."""
    by_trajectory: dict[tuple[int, int], list[int]] = defaultdict(list)
    for project, trajectory, person in gone:
        by_trajectory[project, trajectory].append(person)
    there = holders([trajectory for _project, trajectory in by_trajectory])
    changes: dict[int, Counter[Pair]] = defaultdict(Counter)
    for (project, trajectory), people in by_trajectory.items():
        changes[project].subtract(combinations(people, 2))
        changes[project].subtract(product(people, there.get(trajectory, ())))
    for project, pairs in sorted(changes.items()):
        count(project, pairs)


def met(project_id: int, person: int) -> dict[int, int]:
    """The number of meetings of a person with each other one who labels here still. One query."""
    return dict(_met(project=project_id, person=person))


def _met_by(project: int, person: int) -> QuerySet[Meeting, tuple[int, int]]:
    rows = Meeting.objects.filter(Q(first=person) | Q(second=person), project=project)
    rows = rows.annotate(other=Case(When(first=person, then="second"), default="first"))
    here = _labelling(project).filter(user=OuterRef("other"))
    return rows.filter(Exists(here)).values_list("other", "number")


_met = Prepared(_met_by, "project", "person")


def others(project_id: int, person: int) -> int:
    """The number of others who label here and have had anything. One query."""
    had = Assignment.objects.filter(project=project_id, annotator=OuterRef("user"))
    return _labelling(project_id).filter(Exists(had)).exclude(user=person).count()


def _labelling(project_id: int) -> QuerySet[Membership]:
    return Membership.objects.filter(project=project_id, is_annotator=True, user__is_active=True)


def holders(trajectories: Collection[int]) -> dict[int, list[int]]:
    """By trajectory the people who have it, open or submitted; without those that nobody has. One query."""
    there: dict[int, list[int]] = defaultdict(list)
    for trajectory, person, _slot in active(trajectories=trajectories):
        there[trajectory].append(person)
    return there


def _active(trajectories: Collection[int]) -> QuerySet[Assignment, tuple[int, int, int | None]]:
    rows = Assignment.objects.filter(trajectory__in=trajectories, state__in=ACTIVE_STATES).order_by()
    return rows.values_list("trajectory", "annotator", "slot")


active = Prepared(_active, "trajectories")
"""The people who have these trajectories, open or submitted, with the slots."""
