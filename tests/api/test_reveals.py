"""Suggestions over the API: nothing before the reveal, no names ever, and again what was revealed."""

from __future__ import annotations

import json

import pytest

from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, AuditEvent, Exposure, LabelEvent, SuggestedLabel
from annotation.policies import OPERATOR
from annotation.services import projects
from tests.fixtures.judges import make_imported_judge
from tests.people import (
    Cast,
    change,
    claim,
    import_records,
    label_all,
    make_disputed,
    make_member,
    make_records,
    open_case,
)
from tests.suggesting import suggest

from .conftest import Callers
from .shape import ok, queries, refused

SECRETS = ("a judge of name", "on the outcome", "on 2", "on 4", "murmur")


def prepared(cast: Cast, steps: int = 2, *, policy: str = "after_label") -> str:
    """A trajectory with a judge's suggestions, claimed by ann; the address of her reveals."""
    (row,) = import_records(cast.project, make_records(1, steps=steps))
    suggest(make_imported_judge(cast.project, "a judge of name"), row, comment="a murmur")
    projects.update_project(actor=OPERATOR, project=cast.project, values={"suggestion_policy": policy})
    return f"/assignments/{claim(cast.ann, cast.project).pk}/reveals/"


def save(by: Callers, here: str, *changes: dict) -> None:
    body = {"op_id": f"{len(changes)}-{LabelEvent.objects.count()}", "changes": list(changes)}
    ok(by.ann.post(here.replace("reveals", "labels"), body))


def test_reveal_brings_what_was_asked_for_and_nothing_is_there_before(by: Callers, cast: Cast) -> None:
    here = prepared(cast)
    assert ok(by.ann.get(here)) == {"revealed": []}
    refused(by.ann.post(here, {"message_index": 2}), 409, "label_first")
    save(by, here, change(2, 1), change(4, 1))

    answer = ok(by.ann.post(here, {"message_index": 2}))

    advice = {"judge": "Judge 1", "value": -1, "recalibrated": None, "reason": "a judge of name on 2"}
    assert answer == {"revealed": [{"message_index": 2, "suggestions": [advice]}]}
    assert ok(by.ann.get(here)) == answer


def test_reveal_never_sends_names_and_comments_to_an_annotator(by: Callers, cast: Cast) -> None:
    here = prepared(cast, policy="always")

    said = json.dumps(ok(by.ann.post(here, {"all": True})))

    assert '"judge": "Judge 1"' in said
    assert "murmur" not in said
    keys = {key for item in json.loads(said)["revealed"] for one in item["suggestions"] for key in one}
    assert keys == {"judge", "value", "recalibrated", "reason"}


@pytest.mark.parametrize("policy", ["after_label", "after_submit", "always", "never"])
def test_reveal_comes_before_anything_of_it_in_any_answer(by: Callers, cast: Cast, policy: str) -> None:
    here = prepared(cast, policy=policy)
    mine = Assignment.objects.get()
    paths = [
        here,
        here.replace("reveals/", ""),
        f"/trajectories/{mine.trajectory_id}/",
        "/projects/bench/assignments/",
        "/projects/bench/",
        "/me/",
    ]
    for path in paths:
        said = by.ann.get(path).content.decode()
        assert not [secret for secret in SECRETS if secret in said], path
    page = by.ann.client
    page.force_login(cast.ann)
    said = page.get(f"/assignments/{mine.pk}/").content.decode()
    assert not [secret for secret in SECRETS if secret in said]


def test_outcome_and_all_of_it(by: Callers, cast: Cast) -> None:
    here = prepared(cast)
    refused(by.ann.post(here, {"all": True}), 409, "label_first")
    save(by, here, change(2, 1), change(None, 1))

    (outcome,) = ok(by.ann.post(here, {"outcome": True}))["revealed"]

    assert outcome["message_index"] is None
    assert outcome["suggestions"][0]["reason"] == "a judge of name on the outcome"
    assert [one["message_index"] for one in ok(by.ann.post(here, {"all": True}))["revealed"]] == [2, None]
    assert [one["message_index"] for one in ok(by.ann.get(here))["revealed"]] == [2, None]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message_index": 3},
        {"message_index": True},
        {"message_index": 2, "all": True},
        {"outcome": False},
        {"step": 2},
    ],
)
def test_reveal_of_nothing_or_too_much_is_refused(by: Callers, cast: Cast, body: dict) -> None:
    refused(by.ann.post(prepared(cast, policy="always"), body), 400)


