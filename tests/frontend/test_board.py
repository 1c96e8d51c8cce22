"""The board's pages, and the file of hours."""

from __future__ import annotations

import csv
import io

from annotation.models import Assignment
from annotation.services import label
from tests import people


def _file(answer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_file_of_hours_has_each_day_and_person_and_no_formula(browse, cast, at):
    cast.project.pay_rate, cast.project.pay_currency = 30, "EUR"
    cast.project.save()
    user = people.make_user("@sum")
    people.make_member(cast.project, user, "annotator")
    people.import_records(cast.project, 2)
    mine = people.claim(user, cast.project)
    label.add_activity(actor=user, assignment=mine, active_ms=90_000)
    people.label_next(cast.ann, cast.project)

    rows = _file(browse("admin").get(at("hours", "bench"), {"as": "csv"}))

    assert [(row["person"], row["active_seconds"], row["submitted"], row["pay"]) for row in rows] == [
        ("'@sum", "90", "0", "0.75"),
        ("ann", "0", "1", "0.00"),
    ]
    assert {(row["currency"], row["time_zone"]) for row in rows} == {("EUR", "UTC")}
    own = _file(browse("ann").get(at("hours", "bench"), {"as": "csv", "person": "@sum"}))
    assert [row["submitted"] for row in own] == ["1"] and "@sum" not in str(own)


def test_board_shows_people_and_pictures_with_tables_beside_them(browse, cast, at, text):
    people.import_records(cast.project, 2)
    people.make_unanimous(cast)
    Assignment.objects.filter(annotator=cast.ann).update(submitted_at="2026-01-02T12:00Z")
    page = text(browse("admin").get(at("board", "bench")))

    assert page.count('<svg class="trend"') == 1 and page.count('<svg class="map"') == 3
    assert page.count("As a table") == 2
    assert "Say what is paid" in page and "Ann" in page
    mine = text(browse("ann").get(at("hours", "bench")))
    assert "My hours" in mine and "Ben" not in mine and "EUR" not in mine
    assert browse("judith").get(at("hours", "bench")).status_code == 403
    assert browse("admin").get(at("hours", "bench"), {"days": "x"}).status_code == 400


def test_settings_say_what_is_paid(browse, cast, at, text):
    page = text(browse("admin").get(at("project-settings", "bench")))
    assert "Nothing is said of pay." in page
    cast.project.pay_rate, cast.project.pay_currency, cast.project.pay_per = "1.50", "USD", "trajectory"
    cast.project.save()
    page = text(browse("admin").get(at("project-settings", "bench")))
    assert "Annotators get 1.50 USD for a submitted trajectory." in page
