"""Deriving decisions over the API, and what annotators are sent of them."""

from __future__ import annotations

import json

import pytest

from annotation.models import ImportFile, Trajectory
from annotation.services import derive

PATH = "/projects/bench/releases/1.0/decisions/"


@pytest.mark.usefixtures("choices", "parted_release")
def test_derivation_is_previewed_and_its_annotators_are_sent_no_key_origin_or_source(by):
    preview = by.admin.get(f"{PATH}?into=choices&recipe=first-error").json()
    assert preview == {
        "counts": {
            "histories": 2,
            "items": 2,
            "tasks": 2,
            "pairs": 2,
            "left_out": 0,
            "first_errors": 2,
            "with_sibling": 2,
            "uncorrected": 0,
            "corrected": 0,
            "nothing_wrong": 0,
            "no_right_action": 0,
        },
        "annotators": 5,
        "needed": 2,
        "too_few": 0,
    }
    begun = by.admin.post(PATH, {"into": "choices", "set": "first", "recipe": "first-error"})
    assert begun.status_code == 202
    assert begun.headers["Location"] == f"/api/v1/imports/{begun.json()['id']}/"
    derive.run_import(source_id=ImportFile.objects.get(project__slug="choices").pk)
    told = by.admin.get(begun.headers["Location"].removeprefix("/api/v1")).json()
    assert {"what": "first errors with a right action beside them", "count": 2} in told["notes"]

    claimed = by.cleo.post("/projects/choices/claim/").json()
    sent = json.dumps([claimed, by.cleo.get(f"/assignments/{claimed['id']}/").json()])
    raw = json.loads(Trajectory.objects.get(pk=claimed["trajectory"]).content.raw_bytes())
    sources = [step["record_id"] for option in raw["options"] for step in option["source"]["steps"]]
    assert len(sources) == 2
    for secret in (*sources, "bench 1.0", "first-error", "tristep-decision", '"key"', '"origin": "step"'):
        assert secret not in sent
    assert "The answer to" in sent


@pytest.mark.usefixtures("parted_release")
def test_derivation_says_what_is_wrong_with_it(by, choices):
    for body, status, code in (
        ({"into": "bench", "set": "first", "recipe": "shared"}, 400, "other_kind"),
        ({"into": "nowhere", "set": "first", "recipe": "shared"}, 404, "not_found"),
        ({"into": "choices", "set": "not a slug", "recipe": "shared"}, 400, "invalid"),
        ({"into": "choices", "set": "first", "recipe": "shared", "options": 1}, 400, "invalid"),
    ):
        answer = by.admin.post(PATH, body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), body
    assert not ImportFile.objects.filter(project=choices).exists()
