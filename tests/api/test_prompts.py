"""Prompts of a release over the API."""

from __future__ import annotations

import hashlib

import pytest

from annotation.models import PromptSet
from annotation.services import asking

from .shape import ok

PATH = "/projects/asked/releases/1.0/prompts/"


@pytest.mark.usefixtures("asked_release")
def test_prompts_are_made_followed_and_downloaded(by):
    begun = by.admin.post(PATH, {"name": "few", "shots": 2, "split": 0.5, "seed": 3})
    assert begun.status_code == 202
    place = begun.headers["Location"].removeprefix("/api/v1")
    assert place == f"{PATH}few/"
    waiting = ok(by.admin.get(place))
    assert (waiting["state"], waiting["counts"]) == ("queued", None)
    assert waiting["progress"] == {"done": 0, "total": 24}
    assert by.admin.get(f"{place}prompts.jsonl").status_code == 409

    asking.run_prompts(set_id=PromptSet.objects.get().pk)
    made = ok(by.judith.get(place))
    assert (made["state"], made["counts"]["test"], made["counts"]["train"]) == ("made", 6, 6)
    assert [(one["kind"], one["language"]) for one in made["counts"]["groups"]] == [
        ("answer", "zh"),
        ("choice", "en"),
    ]
    file = b"".join(by.judith.get(f"{place}prompts.jsonl").streaming_content)
    assert hashlib.sha256(file).hexdigest() == made["digest"]
    assert ok(by.judith.get(PATH))["results"] == [made]
    assert by.ann.get(place).status_code == by.judith.post(PATH, {"name": "more"}).status_code == 403


@pytest.mark.usefixtures("asked_release")
def test_what_cannot_be_is_refused_by_field(by):
    for body, field in (
        ({}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "p", "shots": 6}, "shots"),
        ({"name": "p", "split": 1}, "split"),
        ({"name": "p", "templates": {"tiny": "{{history}}"}}, "templates.tiny"),
        ({"name": "p", "templates": {"nowhere": "{{examples}}{{history}}{{options}}"}}, "templates.nowhere"),
        ({"name": "p", "shot": 1}, "shot"),
    ):
        refused = by.admin.post(PATH, body)
        assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, {field}), body
    assert not PromptSet.objects.exists()
