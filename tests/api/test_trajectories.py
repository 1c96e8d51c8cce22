"""Trajectories as each may see them."""

from __future__ import annotations

import json

import pytest

from annotation.models import Exposure
from tests.fixtures.shared_rows import shared_rows
from tests.people import (
    Cast,
    claim,
    import_file,
    import_records,
    label_next,
    make_disputed,
    make_member,
    make_record,
)

from .conftest import Callers
from .shape import ok, refused

LIST = "/projects/bench/trajectories/"


@shared_rows
def odd(cast: Cast) -> int:
    """One trajectory with everything real logs contain; its id."""
    record = make_record(
        7,
        question="What\x00 about \ud800 this?",
        reward_info={"reward": 1.0, "margin": float("nan"), "limit": float("-inf")},
        step_labels={"2": 1, "6": -1},
        final_label=-1,
    )
    record["messages"][2]["content"] = "<script>alert(1)</script> \x00 \udfff"
    record["messages"][2]["tool_calls"][0]["function"]["arguments"] = '{"x": NaN, "y": [1, Infinity]}'
    record["messages"].insert(4, {"role": "tool", "content": "unasked"})
    record["messages"].insert(
        5,
        {"role": "user", "content": [{"type": "text", "text": "a part"}, {"type": "odd", "n": float("inf")}]},
    )
    import_file(cast.project, json.dumps(record).encode())
    return int(cast.project.trajectories.get().pk)


def test_admins_list_and_filter(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 3)
    import_records(cast.project, 2, subset="more")
    make_disputed(cast)
    listed = ok(by.admin.get(LIST))
    assert listed["count"] == 5 and listed["results"][0]["question"] == "Question 0?"
    assert ok(by.admin.get(LIST, {"subset": "more"}))["count"] == 2
    found = ok(by.admin.get(LIST, {"state": "disputed"}))["results"]
    assert [row["record_id"] for row in found] == ["tiny:0:0"] and found[0]["free_slots"] == 0
    assert ok(by.admin.get(LIST, {"record_id": "tiny:1:0"}))["count"] == 2
    refused(by.admin.get(LIST, {"state": "lost"}), 400)
    refused(by.admin.get(LIST, {"record_id": "a\x00b"}), 400)


def test_trajectory_of_real_logs_comes_out_exactly_and_as_strict_json(
    by: Callers, cast: Cast, odd: int
) -> None:
    seen = ok(by.admin.get(f"/trajectories/{odd}/"))
    assert seen["question"] == "What\x00 about \ud800 this?"
    step = seen["messages"][2]
    assert step["content"] == "<script>alert(1)</script> \x00 \udfff" and step["is_step"]
    call = step["tool_calls"][0]
    assert call["arguments_raw"] == '{"x": NaN, "y": [1, Infinity]}'
    assert not call["parsed"] or call["arguments"] == {"x": "NaN", "y": [1, "Infinity"]}
    assert seen["messages"][3]["answers"] == {"message_index": 2, "position": 0}
    assert seen["messages"][4]["answers"] is None
    assert [part["kind"] for part in seen["messages"][5]["parts"]] == ["text", "other"]
    assert seen["hints"]["reward_info"] == {"reward": 1.0, "margin": "NaN", "limit": "-Infinity"}


def test_annotator_sees_it_from_the_claim_on_without_hints(by: Callers, cast: Cast, odd: int) -> None:
    refused(by.ann.get(f"/trajectories/{odd}/"), 404)
    claim(cast.ann, cast.project)
    seen = ok(by.ann.get(f"/trajectories/{odd}/"))
    assert seen["seen_as"] == "annotator" and seen["hints"] is None and seen["policy_model"] is None
    assert seen["reference_answer"] == {"target": ["Truth 7"]}


