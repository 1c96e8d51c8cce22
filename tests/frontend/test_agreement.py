"""The agreement page: figures, the confusion, and what is undefined in words."""

from __future__ import annotations

from tests import people


def test_before_anything_is_settled_the_page_says_so(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.label_next(cast.ann, cast.project)
    assert "Nothing to compare yet" in text(browse("admin").get(at("agreement", "bench")))


def test_figures_confusion_and_subsets(browse, cast, at, text):
    people.import_records(cast.project, people.make_records(2, steps=4), subset="one")
    people.import_records(cast.project, 1, subset="two")
    for user, values in ((cast.ann, [1, 1, -1, -1]), (cast.ben, [1, 0, -1, 1])):
        people.label_next(user, cast.project, values)
        people.label_next(user, cast.project, 1)
        people.label_next(user, cast.project, [1, 1])
    page = text(browse("admin").get(at("agreement", "bench")))
    assert "80.0\u00a0%" in page
    response = browse("admin").get(at("agreement", "bench") + "?subset=one")
    matrix = response.context["shown"]["matrix"]
    assert matrix["total"] == 8
    assert sum(row["counts"][index] for index, row in enumerate(matrix["rows"])) == 6
    assert "two" in page
    assert "both annotators used one label only" in page
    assert "an interval needs at least 20 tasks" in page


def test_an_unknown_subset_shows_all(browse, cast, at):
    people.import_records(cast.project, 1)
    people.make_disputed(cast)
    response = browse("admin").get(at("agreement", "bench") + "?subset=<script>")
    assert response.context["shown"]["name"] == ""


def test_annotators_do_not_see_agreement(browse, at):
    assert browse("ann").get(at("agreement", "bench")).status_code == 403
    assert browse("judith").get(at("agreement", "bench")).status_code == 200


def test_a_project_that_always_shows_suggestions_says_that_nothing_is_blind(browse, cast, at, text):
    cast.project.suggestion_policy = "always"
    cast.project.save()
    assert "no label is blind" in text(browse("admin").get(at("agreement", "bench")))
