"""The queue of disputes, the cases that resolve them, and their discussions: what is said, and to whom."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Adjudication, Comment, Consensus, Label, Trajectory
from annotation.services import discuss
from tests.fixtures.shared_rows import shared_rows
from tests.people import (
    Cast,
    import_records,
    label_next,
    make_disputed,
    make_member,
    open_case,
)

from .conftest import Callers
from .shape import ok, queries, refused

DISPUTES = "/projects/bench/disputes/"
CASES = "/projects/bench/adjudications/"
ASSIGN = "/projects/bench/disputes/assign/"


@shared_rows
def disputed(cast: Cast) -> Trajectory:
    """A trajectory on whose second step (index 4) ann and ben differ."""
    row = import_records(cast.project, 1)[0]
    label_next(cast.ann, cast.project, [1, 1], note="ann's note")
    label_next(cast.ben, cast.project, [1, -1], note="ben's note")
    return row


def test_adjudicators_find_disputes_in_their_queue(by: Callers, disputed: Trajectory) -> None:
    seen = ok(by.judith.get(DISPUTES))
    assert [row["trajectory"] for row in seen["results"]] == [disputed.pk]
    refused(by.ann.get(DISPUTES), 403)
    (row,) = ok(by.admin.get(DISPUTES))["results"]
    assert row["kinds"] == ["sign_flip", "first_error"]
    assert (row["disputed_steps"], row["sign_flips"], row["outcome"]) == (1, 1, False)


def test_disputes_are_filtered_and_what_is_no_filter_is_refused(by: Callers, disputed: Trajectory) -> None:
    assert ok(by.judith.get(DISPUTES, {"kind": "outcome_only"}))["count"] == 0
    assert ok(by.judith.get(DISPUTES, {"kind": "sign_flip", "subset": "tiny", "size": "1"}))["count"] == 1
    refused(by.judith.get(DISPUTES, {"age": "1h"}), 400, "unknown_filter")
    refused(by.judith.get(DISPUTES, {"colour": "red"}), 400, "unknown_filter")


def test_admin_assigns_a_case_to_who_has_not_labelled_it(
    by: Callers, disputed: Trajectory, cast: Cast
) -> None:
    make_member(cast.project, cast.ben, "annotator", "adjudicator")
    one = {"trajectories": [disputed.pk]}
    (left,) = ok(by.admin.post(ASSIGN, {**one, "adjudicator": "ben"}))["refused"]
    assert (left["id"], left["record_id"], left["code"]) == (disputed.pk, disputed.record_id, "invalid")
    refused(by.admin.post(ASSIGN, {**one, "adjudicator": "oscar"}), 404)
    refused(by.admin.post(ASSIGN, {**one, "adjudicator": "cleo"}), 400)
    refused(by.admin.post(ASSIGN, {"trajectories": [disputed.pk, 999_999]}), 404)
    refused(by.admin.post(ASSIGN, {"trajectories": []}), 400)
    refused(by.judith.post(ASSIGN, one), 403)
    (case,) = ok(by.admin.post(ASSIGN, one))["cases"]
    assert case["adjudicator"]["username"] == "judith"
    assert ok(by.judith.get(f"/adjudications/{case['id']}/"))["case"]["state"] == "open"
    again = ok(by.admin.post(ASSIGN, one))
    assert (again["cases"], again["refused"][0]["code"]) == ([], "case_taken")
    assert ok(by.admin.post(ASSIGN, {**one, "adjudicator": "judith"}))["cases"] == [case]


def test_cases_are_taken_back_by_admins_and_the_closed_ones_are_named(
    by: Callers, disputed: Trajectory, cast: Cast
) -> None:
    case, url = open_case(cast.judith, disputed), f"{CASES}take-back/"
    refused(by.judith.post(url, {"adjudications": [case.pk]}), 403)
    assert ok(by.admin.post(url, {"adjudications": [case.pk]})) == {"released": [case.pk], "refused": []}
    again = ok(by.admin.post(url, {"adjudications": [case.pk]}))
    assert [row["code"] for row in again["refused"]] == ["case_closed"]


def test_case_shows_a_and_b_without_names_and_is_decided_and_closed(
    by: Callers, disputed: Trajectory
) -> None:
    case = ok(by.judith.post(CASES, {"trajectory": disputed.pk}), 201)
    assert ok(by.judith.post(CASES, {"trajectory": disputed.pk}), 201) == case
    assert ok(by.judith.get(DISPUTES))["count"] == 0
    here = f"/adjudications/{case['id']}/"
    answer = by.judith.get(here)
    seen = ok(answer)
    assert [side["letter"] for side in seen["annotators"]] == ["A", "B"]
    votes = [sorted(vote["value"] for vote in step["votes"]) for step in seen["steps"]]
    assert votes == [[1, 1], [-1, 1]]
    assert [step["disputed"] for step in seen["steps"]] == [False, True]
    assert {vote["note"] for vote in seen["steps"][1]["votes"]} == {"ann's note", "ben's note"}
    assert not any(side["name"] for side in seen["annotators"])
    refused(by.judith.post(f"{here}close/", {}), 400, "incomplete")
    refused(by.judith.post(f"{here}decisions/", {"message_index": 2, "value": 1}), 400)
    made = ok(by.judith.post(f"{here}decisions/", {"message_index": 4, "value": -1, "note": "wrong tool"}))
    assert made["version"] == 1
    refused(by.judith.post(f"{here}decisions/", {"message_index": 4, "value": 1}), 409, "stale_version")
    assert (
        ok(by.judith.post(f"{here}decisions/", {"message_index": 4, "value": 0, "version": 1}))["version"]
        == 2
    )
    assert ok(by.judith.post(f"{here}close/", {"note": "done"}))["state"] == "decided"
    assert list(Consensus.objects.order_by("step__message_index").values_list("value", flat=True)) == [1, 0]
    assert ok(by.judith.get(here))["steps"][1]["consensus"] == {
        "value": 0,
        "kind": "adjudicated",
        "root": None,
        "reason_code": "",
    }
    refused(by.judith.post(f"{here}close/", {}), 409)


def test_outcome_alone_can_be_disputed_and_decided(by: Callers, cast: Cast) -> None:
    row = import_records(cast.project, 1)[0]
    label_next(cast.ann, cast.project, 1, outcome=1)
    label_next(cast.ben, cast.project, 1, outcome=-1)
    case = ok(by.judith.post(CASES, {"trajectory": row.pk}), 201)
    ok(by.judith.post(f"/adjudications/{case['id']}/decisions/", {"message_index": None, "value": -1}))
    assert ok(by.judith.post(f"/adjudications/{case['id']}/close/", {}))["state"] == "decided"


def test_case_is_handed_back_and_then_shows_no_labels(by: Callers, disputed: Trajectory) -> None:
    case = ok(by.judith.post(CASES, {"trajectory": disputed.pk}), 201)
    assert ok(by.judith.post(f"/adjudications/{case['id']}/release/"))["state"] == "released"
    answer = by.judith.get(f"/adjudications/{case['id']}/")
    assert ok(answer)["steps"] == [] and b"note\xe2" not in answer.content
    assert ok(by.judith.get(DISPUTES))["count"] == 1


def test_case_that_was_decided_is_opened_again(by: Callers, disputed: Trajectory, cast: Cast) -> None:
    case = open_case(cast.judith, disputed)
    here = f"/adjudications/{case.pk}/"
    ok(by.judith.post(f"{here}decisions/", {"message_index": 4, "value": 1}))
    ok(by.judith.post(f"{here}close/"))
    assert ok(by.judith.post(f"{here}reopen/"))["state"] == "open"
    assert not Consensus.objects.exists()
    refused(by.judith.post(f"{here}reopen/"), 409)


def test_case_is_only_of_what_is_disputed(by: Callers, cast: Cast) -> None:
    row = import_records(cast.project, 1)[0]
    refused(by.judith.post(CASES, {"trajectory": row.pk}), 404)
    for body in (
        {},
        {"trajectory": "1"},
        {"trajectory": -1},
        {"trajectory": 10**40},
        {"trajectory": None},
        [],
    ):
        refused(by.judith.post(CASES, body), 400)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message_index": 4},
        {"message_index": 4, "value": True},
        {"message_index": 4, "value": 2},
        {"message_index": 4, "value": "1"},
        {"message_index": 4, "value": [1]},
        {"message_index": "4", "value": 1},
        {"message_index": 3, "value": 1},
        {"message_index": 10**12, "value": 1},
        {"message_index": 4, "value": 1, "version": "0"},
        {"message_index": 4, "value": 1, "note": {"a": 1}},
        {"message_index": 4, "value": 1, "note": "\x00"},
    ],
)
def test_decision_that_makes_no_sense_is_refused(
    by: Callers, disputed: Trajectory, cast: Cast, body: object
) -> None:
    case = open_case(cast.judith, disputed)
    refused(by.judith.post(f"/adjudications/{case.pk}/decisions/", body), 400)


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
