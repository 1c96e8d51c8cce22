"""`version`: who changes what somebody else has changed meanwhile is refused, and told what is there."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Guideline, Membership, Project
from annotation.services import projects
from tests import people
from tests.fixtures.judges import make_imported_judge


@pytest.fixture
def addresses(cast: Any) -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    """Addresses with versions: each with a change, and another."""
    people.import_records(cast.project, 1)
    member = Membership.objects.get(user=cast.ann)
    judge = make_imported_judge(cast.project)
    return {
        "project": ("/projects/bench/", {"name": "Theirs"}, {"name": "Mine", "claim_limit": 3}),
        "subset": (
            "/projects/bench/subsets/tiny/",
            {"suspend_on_user_turn": True},
            {"suspend_on_user_turn": False},
        ),
        "member": (
            f"/projects/bench/members/{member.pk}/",
            {"roles": ["annotator", "adjudicator"]},
            {"roles": ["annotator", "admin"]},
        ),
        "judge": (f"/judges/{judge.pk}/", {"name": "Theirs"}, {"name": "Mine"}),
    }


@pytest.mark.parametrize("what", ["project", "subset", "member", "judge"])
def test_change_from_an_older_version_is_refused_with_what_is_there(by, addresses, what):
    address, theirs, mine = addresses[what]
    began = by.admin.get(address).json()["version"]
    now = by.root.patch(address, {**theirs, "version": began}).json()
    assert now["version"] != began

    refusal = by.admin.patch(address, {**mine, "version": began})

    if what == "subset":  # what was wanted was there before, and is not now
        assert theirs.items() <= refusal.json()["error"]["details"]["current"].items()
    assert refusal.status_code == 409 and refusal.json()["error"]["code"] == "stale_version"
    details = refusal.json()["error"]["details"]
    assert details["version"] == now["version"] and details["differing"]
    assert by.admin.get(address).json() == now
    # who says what is there already, or does not care, is not refused
    assert by.admin.patch(address, {**theirs, "version": began}).status_code == 200
    assert by.admin.patch(address, {**mine, "version": details["version"]}).status_code == 200
    assert by.admin.patch(address, theirs).status_code == 200


def test_guidelines_written_from_an_older_version_are_refused_with_the_text_in_force(by, cast):
    address = "/projects/bench/guidelines/"
    projects.write_guidelines(actor=cast.root, project=cast.project, text="Theirs.")
    refusal = by.admin.post(address, {"text": "Mine.", "based_on": 1})
    assert refusal.status_code == 409
    assert refusal.json()["error"]["details"] == {"version": 2, "text": "Theirs."}
    assert by.admin.post(address, {"text": "Mine.", "based_on": 2}).status_code == 201
    assert Guideline.objects.count() == 3


def test_version_names_the_same_values_by_the_same_word(by, cast):
    version = Project.objects.get().version
    projects.update_project(actor=cast.root, project=cast.project, values={"name": "New"})
    projects.update_project(actor=cast.root, project=cast.project, values={"name": cast.project.name})
    assert by.admin.get("/projects/bench/").json()["version"] == version
