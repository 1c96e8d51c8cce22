"""Every page asks as many questions of the database, however many rows it shows, none of which looks through
all that a person has once for each row, and speaks one language."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Judge, Trajectory
from tests.frontend.chinese import CHINESE, Words, english, speak_chinese
from tests.frontend.every_page import PAGES, arguments, fill


# on PostgreSQL that the queries of the larger size run is enough: what counts them is the same code
@pytest.mark.parametrize(
    ("many", "language"), [pytest.param(1, "zh-Hans", marks=pytest.mark.once), pytest.param(2, "en")]
)
def test_queries_of_every_page_are_constant_and_chinese_pages_speak_no_english(
    cast, browse, at, many, language, judge_urls
):
    fill(cast, many)
    if language == "zh-Hans":
        speak_chinese(cast)
    checksums = list(Trajectory.objects.values_list("record_id", flat=True))
    found, told, slow = {}, [], []
    clients = {who: browse(who) for who in {who for who, _name, _queries in PAGES.values()}}
    for title, (who, name, queries) in PAGES.items():
        url = at(name, *arguments(title, cast))
        if name == "run-new":
            url = f"{url}?judges={Judge.objects.first().pk}"
        if name == "search":
            url = f"{url}?q=question"
        # who is not signed in is spoken to as the browser asks
        asked_in = {"accept-language": language} if who == "nobody" else {}
        client = clients[who]
        for _visit in range(2):
            with CaptureQueriesContext(connection) as asked:
                answer = client.get(url, headers=asked_in)
            # else once more: a first visit asks what is then remembered
            if len(asked) == queries or connection.vendor != "sqlite":
                break
        assert answer.status_code == 200
        page = answer.content.decode()
        assert f'<html lang="{language}"' in page, title
        assert not [checksum for checksum in checksums if checksum in page], title
        found[title] = len(asked)
        slow += [
            f"{title}: {query['sql']}" for query in asked if looks_through_a_person_for_each_row(query["sql"])
        ]
        if language == "zh-Hans":
            texts = Words(page).found
            assert any(CHINESE.search(text) for text in texts), title
            # the details of the audit log have machine names
            told += [f"{title}: {text}" for text in english(texts) if name != "audit"]
    if connection.vendor == "sqlite":
        assert found == {title: queries for title, (_who, _name, queries) in PAGES.items()}
    assert not told, "\n".join(told)
    assert not slow, "\n".join(slow)


def looks_through_a_person_for_each_row(sql: str) -> bool:
    """Whether SQLite would look through all assignments of a person for each row of something else, which
    takes minutes where somebody has tens of thousands."""
    if connection.vendor != "sqlite" or not sql.startswith("SELECT"):
        return False
    with connection.cursor() as cursor:
        plan = cursor.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    parts = {step: (above, words) for step, above, _, words in plan}

    def is_correlated(step: int) -> bool:
        above, words = parts.get(step, (0, ""))
        return words.startswith("CORRELATED") or bool(above and is_correlated(above))

    return any(
        re.search(r"assignment_(beside|mine) \(annotator_id=\?\)", words) and is_correlated(step)
        for step, (_, words) in parts.items()
    )
