"""Claiming, labelling, submitting, giving back."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Assignment, Label
from api.serializers import assignments as shapes
from tests.callers import Caller
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast, change, claim, import_records, label_all, label_next

from .conftest import Callers
from .shape import ok, refused

CLAIM = "/projects/bench/claim/"
MINE = "/projects/bench/assignments/"


@shared_rows
def claimed(cast: Cast) -> Assignment:
    """An assignment of ann's, with the steps 2 and 4."""
    import_records(cast.project, 1)
    return claim(cast.ann, cast.project)


def save(caller: Caller, assignment: Assignment, changes: Any, op_id: str = "op") -> Any:
    """POST a batch."""
    return caller.post(f"/assignments/{assignment.pk}/labels/", {"op_id": op_id, "changes": changes})


def test_claiming_gives_the_next_trajectory_and_a_double_click_the_same(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 2)
    first = ok(by.ann.post(CLAIM, {"claim_key": "k"}), 201)
    assert ok(by.ann.post(CLAIM, {"claim_key": "k"}), 201) == first
    assert first["record_id"] == "tiny:0:0" and first["state"] == "open"
    assert ok(by.ann.post(CLAIM), 201)["record_id"] == "tiny:1:0"
    refused(by.ann.post(CLAIM), 409, "nothing_left")
    for key in ("x" * 65, ["x"]):
        refused(by.ann.post(CLAIM, {"claim_key": key}), 400)


def test_assignments_listed_are_ones_own_and_nobody_elses(
    by: Callers, claimed: Assignment, cast: Cast
) -> None:
    label_next(cast.ben, cast.project)
    seen = ok(by.ann.get(MINE))
    assert [row["id"] for row in seen["results"]] == [claimed.pk]
    assert "slot" not in seen["results"][0], "a slot would tell whether somebody else has it too"
    assert ok(by.ann.get(MINE, {"state": "submitted"}))["count"] == 0
    assert ok(by.admin.get(MINE))["count"] == 0
    refused(by.ann.get(MINE, {"state": "asleep"}), 400)


def test_assignment_comes_with_its_trajectory_and_labels(by: Callers, claimed: Assignment) -> None:
    seen = ok(by.ann.get(f"/assignments/{claimed.pk}/"))
    assert seen["open"] is True and seen["guideline_version"] == 1
    assert [step["message_index"] for step in seen["steps"]] == [2, 4]
    assert seen["outcome"]["version"] == 0
    rules = {"suspend_on_user_turn": False, "carry_forward": False, "propagates": True, "others": False}
    assert seen["rules"] == rules
    assert seen["trajectory"]["messages"][0]["role"] == "system"
    assert "state" not in seen["trajectory"], "its state would tell what the other annotator said"


def test_labels_are_saved_one_by_one(by: Callers, claimed: Assignment) -> None:
    changes = [change(2, 1, note="fine \ud83d"), change(4, -1, version=9), change(3, 1), change(None, 5)]
    seen = ok(save(by.ann, claimed, changes))
    assert [result["status"] for result in seen["results"]] == ["saved", "stale", "refused", "refused"]
    assert seen == shapes.Saved(seen).data, "the answer is given as it comes from the service"
    assert seen["labels"][0]["value"] == 1 and seen["labels"][0]["version"] == 1
    assert Label.objects.count() == 1


