"""Projects, guidelines, subsets, progress and the audit log."""

import pytest

from annotation.models import Project
from tests.people import Cast, import_records, label_next, make_project

from .conftest import Callers
from .shape import ok, refused


def test_projects_listed_are_those_i_am_in(by: Callers) -> None:
    make_project("other")
    assert [row["slug"] for row in ok(by.ann.get("/projects/"))["results"]] == ["bench"]
    assert ok(by.oscar.get("/projects/"))["count"] == 0
    assert ok(by.root.get("/projects/"))["count"] == 2


def test_project_does_not_exist_to_an_outsider(by: Callers) -> None:
    there = refused(by.oscar.get("/projects/bench/"), 404, "not_found")
    nowhere = refused(by.oscar.get("/projects/no-such/"), 404, "not_found")
    assert there == nowhere


def test_superuser_makes_a_project_and_administers_it(by: Callers) -> None:
    made = ok(by.root.post("/projects/", {"name": "New one", "annotators_per_trajectory": 3}), 201)
    assert made["slug"] == "new-one" and made["annotators_per_trajectory"] == 3
    assert ok(by.root.get("/projects/new-one/members/"))["results"][0]["roles"] == ["admin"]
    assert "slug" in refused(by.root.post("/projects/", {"name": "New one"}), 400)["fields"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "x" * 121},
        {"name": "x", "slug": "no slug"},
        {"name": "x", "annotators_per_trajectory": 0},
        {"name": "x", "annotators_per_trajectory": 10**40},
        {"name": "x", "annotators_per_trajectory": "2"},
        {"name": "x", "annotators_per_trajectory": True},
        {"name": "x", "suggestion_policy": "sometimes"},
        {"name": "x\x00y"},
        {"name": "x", "colour": "red"},
        ["name"],
        "name",
        None,
        7,
    ],
)
def test_project_that_makes_no_sense_is_refused(by: Callers, body: object) -> None:
    refused(by.root.post("/projects/", body), 400)
    assert Project.objects.count() == 1


def test_admin_changes_settings_until_the_first_claim_fixes_n(by: Callers, cast: Cast) -> None:
    assert (
        ok(by.admin.patch("/projects/bench/", {"annotators_per_trajectory": 1}))["annotators_per_trajectory"]
        == 1
    )
    import_records(cast.project, 2)
    label_next(cast.ann, cast.project)
    refused(by.admin.patch("/projects/bench/", {"annotators_per_trajectory": 2}), 409, "annotators_locked")
    assert ok(by.admin.patch("/projects/bench/", {"name": "Better"}))["name"] == "Better"


def test_guidelines_get_a_version_when_they_change(by: Callers) -> None:
    assert ok(by.admin.post("/projects/bench/guidelines/", {"text": "# Be fair\n"}), 201)["version"] == 2
    assert ok(by.admin.post("/projects/bench/guidelines/", {"text": "# Be fair\n"}), 201)["version"] == 2
    listed = ok(by.ann.get("/projects/bench/guidelines/"))["results"]
    assert [(row["version"], row["text"]) for row in listed] == [(2, "# Be fair\n"), (1, "Judge each step.")]
    refused(by.ann.post("/projects/bench/guidelines/", {"text": "Mine"}), 403)


def test_subsets_are_made_and_set_up_by_admins(by: Callers) -> None:
    made = ok(by.admin.post("/projects/bench/subsets/", {"name": "bfcl", "suspend_on_user_turn": True}), 201)
    assert made["suspend_on_user_turn"] is True
    assert (
        ok(by.admin.patch("/projects/bench/subsets/bfcl/", {"suspend_on_user_turn": False}))["name"] == "bfcl"
    )
    assert ok(by.ann.get("/projects/bench/subsets/bfcl/"))["suspend_on_user_turn"] is False
    refused(by.ann.post("/projects/bench/subsets/", {"name": "mine"}), 403)
    refused(by.ann.patch("/projects/bench/subsets/bfcl/", {"suspend_on_user_turn": True}), 403)
    refused(by.admin.post("/projects/bench/subsets/", {"name": "no such name"}), 400)
    refused(by.admin.get("/projects/bench/subsets/nope/"), 404)


def test_progress_is_for_admins(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 3)
    label_next(cast.ann, cast.project)
    seen = ok(by.admin.get("/projects/bench/progress/"))
    assert seen["all"]["total"] == 3
    states = seen["subsets"][0]["by_state"]
    assert (states["untouched"], states["awaiting"], states["labelling"]) == (2, 1, 0)
    for caller in (by.ann, by.judith):
        refused(caller.get("/projects/bench/progress/"), 403)


