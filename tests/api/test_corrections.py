"""Corrections over the API: from a first error that waits to what judges propose."""

from __future__ import annotations

import pytest

from annotation.models import Correction
from tests.fixtures.judges import make_imported_judge

CORRECTIONS = "/projects/bench/corrections/"


@pytest.mark.usefixtures("parted")
def test_correction_is_taken_read_checked_saved_and_withdrawn(by):
    row = by.cleo.post(CORRECTIONS).json()
    path = f"/corrections/{row['id']}/"
    assert (row["author"], row["state"], row["version"], row["message"]) == ("cleo", "open", 0, None)
    detail = by.cleo.get(path).json()
    assert detail["trajectory"]["messages"][-1]["index"] == row["message_index"] == 4
    assert detail["trajectory"]["seen_as"] == "corrector"
    assert detail["trajectory"]["policy_model"] is None
    (sibling,) = detail["siblings"]
    assert sibling["message"]["content"].endswith("is 0.")

    call = {"name": "search", "arguments": {"query": 7}}
    checked = by.cleo.post(f"{path}check/", {"calls": [call, {"name": "fly", "arguments": "{"}]}).json()
    assert [fault["field"] for fault in checked["faults"]] == ["calls[1].arguments", "calls[0].arguments"]
    said = {"version": 0, "answer": "action", "origin": "written", "calls": [call]}
    refused = by.cleo.post(path, said)
    assert (refused.status_code, refused.json()["error"]["fields"]) == (
        400,
        {"calls[0].arguments": "query must be a string, not a whole number"},
    )
    call["arguments"] = {"query": "Bern"}
    saved = by.cleo.post(path, said).json()
    assert (saved["version"], saved["error_class"]) == (1, "should_have_called")
    assert by.cleo.post(path, said).json()["version"] == 1
    stale = by.cleo.post(path, {**said, "origin": "sibling", "sibling": sibling["id"]})
    assert stale.json()["error"]["code"] == "stale_version"
    assert stale.json()["error"]["details"]["current"]["message"]["tool_calls"]
    taken = by.cleo.post(path, {**said, "version": 1, "origin": "sibling", "sibling": sibling["id"]})
    assert (taken.json()["origin"], taken.json()["error_class"]) == ("sibling", "")

    assert by.ann.get(path).status_code == 404
    assert [one["id"] for one in by.admin.get(CORRECTIONS).json()["results"]] == [row["id"]]
    assert by.cleo.post(f"{path}withdraw/").json()["state"] == "withdrawn"
    assert by.cleo.get(CORRECTIONS).json()["results"] == []
    assert len(by.cleo.get(f"{CORRECTIONS}?state=withdrawn").json()["results"]) == 1
    assert by.cleo.post(f"{path}restore/").json()["state"] == "saved"


def test_correction_is_proposed_by_a_judge_and_sealed_until_ones_own_is_saved(by, parted):
    judge = make_imported_judge(parted.project)
    waiting = by.admin.get("/projects/bench/first-errors/").json()["results"]
    assert len(waiting) == 2
    given = [
        {"trajectory": one["trajectory"], "message_index": index, "answer": "action", "text": "Bern?"}
        for one, index in zip(waiting, (4, 2), strict=True)
    ]
    answer = by.admin.post(f"/judges/{judge.pk}/corrections/", {"proposals": given})
    assert (answer.json()["stored"], [one["code"] for one in answer.json()["refused"]]) == (
        1,
        ["no_first_error"],
    )
    row = by.admin.post(CORRECTIONS, {"first_error": waiting[0]["id"]}).json()
    path = f"/corrections/{row['id']}/"
    assert by.admin.post(f"{path}proposals/").json()["error"]["code"] == "save_first"
    by.admin.post(path, {"version": 0, "answer": "nothing_wrong"})
    (shown,) = by.admin.post(f"{path}proposals/").json()["proposals"]
    assert (shown["judge"], shown["message"]["content"]) == (judge.name, "Bern?")
    taken = by.admin.post(
        path, {"version": 1, "answer": "action", "origin": "judge", "proposal": shown["id"]}
    )
    assert taken.json()["origin"] == "judge"
    assert Correction.objects.get(author=parted.admin).proposals_seen_at is not None


@pytest.mark.usefixtures("parted", "choices")
def test_correction_says_what_is_wrong_with_a_request(by):
    row = by.cleo.post(CORRECTIONS).json()
    path = f"/corrections/{row['id']}/"
    for body, fields in (
        ({}, {"version", "answer"}),
        ({"version": 0, "answer": "action"}, {"origin"}),
        ({"version": 0, "answer": "action", "origin": "written", "text": "a\x00b"}, {"text"}),
        (
            {"version": 0, "answer": "action", "origin": "written", "calls": [{"name": "f"}]},
            {"calls.0.arguments"},
        ),
        ({"version": 0, "answer": "nothing_wrong", "because": "x"}, {"because"}),
    ):
        refused = by.cleo.post(path, body)
        assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, fields), body
    elsewhere = by.cleo.post("/projects/choices/corrections/").json()["error"]["code"]
    assert elsewhere == "not_of_this_kind"