def test_save_answers_with_what_the_batch_is_about_to_who_knows_the_rest(
    by: Callers, claimed: Assignment
) -> None:
    def sent(op_id: str, known: int | None, *changes: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        body = {"op_id": op_id, "changes": changes} | ({} if known is None else {"known_versions": known})
        answer = ok(by.ann.post(f"/assignments/{claimed.pk}/labels/", body))
        return answer, [label["message_index"] for label in answer["labels"]]

    assert sent("a", None, change(2, -1))[1] == [2, 4]
    assert sent("b", 1)[1] == []
    # one that is refused is named too, and what follows from a change comes with it
    refusal = sent("c", 1, change(4, -1, source="propagated", root=4))
    assert refusal[1] == [4] and refusal[0]["results"][0]["status"] == "refused"
    assert sent("d", 1, change(4, -1, source="propagated", root=2))[1] == [4]
    assert sent("e", 2, change(2, 1, version=1))[1] == [2, 4]
    # so is one that cannot be read at all, whose result has no name
    assert sent("x", 4, {**change(2, 1), "value": 9})[1] == [2]
    # who does not know all that is stored, gets all
    assert sent("f", 2, change(None, 1))[1] == [2, 4]
    assert sent("f", 4, change(None, 1))[1] == [2, 4]
    assert sent("g", 5)[1] == []


def test_assignment_and_trajectory_are_read_in_parts(by: Callers, claimed: Assignment) -> None:
    whole = ok(by.ann.get(f"/assignments/{claimed.pk}/"))
    part = ok(by.ann.get(f"/assignments/{claimed.pk}/?messages_from=3&messages_limit=2"))
    assert [message["index"] for message in part["trajectory"]["messages"]] == [3, 4]
    assert [step["message_index"] for step in part["steps"]] == [4]
    assert part["trajectory"]["message_count"] == whole["trajectory"]["message_count"] == 5
    assert len(whole["trajectory"]["messages"]) == 5 and len(whole["steps"]) == 2
    address = f"/trajectories/{claimed.trajectory_id}/"
    assert ok(by.ann.get(f"{address}?messages_from=9"))["messages"] == []
    assert [one["index"] for one in ok(by.ann.get(f"{address}?messages_limit=1"))["messages"]] == [0]
    refused(by.ann.get(f"{address}?messages_limit=0"), 400)


def test_save_says_its_refusals_in_the_readers_language(by: Callers, claimed: Assignment) -> None:
    by.ann.client.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-hans"
    seen = ok(save(by.ann, claimed, [change(3, 1), change(None, 5), change(4, 1, version=9)]))
    reasons = [result["reason"] for result in seen["results"]]
    assert reasons == ["消息 3 不是步骤。", "value：−1、0、1 或 null。", seen["results"][2]["reason"]]
    assert not reasons[2].isascii()


def test_save_of_the_same_batch_changes_nothing_and_of_another_under_its_name_is_refused(
    by: Callers, claimed: Assignment
) -> None:
    first = ok(save(by.ann, claimed, [change(2, 1)]))
    assert ok(save(by.ann, claimed, [change(2, 1)])) == first
    refused(save(by.ann, claimed, [change(2, -1)]), 409, "op_id_reused")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"op_id": "x"},
        {"op_id": "", "changes": []},
        {"op_id": "x" * 65, "changes": []},
        {"op_id": 7.5, "changes": []},
        {"op_id": "a\x00b", "changes": []},
        {"op_id": "x", "changes": {}},
        {"op_id": "x", "changes": [1]},
        {"op_id": "x", "changes": [[]]},
        {"op_id": "x", "changes": "all"},
        {"op_id": "x", "changes": [{}] * 2001},
        {"op_id": "x", "changes": [], "more": 1},
        [],
        None,
    ],
)
def test_save_of_a_batch_that_cannot_be_read_is_refused_whole(
    by: Callers, claimed: Assignment, body: object
) -> None:
    assert by.ann.post(f"/assignments/{claimed.pk}/labels/", body).status_code == 400 or body == {
        "op_id": 7.5,
        "changes": [],
    }


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"target": ["step"]},
        {"target": "step", "message_index": 10**30, "version": 0, "value": 1},
        {"target": "step", "message_index": "2", "version": 0, "value": 1},
        {"target": "step", "message_index": 2, "version": -1, "value": 1},
        {"target": "step", "message_index": 2, "version": 0, "value": True},
        {"target": "step", "message_index": 2, "version": 0, "value": 1.0},
        {"target": "step", "message_index": 2, "version": 0, "value": 1, "note": ["x"]},
        {"target": "step", "message_index": 2, "version": 0, "value": 1, "reason": {"a": 1}},
        {"target": "step", "message_index": 2, "version": 0, "value": 1, "closes": ["corrected"]},
        {"target": "step", "message_index": 2, "version": 0, "value": 1, "source": {}},
        {"target": "step", "message_index": 2, "version": 0, "value": -1, "root": "x"},
        {"target": "step", "message_index": 2, "version": 0, "value": -1, "root": 4, "root_pinned": True},
        {"target": "step", "message_index": 2, "version": 0, "value": 1, "unsure": "yes"},
        {"\x00": "\x00", "\ud800": "\ud800"},
    ],
)
def test_save_refuses_a_change_that_makes_no_sense_by_itself(
    by: Callers, claimed: Assignment, odd: Any
) -> None:
    seen = ok(save(by.ann, claimed, [odd, change(4, 1)]))
    assert [result["status"] for result in seen["results"]][1] == "saved"
    assert seen["results"][0]["status"] in ("refused", "saved")
    assert "\x00" not in str(seen)