def test_reference_answer_is_not_sent_when_the_policy_hides_it(by: Callers, cast: Cast, odd: int) -> None:
    ok(by.admin.patch("/projects/bench/", {"show_reference_answer": False}))
    claim(cast.ann, cast.project)
    answer = by.ann.get(f"/trajectories/{odd}/")
    assert ok(answer)["reference_answer"] is None and b"Truth" not in answer.content


def test_labels_of_the_file_are_in_the_raw_record_alone_and_that_is_for_admins(
    by: Callers, cast: Cast, odd: int
) -> None:
    claim(cast.ann, cast.project)
    for caller in (by.ann, by.admin):
        assert b"step_labels" not in caller.get(f"/trajectories/{odd}/").content
    refused(by.ann.get(f"/trajectories/{odd}/raw/"), 403)
    answer = by.admin.get(f"/trajectories/{odd}/raw/")
    assert answer.status_code == 200 and answer["X-Content-Type-Options"] == "nosniff"
    assert json.loads(answer.content)["step_labels"] == {"2": 1, "6": -1}


def test_admin_who_labels_it_sees_it_as_an_annotator_while_labelling(
    by: Callers, cast: Cast, odd: int
) -> None:
    make_member(cast.project, cast.admin, "admin", "annotator")
    claim(cast.admin, cast.project)
    assert ok(by.admin.get(f"/trajectories/{odd}/"))["seen_as"] == "annotator"
    refused(by.admin.get(f"/trajectories/{odd}/raw/"), 403)
    refused(by.admin.get(f"/trajectories/{odd}/judgements/"), 403)


def test_adjudicator_sees_it_once_they_have_the_case(by: Callers, cast: Cast) -> None:
    row = import_records(cast.project, 1)[0]
    refused(by.judith.get(f"/trajectories/{row.pk}/"), 404)
    make_disputed(cast)
    refused(by.judith.get(f"/trajectories/{row.pk}/"), 404)
    ok(by.judith.post("/projects/bench/adjudications/", {"trajectory": row.pk}), 201)
    assert ok(by.judith.get(f"/trajectories/{row.pk}/"))["seen_as"] == "adjudicator"
    refused(by.judith.get(f"/trajectories/{row.pk}/raw/"), 403)


def test_admins_read_all_labels_and_it_is_noted(by: Callers, cast: Cast) -> None:
    row = import_records(cast.project, 1)[0]
    label_next(cast.ann, cast.project, [1, -1], outcome=0, note="as I see it")
    seen = ok(by.admin.get(f"/trajectories/{row.pk}/judgements/"))
    assert [side["name"] for side in seen["annotators"]] == ["Ann"]
    assert [step["votes"][0]["value"] for step in seen["steps"]] == [1, -1]
    assert seen["outcome"]["votes"][0]["note"] == "as I see it"
    assert Exposure.objects.filter(user=cast.admin, trajectory=row, kind="label").count() == 1
    for caller in (by.ann, by.ben, by.judith):
        assert caller.get(f"/trajectories/{row.pk}/judgements/").status_code in (403, 404)


def test_admin_who_could_still_claim_it_is_asked_before_seeing_the_labels(by: Callers, cast: Cast) -> None:
    make_member(cast.project, cast.admin, "admin", "annotator")
    row = import_records(cast.project, 1)[0]
    label_next(cast.ann, cast.project)
    refused(by.admin.get(f"/trajectories/{row.pk}/judgements/"), 409, "asks_first")
    assert not Exposure.objects.exists()
    ok(by.admin.get(f"/trajectories/{row.pk}/judgements/", {"reveal": "true"}))
    refused(by.admin.post("/projects/bench/claim/"), 409, "nothing_left")


@pytest.mark.parametrize("pk", ["0", "99999", "9" * 30])
def test_trajectory_that_is_not_there_is_404(by: Callers, pk: str) -> None:
    for ending in ("", "raw/", "judgements/"):
        refused(by.admin.get(f"/trajectories/{pk}/{ending}"), 404, "not_found")