def test_board_is_for_admins_and_annotators_read_their_own_part_of_it(by: Callers, cast: Cast) -> None:
    import_records(cast.project, 3)
    label_next(cast.ann, cast.project)
    ok(
        by.admin.patch(
            "/projects/bench/", {"pay_rate": "2.50", "pay_currency": "EUR", "pay_per": "trajectory"}
        )
    )
    seen = ok(by.admin.get("/projects/bench/board/"))
    assert seen["outlook"]["left"] == 5 and seen["outlook"]["end"] is None
    assert {row["person"]["username"]: row["in_all"]["submitted"] for row in seen["people"]} == {
        "ann": 1,
        "ben": 0,
        "cleo": 0,
    }
    assert (seen["cost"]["so_far"], seen["cost"]["in_all"]["value"]) == ("2.50", 15.0)
    mine = ok(by.ann.get("/projects/bench/own-work/"))
    assert (mine["own"]["in_all"]["submitted"], mine["own"]["pay"], mine["pay"]["rate"]) == (
        1,
        "2.50",
        "2.50",
    )
    (day,) = ok(by.ann.get("/projects/bench/hours/"))["results"]
    assert (day["person"]["username"], day["submitted"], day["pay"]) == ("ann", 1, "2.50")
    assert ok(by.ben.get("/projects/bench/hours/?person=ann"))["results"] == []
    refused(by.ann.get("/projects/bench/hours/?days=0"), 400)
    for caller in (by.ann, by.judith):
        refused(caller.get("/projects/bench/board/"), 403)
    for path in ("own-work", "hours"):
        refused(by.judith.get(f"/projects/bench/{path}/"), 403)
    refused(by.admin.patch("/projects/bench/", {"pay_currency": ""}), 400)


def test_audit_log_is_for_admins_and_pages(by: Callers) -> None:
    first = ok(by.admin.get("/projects/bench/audit/", {"page_size": 2}))
    assert len(first["results"]) == 2 and first["next"]
    assert first["results"][0]["actor"] is None, "the operator set this project up"
    ok(by.admin.patch("/projects/bench/", {"name": "Renamed"}))
    newest = ok(by.admin.get("/projects/bench/audit/"))["results"][0]
    assert newest["verb"] == "project.change" and newest["actor"]["username"] == "admin"
    for caller in (by.ann, by.judith):
        refused(caller.get("/projects/bench/audit/"), 403)


def test_project_of_steps_begins_with_examples_unless_it_has_guidelines_of_its_own(by: Callers) -> None:
    bodies: list[tuple[dict[str, object], bool]] = [
        ({}, True),
        ({"training_examples": False}, False),
        ({"guidelines": "Ours"}, False),
        ({"guidelines": "Ours", "training_examples": True}, True),
        ({"copy_from": "bench"}, False),
        ({"kind": "decisions"}, False),
    ]
    for number, (body, begun) in enumerate(bodies):
        made = ok(by.root.post("/projects/", {"name": f"New {number}", **body}), 201)
        subsets = ok(by.root.get(f"/projects/{made['slug']}/subsets/"))["results"]
        assert [one["name"] for one in subsets] == ["training"] * begun
    refused(by.root.post("/projects/", {"name": "X", "kind": "decisions", "training_examples": True}), 400)
    ok(by.root.post("/projects/", {"name": "X", "kind": "decisions"}), 201)
    later = "/projects/new-1/training/examples/"
    assert ok(by.root.post(later, {"language": "zh-hans"}), 202)["state"] == "queued"
    refused(by.root.post(later, {"language": "fr"}), 400)


def test_project_starts_from_a_template_or_as_a_copy_without_data(by: Callers, cast: Cast) -> None:
    gold = ok(by.root.post("/projects/", {"name": "Gold", "template": "gold", "claim_limit": 5}), 201)
    chosen = ("annotators_per_trajectory", "suggestion_policy", "claim_limit")
    assert [gold[name] for name in chosen] == [3, "never", 5]
    copy = ok(by.root.post("/projects/", {"name": "Copy", "copy_from": "gold"}), 201)
    assert (copy["annotators_per_trajectory"], copy["claim_limit"]) == (3, 5)
    refused(by.root.post("/projects/", {"name": "X", "copy_from": "nowhere"}), 404)
    refused(by.root.post("/projects/", {"name": "X", "template": "nothing"}), 400)
