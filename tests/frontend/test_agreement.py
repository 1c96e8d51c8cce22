"""The agreement page: figures, the confusion, and what is undefined in words."""

from __future__ import annotations

import json

from annotation.reports.agreement import agreement as figures
from annotation.reports.agreement import as_json
from tests import people


def test_agreement_before_anything_is_settled_says_so(browse, cast, at, text):
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


def test_agreement_of_an_unknown_subset_shows_all(browse, cast, at):
    people.import_records(cast.project, 1)
    people.make_disputed(cast)
    response = browse("admin").get(at("agreement", "bench") + "?subset=<script>")
    assert response.context["shown"]["name"] == ""


def test_annotators_do_not_see_agreement(browse, at):
    assert browse("ann").get(at("agreement", "bench")).status_code == 403
    assert browse("judith").get(at("agreement", "bench")).status_code == 200


def test_figures_for_adjudicators_tell_of_nobody(browse, cast, at, text):
    people.import_records(cast.project, 5)
    for user, value in ((cast.ann, 1), (cast.ben, -1)):
        for _ in range(5):
            people.label_next(user, cast.project, [value, 1])
    people.import_records(cast.project, 4, subset="few")
    for user, value in ((cast.ann, 1), (cast.cleo, 0)):
        for _ in range(4):
            people.label_next(user, cast.project, [value, 1])

    mine, theirs = (browse(who).get(at("agreement", "bench")) for who in ("judith", "admin"))

    assert theirs.context["shown"]["summary"].n == 18 and "By pair of annotators" in text(theirs)
    shown = mine.context["shown"]
    assert shown["summary"].n == shown["outcomes"].n * 2 == 10 and "By pair of annotators" not in text(mine)
    counts = [row["counts"] for row in shown["matrix"]["rows"]]
    assert counts == [list(column) for column in zip(*counts, strict=True)] and sum(map(sum, counts)) == 20
    assert "– few: too few to show." in text(mine)
    few = browse("judith").get(at("agreement", "bench") + "?subset=few").context["shown"]
    assert few["summary"].n == few["outcomes"].n == 0
    said = json.dumps(as_json(figures(viewer=cast.judith, project=cast.project)))
    assert not [name for name in ("Ann", "Ben", "Cleo") if name in said or f"{name} ·" in text(mine)]


def test_project_that_always_shows_suggestions_says_that_nothing_is_blind(browse, cast, at, text):
    cast.project.suggestion_policy = "always"
    cast.project.save()
    assert "no label is blind" in text(browse("admin").get(at("agreement", "bench")))
