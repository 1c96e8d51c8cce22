"""Remarks to admins and the search, by the API: the same as on the pages."""

from __future__ import annotations

import pytest

from annotation.core.vocabulary import ExposureKind
from annotation.models import AdminRemark, Assignment, Exposure, Notice
from tests.people import Cast, claim, import_records, make_record

from .conftest import Callers
from .shape import queries

TEXT = "Is the narwhal\nright here?"


@pytest.fixture
def mine(cast: Cast) -> Assignment:
    """Ann's open assignment; ben has the same trajectory."""
    import_records(cast.project, [make_record(steps=2)])
    assignment = claim(cast.ann, cast.project)
    claim(cast.ben, cast.project)
    return assignment


def test_remark_is_written_answered_and_read_by_its_author(by: Callers, cast: Cast, mine: Assignment) -> None:
    own = f"/assignments/{mine.pk}/remarks/"
    made = by.ann.post(own, {"text": TEXT, "message_index": 4})
    assert made.status_code == 201
    row = made.json()
    assert (row["text"], row["message_index"], row["step"], row["answer"]) == (TEXT, 4, 2, "")
    assert by.ann.post(own, {"text": "The whole."}).json()["message_index"] is None
    assert by.ann.post(own, {"text": " "}).status_code == 400
    assert by.ann.post(own, {"text": "x", "message_index": 3}).status_code in (400, 404)
    assert by.ben.get(own).status_code == by.admin.get(own).status_code == 404

    listed = by.admin.get("/projects/bench/remarks/").json()["results"]
    assert [one["text"] for one in listed] == ["The whole.", TEXT]
    assert Exposure.objects.get().user == cast.admin
    close = f"/remarks/{row['id']}/close/"
    assert by.ben.post(close, {}).status_code == 404
    assert by.admin.post(close, {"answer": "It is."}).json()["answer"] == "It is."
    assert by.admin.post(close, {}).json()["error"]["code"] == "closed"
    assert [one["answer"] for one in by.ann.get(own).json()["results"]] == ["", "It is."]
    assert Notice.objects.filter(user=cast.ann, kind="answered").exists()
    for state, count in (("open", 1), ("closed", 1), ("all", 2)):
        assert len(by.admin.get(f"/projects/bench/remarks/?state={state}").json()["results"]) == count
    assert by.admin.get("/projects/bench/remarks/?state=odd").status_code == 400
    assert by.ann.get("/projects/bench/remarks/").status_code == 403


@pytest.mark.parametrize("n", [1, 4])
def test_remarks_are_listed_with_as_many_queries_for_one_as_for_several(
    by: Callers, mine: Assignment, n: int
) -> None:
    for _ in range(n):
        by.ann.post(f"/assignments/{mine.pk}/remarks/", {"text": TEXT, "message_index": 4})
    by.admin.get("/projects/bench/remarks/")
    assert queries(lambda: by.admin.get("/projects/bench/remarks/")) == 6
    assert queries(lambda: by.ann.get(f"/assignments/{mine.pk}/remarks/")) == 5


@pytest.mark.postgres
def test_search_finds_the_texts_and_remarks_that_one_may_read_and_notes_what_it_tells(
    by: Callers, cast: Cast, mine: Assignment
) -> None:
    by.ann.post(f"/assignments/{mine.pk}/remarks/", {"text": TEXT, "message_index": 4})
    by.admin.post(f"/remarks/{AdminRemark.objects.get().pk}/close/", {"answer": "The narwhal is."})
    Exposure.objects.all().delete()
    search = "/projects/bench/search/?q=narwhal"

    rows = by.ann.get(search).json()["results"]
    said = [(row["kind"], row["before"], row["words"], row["after"]) for row in rows]
    assert said == [("remark", "Is the ", "narwhal", " right here?"), ("remark", "The ", "narwhal", " is.")]
    assert {(row["page"], row["page_id"], row["message_index"]) for row in rows} == {
        ("workbench", mine.pk, 4)
    }
    assert not Exposure.objects.exists()
    assert len(by.admin.get(search).json()["results"]) == 2
    assert Exposure.objects.get(kind=ExposureKind.LABEL).user == cast.admin
    for who in (by.ben, by.judith, by.cleo):
        assert who.get(search).json()["results"] == []
    (text,) = by.ben.get("/projects/bench/search/?q=looking, time&kind=step").json()["results"]
    assert (text["kind"], text["message_index"], text["words"]) == ("step", 2, "Looking, time")
    for odd in ("", "?q=a", "?q=narwhal&kind=odd"):
        assert by.ann.get(f"/projects/bench/search/{odd}").status_code == 400
    assert by.oscar.get(search).status_code == 404


def test_history_has_remarks_for_their_author_and_admins(by: Callers, cast: Cast, mine: Assignment) -> None:
    by.ann.post(f"/assignments/{mine.pk}/remarks/", {"text": TEXT, "message_index": 4})
    by.admin.post(f"/remarks/{AdminRemark.objects.get().pk}/close/", {"answer": "It is."})

    def told(who: object, step: int) -> list[tuple[str, str]]:
        path = f"/trajectories/{mine.trajectory_id}/history/?message_index={step}"
        rows = who.get(path).json()["results"]  # type: ignore[attr-defined]
        return [(row["kind"], row["note"]) for row in rows if row["kind"].startswith("remark.")]

    both = [("remark.write", TEXT), ("remark.close", "It is.")]
    assert told(by.ann, 4) == told(by.admin, 4) == both
    assert told(by.ben, 4) == told(by.ann, 2) == []
