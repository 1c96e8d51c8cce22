"""The influence page and the switches on the settings page."""

from __future__ import annotations

from annotation.models import Exposure, Project, Trajectory
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.services.influencing import SEED, fill, judge_it, label_all_of_it
from tests.suggesting import suggest


def project() -> Project:
    return Project.objects.get(slug="bench")


def test_influence_before_labels_says_what_it_waits_for(browse, cast, at, text):
    people.import_records(cast.project, 1)
    page = text(browse("admin").get(at("influence", "bench")))
    assert "Nothing to compare yet" in page and "Observed, not randomised" in page
    assert "after labelling the step themselves" in page


def test_experiment_shows_arms_differences_and_moves(browse, cast, at, text):
    label_all_of_it(cast, fill(cast))
    response = browse("admin").get(at("influence", "bench"))
    page = " ".join(text(response).split())
    assert f"An experiment: chance decided for each task when its suggestions were shown. Seed {SEED}" in page
    assert [str(column["title"]) for column in response.context["columns"]] == [
        "Never shown",
        "Shown after their own label",
        "Shown after their own label",
        "Always shown",
    ]
    first = response.context["rows"][0]
    assert [cell["value"] for cell in first["cells"]] == ["50.0\u00a0%"] * 2 + ["100.0\u00a0%"] * 2
    assert response.context["contrasts"].rows[0]["cells"][0]["value"] == "+50.0"
    assert response.context["few"] == ["fewer than 20 tasks", "both annotators used one label only"]
    assert "– : fewer than 20 tasks." in page
    moved = response.context["moves"].rows[0].changes
    assert (moved.changed.value, moved.towards.value, moved.away.value) == (0.25, 0.25, 0.0)
    for name in ("severe", "strict", "kind"):
        assert name in page
    assert "All intervals on this page are for these annotators" in page
    assert "– : fewer than 30 labels." in page
    assert [row.name for row in response.context["annotators"].rows] == ["Ann", "Ben"]
    assert "No trajectory has been disputed so far" not in page and "of the disputes" in page


def test_influence_is_shown_before_and_after_once_somebody_has_seen_a_suggestion(browse, cast, at, text):
    row = fill(cast, seed=None)["sealed"][0]
    judge_it(cast.ann, row, (1, 1), then=(1, -1))
    judge_it(cast.ben, row, (1, -1))
    page = browse("admin").get(at("influence", "bench"))
    assert page.context["report"].seen and "before and after seeing suggestions" in text(page)
    same, kappa = page.context["dots"]["groups"]
    assert (same["percent"], kappa["percent"]) == (True, False)
    assert [row["who"] for row in same["rows"]][:1] == ["Annotators with each other"]
    first = same["rows"][0]
    assert (first["before"].value, first["after"].value) == (0.5, 1.0)
    assert float(first["was"]) < float(first["dot"].x)

    Exposure.objects.filter(kind="suggestion").delete()
    page = text(browse("admin").get(at("influence", "bench")))
    assert "No suggestion has been seen yet" in page and "before and after" not in page
    assert "Order of the queue" in page


def test_settings_switch_the_experiment_until_somebody_labels(browse, cast, at, text):
    people.import_records(cast.project, 6)
    admin, settings = browse("admin"), at("project-settings", "bench")
    assert "Randomise when suggestions are shown" in text(admin.get(settings))

    assert "The time at which suggestions are shown is now randomised." in text(
        admin.post(at("experiment", "bench"), follow=True)
    )
    first = project().experiment_seed
    page = text(admin.get(settings))
    assert str(first) in page and "Randomise again" in page
    admin.post(at("experiment", "bench"))
    assert project().experiment_seed not in (None, first)
    admin.post(at("experiment", "bench"), {"stop": ""})
    assert project().experiment_seed is None
    people.label_next(cast.ann, cast.project)
    page = text(admin.post(at("experiment", "bench"), follow=True))
    assert "somebody has already labelled here" in page and project().experiment_seed is None
    assert "Randomise when suggestions are shown" not in page


def test_settings_triage_and_take_it_back(browse, cast, at, text):
    rows = people.import_records(cast.project, 3)
    for name in ("one", "other"):
        judge = make_imported_judge(cast.project, name)
        for row in rows:
            suggest(judge, row, 1, outcome=1 if row != rows[2] or name == "one" else -1)
    admin, where = browse("admin"), at("triage", "bench")

    page = text(admin.post(where, {"batch_size": "1"}, follow=True))
    assert "1 contested, then 2 unanimous, then 0 without suggestions" in page
    assert Trajectory.objects.filter(live=True).first() == rows[2]
    assert project().triage_batch_size == 1 and str(project().triage_seed) in page
    page = text(admin.post(where, {"undo": ""}, follow=True))
    assert "back in random order" in page
    assert Trajectory.objects.filter(live=True).first() == rows[0]
    assert "less than or equal to 1000" in text(admin.post(where, {"batch_size": "9999"}, follow=True))
    assert project().triage_seed is None


def test_arm_is_told_to_no_annotator_beforehand(browse, cast, at, text):
    """The same pages, byte for byte, whichever seed is in force, until a trajectory is opened."""
    fill(cast, seed=None)
    pages: dict[str, set[str]] = {}
    for seed in (SEED, SEED + 1, None):
        Project.objects.filter(pk=cast.project.pk).update(experiment_seed=seed)
        ann = browse("ann")
        for name in ("project", "work", "guidelines"):
            body = text(ann.get(at(name, "bench")))
            pages.setdefault(name, set()).add(_without_tokens(body))
    assert {name: len(bodies) for name, bodies in pages.items()} == {"project": 1, "work": 1, "guidelines": 1}


def _without_tokens(body: str) -> str:
    """Without what is new on every page: the forms' tokens."""
    new = ("csrfmiddlewaretoken", "claim_key")
    lines = (line for line in body.splitlines() if not any(name in line for name in new))
    return "\n".join(lines)
