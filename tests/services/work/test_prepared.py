"""Queries that are composed once."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db.models import QuerySet

from annotation.models import Assignment, Membership
from annotation.services.assign.prepared import Prepared
from tests.people import Cast, claim, import_records

pytestmark = pytest.mark.postgres


def test_prepared_query_finds_what_it_finds_when_it_is_composed_anew(cast: Cast) -> None:
    import_records(cast.project, 1)
    claim(cast.ann, cast.project)
    [made] = Assignment.objects.all()

    def compose(user: int, since: datetime, day: date) -> QuerySet[Assignment]:
        used = Assignment.objects.filter(claimed_at__gte=since, last_used_at__date__gte=day)
        return used.filter(annotator=user, state="open").order_by("pk")

    prepared = Prepared(compose, user=7_000_000_001, since=datetime(1, 2, 3, tzinfo=UTC), day=date(4, 5, 6))
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


def test_prepared_query_refuses_an_example_that_is_nowhere_in_it(cast: Cast) -> None:
    prepared = Prepared(lambda user, project: Membership.objects.filter(user=user), user=7_001, project=7_002)
    with pytest.raises(AssertionError):
        prepared(user=cast.ann.pk, project=cast.project.pk)
