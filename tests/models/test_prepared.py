"""Queries that are composed once."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from operator import attrgetter
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Exists, QuerySet
from django.db.models.functions import TruncDate
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, Membership, User
from annotation.models.prepared import Prepared
from tests.people import Cast, claim, import_records

pytestmark = pytest.mark.postgres


def test_prepared_query_finds_what_it_finds_when_it_is_composed_anew(cast: Cast) -> None:
    import_records(cast.project, 1)
    claim(cast.ann, cast.project)
    [made] = Assignment.objects.all()

    def compose(user: int, since: datetime, day: date) -> QuerySet[Assignment]:
        used = Assignment.objects.filter(claimed_at__gte=since, last_used_at__date__gte=day)
        return used.filter(annotator=user, state="open").order_by("pk")

    prepared = Prepared(
        compose,
        user=(7_000_000_001, 7_000_000_002),
        since=(datetime(1, 2, 3, tzinfo=UTC), datetime(2, 3, 4, tzinfo=UTC)),
        day=(date(4, 5, 6), date(5, 6, 7)),
    )
    at, day = made.claimed_at, made.last_used_at.date()
    for user, since, on in (
        (cast.ann.pk, at, day),
        (cast.ben.pk, at, day),
        (cast.ann.pk, at + timedelta(microseconds=1), day),
        (cast.ann.pk, at, day + timedelta(days=1)),
        (cast.ann.pk, at - timedelta(days=1), day),
    ):
        found = [row.pk for row in prepared(user=user, since=since, day=on)]
        assert found == [row.pk for row in compose(user, since, on)]


def test_prepared_rows_have_the_values_the_related_rows_and_what_was_annotated(cast: Cast) -> None:
    import_records(cast.project, 1)
    claim(cast.ann, cast.project)

    def compose(user: int) -> QuerySet[Assignment]:
        rows = Assignment.objects.select_related("project", "recheck", "trajectory__subset")
        known = rows.annotate(day=TruncDate("claimed_at"), held=Exists(Membership.objects.filter(user=user)))
        return known.filter(annotator=user).defer("return_reason")

    prepared = Prepared(compose, user=(7_000_000_001, 7_000_000_002))
    for _ in range(2):
        [found], [wanted] = prepared(user=cast.ann.pk), compose(cast.ann.pk)
        with CaptureQueriesContext(connection) as asked:
            for path in ("", "project", "trajectory", "trajectory.subset"):
                one, other = (attrgetter(path)(row) if path else row for row in (found, wanted))
                told, same = ({k: v for k, v in vars(row).items() if k != "_state"} for row in (one, other))
                assert told == same
            assert (found.recheck, found.day, found.held) == (None, wanted.day, True)
        assert not asked
        assert "return_reason" not in vars(found) and found.return_reason == ""


def test_prepared_query_refuses_what_is_made_of_an_example(cast: Cast) -> None:
    """What is left of it would be the example's, whoever asks."""

    def compose(user: int, project: int) -> QuerySet[Membership]:
        return Membership.objects.filter(user=user + 1, project=project)

    prepared = Prepared(compose, user=(7_000_000_002, 7_000_000_003), project=(8_000_000_001, 8_000_000_002))
    with pytest.raises(AssertionError, match="made of an example"):
        prepared(user=cast.ann.pk, project=cast.project.pk)


def test_prepared_lists_of_values_are_what_the_query_lists_by_the_number_of_what_is_asked_for(
    cast: Cast,
) -> None:
    rows = import_records(cast.project, 5)
    for _ in range(3):
        claim(cast.ann, cast.project)

    def compose(people: list[int], trajectories: list[int], flat: bool) -> QuerySet[Assignment, Any]:
        held = Assignment.objects.filter(annotator__in=people, trajectory__in=trajectories).order_by("-pk")
        columns = held.values_list("trajectory_id", flat=True)
        return columns if flat else held.values_list("trajectory__position", "claimed_at", "pk")

    prepared = Prepared(compose, "people", "trajectories")
    keys = [row.pk for row in rows]
    asked: list[tuple[list[int], list[int]]] = [
        *(([cast.ann.pk, cast.ben.pk], keys[:number]) for number in range(6)),
        ([cast.ben.pk], keys),
        ([cast.ann.pk], [*range(10**6, 10**6 + 300), *keys]),
    ]
    for people, trajectories in asked:
        for flat in (True, False):
            found = prepared(people=people, trajectories=trajectories, flat=flat)
            assert found == list(compose(people, trajectories, flat))
            first = prepared.first(people=people, trajectories=trajectories, flat=flat)
            assert first == (found[0] if found else None)
    assert len(prepared(people=[cast.ann.pk], trajectories=keys, flat=True)) == 3
    # a form for each power of two, and none for what finds nothing
    with CaptureQueriesContext(connection) as queries:
        assert prepared(people=[cast.ann.pk], trajectories=[], flat=True) == []
        prepared(people=[cast.ann.pk], trajectories=keys[:3], flat=True)
    [text] = [query["sql"] for query in queries]
    assert text.count(str(keys[2])) == 2


@pytest.mark.django_db(transaction=True)
def test_prepared_query_that_locks_is_asked_in_a_transaction_only() -> None:
    prepared = Prepared(lambda user: User.objects.select_for_update().filter(pk=user), "user")
    with transaction.atomic():
        assert prepared(user=1) == []
    with pytest.raises(transaction.TransactionManagementError):
        prepared(user=1)