def test_admin_reads_names_comments_and_all_at_the_trajectory(by: Callers, cast: Cast) -> None:
    prepared(cast, policy="never")
    row = Assignment.objects.get().trajectory_id

    seen = ok(by.admin.get(f"/trajectories/{row}/judgements/"))

    advice = {
        "judge": "a judge of name",
        "value": -1,
        "recalibrated": None,
        "reason": "a judge of name on 2",
        "comment": "",
    }
    assert seen["steps"][0]["suggestions"] == [advice]
    assert seen["outcome"]["suggestions"][0]["comment"] == "a murmur"

    # a bare value has been seen, too
    SuggestedLabel.objects.update(reason="")
    ok(by.root.get(f"/trajectories/{row}/judgements/"))
    noted = Exposure.objects.filter(trajectory=row, kind=ExposureKind.SUGGESTION)
    assert noted.filter(user=cast.root).count() == noted.filter(user=cast.admin).count() == 3


def test_admin_who_is_labelling_it_sees_it_as_an_annotator(by: Callers, cast: Cast) -> None:
    make_member(cast.project, cast.admin, "admin", "annotator")
    prepared(cast, policy="after_label")
    own = claim(cast.admin, cast.project)

    refused(by.admin.post(f"/assignments/{own.pk}/reveals/", {"message_index": 2}), 409, "label_first")
    refused(by.admin.get(f"/trajectories/{own.trajectory_id}/judgements/", {"reveal": "true"}), 403)


# ── cases ─────────────────────────────────
def test_adjudicator_reveals_on_purpose_what_they_have_decided_and_it_is_noted(
    by: Callers, cast: Cast
) -> None:
    (row,) = import_records(cast.project, 1)
    suggest(make_imported_judge(cast.project, "a judge of name"), row)
    make_disputed(cast)
    case = open_case(cast.judith, row)
    here = f"/adjudications/{case.pk}/"
    assert ok(by.judith.get(f"{here}reveals/")) == {"revealed": []}
    assert "judge of name" not in by.judith.get(here).content.decode()
    ok(by.judith.post(f"{here}decisions/", {"message_index": 2, "value": 1}))

    refused(by.judith.post(f"{here}reveals/", {"message_index": 4}), 409, "decide_first")
    refused(by.judith.post(f"{here}reveals/", {"outcome": True}), 409, "decide_first")
    (only,) = ok(by.judith.post(f"{here}reveals/", {"all": True}))["revealed"]
    assert only["message_index"] == 2
    ok(by.judith.post(f"{here}decisions/", {"message_index": 4, "value": 1}))
    for index in (2, 4):
        (step,) = ok(by.judith.post(f"{here}reveals/", {"message_index": index}))["revealed"]
        assert step["suggestions"][0]["judge"] == "Judge 1"
    ok(by.judith.post(f"{here}reveals/", {"message_index": 4}))

    assert [one["message_index"] for one in ok(by.judith.get(f"{here}reveals/"))["revealed"]] == [2, 4]
    noted = AuditEvent.objects.filter(verb="case.reveal").order_by("pk")
    assert [(one.detail["steps"], one.detail["decided"]) for one in noted] == [([2], [2]), ([4], [4])]
    assert Exposure.objects.filter(user=cast.judith, kind="suggestion").count() == 2
    refused(by.admin.post(f"{here}reveals/", {"all": True}), 404)
    ok(by.judith.post(f"{here}release/"))
    refused(by.judith.post(f"{here}reveals/", {"outcome": True}), 409, "case_closed")
    refused(by.judith.get(f"{here}reveals/"), 409, "case_closed")


# ── queries ───────────────────────────────
@pytest.mark.parametrize(("steps", "judges"), [(2, 1), (30, 4)])
def test_reveal_takes_as_many_queries_however_much_is_revealed(
    by: Callers, cast: Cast, steps: int, judges: int
) -> None:
    here = prepared(cast, steps)
    mine = Assignment.objects.get()
    for number in range(judges - 1):
        suggest(make_imported_judge(cast.project, f"another {number}"), mine.trajectory)
    label_all(mine)
    by.ann.get("/me/")
    found = {
        "nothing yet": queries(lambda: by.ann.get(here)),
        "one step": queries(lambda: by.ann.post(here, {"message_index": 2})),
        "all": queries(lambda: by.ann.post(here, {"all": True})),
        "all again": queries(lambda: by.ann.post(here, {"all": True})),
        "shown again": queries(lambda: by.ann.get(here)),
    }
    assert found == {"nothing yet": 4, "one step": 16, "all": 17, "all again": 13, "shown again": 7}