def test_admins_tag_trajectories_and_filter_by_tag(by: Callers, cast: Cast) -> None:
    first, second = sorted(row.pk for row in import_records(cast.project, 2))
    url = "/projects/bench/tags/"
    assert ok(by.admin.post(url, {"trajectories": [first, second], "add": "Odd"}))["changed"] == [
        first,
        second,
    ]
    lost = ok(by.admin.post(url, {"trajectories": [first, second], "add": "Odd"}))
    assert lost["changed"] == [] and [row["code"] for row in lost["refused"]] == ["tagged", "tagged"]
    assert ok(by.admin.post(url, {"trajectories": [first], "remove": "odd"}))["changed"] == [first]
    (tag,) = ok(by.admin.get(url))["results"]
    assert (tag["name"], tag["trajectories"]) == ("Odd", 1)
    (row,) = ok(by.admin.get(LIST, {"tag": "ODD"}))["results"]
    assert row["id"] == second and row["tags"] == ["Odd"]
    assert ok(by.admin.patch(f"/tags/{tag['id']}/", {"name": "Even"})) == {**tag, "name": "Even"}
    refused(by.admin.post(url, {"trajectories": [first], "add": "a", "remove": "b"}), 400)
    refused(by.ann.post(url, {"trajectories": [first], "add": "a"}), 403)
    assert by.admin.delete(f"/tags/{tag['id']}/").status_code == 204
    assert ok(by.admin.get(LIST))["results"][0]["tags"] == []


def test_trajectory_says_everything_once_to_who_asks_for_it_and_is_half_as_large(by, cast):
    record = make_record(steps=2)
    large = {"role": "assistant", "content": "x" * 100_000, "tool_calls": []}
    asked = {
        "id": "c",
        "type": "function",
        "function": {"name": "f", "arguments": json.dumps({"q": "y" * 100_000})},
    }
    record["messages"] += [large, {**large, "content": None, "tool_calls": [asked]}]
    (row,) = import_records(cast.project, [record])
    whole, once = (by.admin.get(f"/trajectories/{row.pk}/{query}") for query in ("", "?once=true"))
    assert len(once.content) < 0.55 * len(whole.content)
    text, call = (once.json()["messages"][index] for index in (-2, -1))
    assert (text["content"], text["parts"]) == ("x" * 100_000, [])
    assert call["tool_calls"][0]["arguments"] is None and call["tool_calls"][0]["parsed"]
    assert json.loads(call["tool_calls"][0]["arguments_raw"]) == {"q": "y" * 100_000}
    assert whole.json()["messages"][-2]["parts"][0]["text"] == "x" * 100_000


def test_trajectories_are_assigned_and_withdrawn(by: Callers, cast: Cast) -> None:
    first, second = (row.pk for row in import_records(cast.project, 2))
    claim(cast.ann, cast.project)
    url = "/projects/bench/reservations/"
    sent = {"trajectories": [first, second], "annotators": ["ann"]}
    assigned = ok(by.admin.post(url, sent))
    assert [(row["trajectory"], row["annotator"]) for row in assigned["assigned"]] == [(second, "ann")]
    assert [(row["id"], row["code"]) for row in assigned["refused"]] == [(first, "had_before")]
    dealt = ok(by.admin.post(url, {"trajectories": [first, second], "evenly": True}))
    assert len(dealt["assigned"]) == 2 and dealt["refused"] == []
    assert ok(by.admin.get(url))["count"] == 3
    listed = {row["id"]: (row["free_slots"], row["reserved"]) for row in ok(by.admin.get(LIST))["results"]}
    assert listed == {first: (1, 1), second: (2, 2)}
    gone = ok(by.admin.post(f"{url}withdraw/", sent))
    assert gone["withdrawn"] == [second] and [row["code"] for row in gone["refused"]] == ["not_assigned"]
    refused(by.admin.post(url, {**sent, "annotators": ["judith"]}), 400)
    refused(by.ann.post(url, sent), 403)
