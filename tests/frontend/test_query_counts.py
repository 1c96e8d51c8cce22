"""Every page asks the database the same number of questions, however many rows it shows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Judge, Trajectory
from tests.frontend.every_page import PAGES, arguments, fill


# on PostgreSQL the larger size is enough: what counts the queries is the same code
@pytest.mark.parametrize("many", [pytest.param(1, marks=pytest.mark.once), 2])
def test_queries_of_every_page_are_constant(cast, browse, at, many, judge_urls):
    fill(cast, many)
    checksums = list(Trajectory.objects.values_list("record_id", flat=True))
    found = {}
    clients = {who: browse(who) for who in {who for who, _name, _queries in PAGES.values()}}
    for title, (who, name, _queries) in PAGES.items():
        url = at(name, *arguments(title, cast))
        if name == "run-new":
            url = f"{url}?judges={Judge.objects.first().pk}"
        client = clients[who]
        client.get(url)  # what is remembered, is remembered
        with CaptureQueriesContext(connection) as asked:
            answer = client.get(url)
        assert answer.status_code == 200
        assert not [one for one in checksums if one in answer.content.decode()], title
        found[title] = len(asked)
    assert found == {title: queries for title, (_who, _name, queries) in PAGES.items()}
