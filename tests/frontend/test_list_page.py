"""Lists: filters, orders, pages and files of rows that any list page gets from its declaration."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from annotation.core.errors import Invalid
from frontend.pages.shared import list_page
from frontend.pages.shared.list_page import Empty, Filter, ListPage
from frontend.rendering.tables import Column, cells
from tests import people

HOSTILE = "<img src=x onerror=alert(1)>\x00\u202e"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Row:
    name: str
    size: int | None
    at: datetime | None = None


ROWS = (Row("bee", 2, NOON), Row("ant", None), Row("cat", 1000))
COLUMNS = (
    Column("name", "Name", cell=lambda row: cells.link(row.name, "/x/"), sort="name"),
    Column("size", "Size", look="number", sort="-size"),
    Column("at", "Time"),
    Column("only_in_files", value=lambda row: row.name.upper()),
)


def listed(query: str = "", rows=ROWS, **declared) -> ListPage:
    return ListPage(RequestFactory().get(f"/list/?{query}"), COLUMNS, rows, Empty("Nothing yet"), **declared)


def names(found: ListPage) -> list[str]:
    return [row.name for row in found.page]


def drawn(found: ListPage) -> str:
    return render_to_string("frontend/partials/list.html", {"list": found}, found.request)


def rows_of(answer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_list_is_sorted_by_its_columns_those_without_a_value_last():
    assert names(listed()) == ["bee", "ant", "cat"]
    assert names(listed("sort=name")) == ["ant", "bee", "cat"]
    assert names(listed("sort=-name")) == ["cat", "bee", "ant"]
    assert names(listed("sort=size")) == ["bee", "cat", "ant"]
    assert names(listed("sort=-size")) == ["cat", "bee", "ant"]


def test_list_refuses_an_order_by_what_is_no_column(cast):
    for order in ("pk", "at", "user__password", "-"):
        found = listed(f"sort={order}")
        assert list(found.page) == [] and f"“{order}”" in found.refusal
        with pytest.raises(Invalid):
            found.csv()


def test_heading_says_the_direction_and_turns_it_round():
    page = drawn(listed("sort=-size&page=1"))
    assert '<th scope="col" class="number" aria-sort="descending">' in page
    assert 'href="?sort=size">Size' in page
    assert 'href="?sort=name">Name' in page
    assert page.count("aria-sort") == 1
    assert '<th scope="row">' in page


def test_filters_are_read_kept_and_cleared():
    filters = [Filter("kind", "Kind", [("a", "A"), ("b", "B")]), Filter("q", "Words")]

    def rows(asked: dict[str, str]) -> list[Row]:
        return [row for row in ROWS if asked["q"] in row.name]

    found = listed("q=+a%00&kind=z&tab=mine", rows, filters=filters, kept=["tab"])
    assert found.asked == {"kind": "z", "q": "a", "sort": ""}
    page = drawn(found)
    assert names(found) == ["ant", "cat"]
    assert '<option value="z" selected>z</option>' in page
    assert '<input type="hidden" name="tab" value="mine">' in page
    assert 'href="?tab=mine"' in page
    assert "Nothing matches" in drawn(listed("q=xyz", rows, filters=filters))
    empty = drawn(listed("", [], filters=filters))
    assert "Nothing yet" in empty and "<form" not in empty


def test_cells_show_dashes_figures_times_and_no_markup_of_others():
    page = drawn(listed("", [Row(HOSTILE, 1000, NOON), Row("b", None)]))
    assert "<img" not in page and "&lt;img src=x onerror=alert(1)&gt;␀\\u202e" in page
    assert "1,000" in page
    assert '<time class="nowrap" datetime="2026-03-02T12:00:00+00:00">2 Mar 2026, 12:00</time>' in page
    assert page.count("–") == 2


def test_file_has_every_page_raw_values_and_no_formula(monkeypatch):
    monkeypatch.setattr(list_page, "PER_PAGE", 1)
    found = listed("sort=name", [*ROWS, Row("=1+1", 5)], file="things")
    assert len(found.page) == 1
    answer = found.csv("bench-")
    assert 'filename="bench-things.csv"' in answer["Content-Disposition"]
    rows = rows_of(answer)
    assert [row["name"] for row in rows] == ["'=1+1", "ant", "bee", "cat"]
    assert rows[2] == {"name": "bee", "size": "2", "at": NOON.isoformat(), "only_in_files": "BEE"}
    few = listed(file="things", in_file=("size", "name"))
    assert list(rows_of(few.csv())[0]) == ["size", "name"]


def test_list_of_a_project_is_sorted_in_the_database_and_written_as_a_file(browse, cast, at):
    for number in range(3):
        people.make_member(cast.project, people.make_user(f"guest{number}"), "annotator")
    client, url = browse("admin"), at("members", "bench")
    by_name = [row.user.username for row in client.get(f"{url}?sort=-user__username").context["page"]]
    assert by_name == sorted(by_name, reverse=True)
    rows = rows_of(client.get(f"{url}?as=csv&sort=-user__username"))
    assert [row["user_name"] for row in rows] == by_name
    assert browse("ann").get(f"{url}?as=csv").status_code == 403