def test_submitting_needs_everything_and_names_what_is_missing(by: Callers, claimed: Assignment) -> None:
    ok(save(by.ann, claimed, [change(2, 1)]))
    error = refused(by.ann.post(f"/assignments/{claimed.pk}/submit/"), 400, "incomplete")
    assert error["details"] == {"missing": [4], "outcome": True}
    ok(save(by.ann, claimed, [change(4, 1), change(None, 1)], "second"))
    assert ok(by.ann.post(f"/assignments/{claimed.pk}/submit/"))["state"] == "submitted"
    refused(by.ann.post(f"/assignments/{claimed.pk}/submit/"), 409, "not_open")
    refused(save(by.ann, claimed, [change(2, -1, version=1)], "third"), 409, "not_open")


def test_return_keeps_the_draft_and_resuming_finds_it(by: Callers, claimed: Assignment) -> None:
    ok(save(by.ann, claimed, [change(2, -1, note="half-way")]))
    refused(by.ann.post(f"/assignments/{claimed.pk}/return/", {}), 400)
    refused(by.ann.post(f"/assignments/{claimed.pk}/return/", {"reason": " "}), 400)
    assert ok(by.ann.post(f"/assignments/{claimed.pk}/return/", {"reason": "tired"}))["state"] == "returned"
    refused(by.ann.get(f"/assignments/{claimed.pk}/"), 409, "not_open")
    refused(by.ann.get(f"/assignments/{claimed.pk}/"), 409, "not_open")
    refused(by.ann.post(f"/assignments/{claimed.pk}/return/", {"reason": "tired"}), 409)
    assert ok(by.ann.post(f"/assignments/{claimed.pk}/resume/"))["state"] == "open"
    assert ok(by.ann.get(f"/assignments/{claimed.pk}/"))["steps"][0]["note"] == "half-way"


def test_claims_are_taken_back_by_admins_with_a_reason(by: Callers, claimed: Assignment) -> None:
    url, asked = "/projects/bench/claims/take-back/", {"assignments": [claimed.pk], "reason": "idle"}
    refused(by.ann.post(url, asked), 403)
    assert ok(by.admin.post(url, asked)) == {"expired": [claimed.pk], "refused": []}
    (mine,) = ok(by.ann.get("/projects/bench/assignments/"))["results"]
    assert (mine["state"], mine["return_reason"]) == ("expired", "idle")
    (left,) = ok(by.admin.post(url, asked))["refused"]
    assert (left["id"], left["code"]) == (claimed.pk, "not_open")


def test_reopen_takes_a_submission_back_until_another_is_in(
    by: Callers, claimed: Assignment, cast: Cast
) -> None:
    label_all(claimed)
    ok(by.ann.post(f"/assignments/{claimed.pk}/submit/"))
    assert ok(by.ann.post(f"/assignments/{claimed.pk}/reopen/"))["state"] == "open"
    ok(by.ann.post(f"/assignments/{claimed.pk}/submit/"))
    label_next(cast.ben, cast.project)
    refused(by.ann.post(f"/assignments/{claimed.pk}/reopen/"), 409, "too_late")
    refused(by.ben.post(f"/assignments/{claimed.pk}/reopen/"), 404)


def test_flags_and_time_at_work_are_kept_while_it_is_open(by: Callers, claimed: Assignment) -> None:
    here = f"/assignments/{claimed.pk}/"
    seen = ok(by.ann.post(f"{here}marks/", {"needs_discussion": True, "broken": False}))
    assert seen["needs_discussion"] is True and seen["broken"] is False
    ok(by.ann.post(f"{here}activity/", {"active_ms": 1500}), 204)
    claimed.refresh_from_db()
    assert claimed.active_ms == 1500
    for odd in ({}, {"active_ms": -1}, {"active_ms": 1.5}, {"active_ms": "1"}, {"active_ms": 10**12}):
        refused(by.ann.post(f"{here}activity/", odd), 400)
    refused(by.ann.post(f"{here}marks/", {"needs_discussion": "maybe"}), 400)
    label_all(claimed)
    ok(by.ann.post(f"{here}submit/"))
    refused(by.ann.post(f"{here}marks/", {"needs_discussion": False, "broken": True}), 409, "not_open")
