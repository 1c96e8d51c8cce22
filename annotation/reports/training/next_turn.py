"""Turns before the queue of a project: the tutorial, a test."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.core.vocabulary import AttemptState, RecheckKind, RecheckState
from annotation.models import Membership, ProficiencyTest, Recheck, TutorialItem, User

Closed = Mapping[int, Mapping[int, int]]
"""Project → the subsets that are closed to somebody, each with the test that opens it."""


@dataclass(frozen=True, slots=True)
class NextTurn:
    """`kind` "tutorial": the next item is number `at` of `total`; "test": so is that of the running attempt
    at test `test`; "open": that test opens a subset, and is not passed."""

    kind: str
    at: int = 0
    total: int = 0
    test: int = 0


def next_turns(user: User, memberships: Iterable[Membership], closed: Closed) -> dict[int, NextTurn]:
    """The turn before the queue of each project, by its pk, for these memberships of a person; none where the
    queue is open. `closed`: the subsets that are closed to them (`policies.qualifying.closed_subsets`). At
    most four queries."""
    rows = [row for row in memberships if row.is_annotator]
    tests = _tests(user, {row.project_id for row in rows}, closed)
    return tests | _tutorials(user, {row.project_id for row in rows if row.tutorial_done_at is None})


def _tutorials(user: User, behind: Collection[int]) -> dict[int, NextTurn]:
    items = TutorialItem.objects.filter(Q(trajectory__training=True), project__in=behind).order_by()
    totals = dict(items.values_list("project").annotate(n=Count("pk")))
    if not totals:
        return {}
    done = Recheck.objects.filter(
        annotator=user,
        project__in=totals,
        kind=RecheckKind.TUTORIAL.value,
        state=RecheckState.DONE.value,
        trajectory__tutorial_item__isnull=False,
    )
    counts = dict(done.order_by().values_list("project").annotate(n=Count("pk")))
    return {
        project: NextTurn("tutorial", min(counts.get(project, 0) + 1, total), total)
        for project, total in totals.items()
    }


def _tests(user: User, projects: Collection[int], closed: Closed) -> dict[int, NextTurn]:
    """The attempts that are running, and else the first test that opens what is closed."""
    turns: dict[int, NextTurn] = {}
    if needed := {pk for project in closed if project in projects for pk in closed[project].values()}:
        opening = ProficiencyTest.objects.filter(pk__in=needed).order_by("-number")
        for project, number in opening.values_list("project", "number"):
            turns[project] = NextTurn("open", test=number)
    running = Recheck.objects.filter(
        annotator=user, project__in=projects, attempt__state=AttemptState.RUNNING.value
    ).order_by()
    done = Count("pk", filter=Q(state=RecheckState.DONE.value))
    for project, number, at, total in running.values_list("project", "attempt__test__number").annotate(
        done=done, n=Count("pk")
    ):
        turns[project] = NextTurn("test", min(at + 1, total), total, number)
    return turns
