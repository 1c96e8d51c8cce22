"""Discussions over the API: what those who take part read and say, and what others are told: nothing."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Adjudication, Comment, Label, Trajectory
from annotation.services import discuss
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast, import_records, label_next, make_disputed, open_case

from .conftest import Callers
from .shape import ok, queries, refused


@shared_rows
def case(cast: Cast) -> Adjudication:
    """A trajectory with the steps 2 and 4; ann and ben differ on the second. Judith has the case."""
    row = import_records(cast.project, 1)[0]
    label_next(cast.ann, cast.project, [1, 1], note="ann's note")
    label_next(cast.ben, cast.project, [1, -1], note="ben's note")
    return open_case(cast.judith, row)


def test_dispute_is_played_from_the_discussion_to_the_consensus(by: Callers, case: Adjudication) -> None:
    talk = ok(by.judith.post(f"/trajectories/{case.trajectory_id}/discussion/"), 201)
    here = f"/discussions/{talk['id']}/"
    assert [one["kind"] for one in ok(by.ann.get("/me/notices/"))["results"]] == ["opened"]
    seen = ok(by.ann.get(here))
    assert (seen["voice"], seen["open"], seen["unread"]) == ("annotator", True, 0)
    assert not any(vote["name"] for thread in seen["threads"] for vote in thread["votes"])
    letter = ok(by.ben.get(here))["letter"]

    said = ok(
        by.ann.post(f"{here}comments/", {"message_index": 4, "text": f"@{letter}, read the result."}), 201
    )
    assert ok(by.ben.get("/me/discussions/"))["results"][0]["unread"] == 1
    notice = ok(by.ben.get("/me/notices/"))["results"][0]
    assert (notice["kind"], notice["message_index"], notice["comment"]) == ("mention", 4, said["id"])
    read = ok(by.ben.post(f"{here}read/", {"message_index": 4, "comment": said["id"]}))
    assert read == {"last_read": said["id"]}
    assert ok(by.ben.get("/me/discussions/"))["results"][0]["unread"] == 0
    change = {"message_index": 4, "value": 1, "note": "I had overlooked it.", "reason": "correct_progress"}
    assert ok(by.ben.post(f"{here}revisions/", change), 201)["previous"] == -1
    refused(by.ben.post(f"{here}revisions/", {**change, "value": 0, "reason": ""}), 409, "stale_version")

    thread = ok(by.judith.get(here))["threads"][1]
    assert (thread["disputed"], thread["disputed_now"]) == (True, False)
    assert [one["text"] for one in thread["comments"]] == [f"@{letter}, read the result."]
    ok(by.judith.post(f"/adjudications/{case.pk}/close/", {}))
    steps = ok(by.judith.get(f"/adjudications/{case.pk}/"))["steps"]
    assert [step["consensus"] for step in steps] == [
        {"value": 1, "kind": "unanimous", "root": None, "reason_code": ""},
        {"value": 1, "kind": "discussed", "root": None, "reason_code": "correct_progress"},
    ]
    assert sorted(Label.objects.filter(step__message_index=4).values_list("value", flat=True)) == [-1, 1]
    refused(by.ann.post(f"{here}comments/", {"text": "Too late."}), 409, "case_closed")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": "x" * (1 << 20)}, 400, "invalid"),
        ({"text": ""}, 400, "invalid"),
        ({"text": "Ask @stranger."}, 400, "stranger"),
        ({"text": "A step?", "message_index": 3}, 400, "invalid"),
        ({"text": 3, "step": 4}, 400, "invalid"),
    ],
)
def test_comment_that_cannot_be_is_refused_in_one_sentence(
    by: Callers, cast: Cast, case: Adjudication, body: dict[str, Any], status: int, code: str
) -> None:
    talk = discuss.open_discussion(actor=cast.judith, trajectory=case.trajectory)
    error = refused(by.ann.post(f"/discussions/{talk.pk}/comments/", body), status, code)
    assert error["message"].count(".") <= 2
    assert not Comment.objects.exists()


def test_notices_are_seen_up_to_one_and_nobody_elses(by: Callers, cast: Cast, case: Adjudication) -> None:
    talk = discuss.open_discussion(actor=cast.judith, trajectory=case.trajectory)
    discuss.comment(actor=cast.judith, discussion=talk, text="Hello.")
    newest, oldest = ok(by.ann.get("/me/notices/"))["results"]
    assert ok(by.ann.post("/me/notices/", {"notice": oldest["id"]})) == {"seen": 1}
    assert ok(by.ann.post("/me/notices/", {"notice": newest["id"]})) == {"seen": 1}
    assert all(one["read_at"] for one in ok(by.ann.get("/me/notices/"))["results"])
    assert not any(one["read_at"] for one in ok(by.ben.get("/me/notices/"))["results"])


@pytest.mark.parametrize("n", [1, 4])
def test_lists_of_discussions_take_as_many_queries_however_many(by: Callers, cast: Cast, n: int) -> None:
    import_records(cast.project, n)
    make_disputed(cast, n)
    for row in Trajectory.objects.all():
        talk = discuss.open_discussion(actor=cast.admin, trajectory=row)
        discuss.comment(actor=cast.ben, discussion=talk, text="Look here.")
    by.ann.get("/me/")
    found = [queries(lambda path=path: by.ann.get(path)) for path in ("/me/discussions/", "/me/notices/")]
    assert found == [3, 3]
