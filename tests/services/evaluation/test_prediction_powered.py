"""Prediction-powered figures of a release: its unlabelled part, and what models predict of it."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.errors import Invalid
from annotation.models import Judge, PredictionSet, Release, ReleaseOutline, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.evaluation import powered_board
from annotation.reports.evaluation.leaderboard import as_json, leaderboard
from annotation.services import evaluate
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.resolved_tasks import make_resolved_tasks
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.predicting import bring
from tests.services.publishing import freeze
from tests.suggesting import suggest as suggests

TASKS, SPARE = 22, 30


@shared_rows
def rows(cast: Cast) -> list[Trajectory]:
    """22 tasks with two resolved runs, 30 runs of other tasks that nobody has begun, and three judges of all:
    one is always right, one sees no error in every third task, one says +1 all along."""
    made = make_resolved_tasks(cast, tasks=TASKS, spare=SPARE)
    judges = [make_imported_judge(cast.project, name) for name in ("Right", "Often", "Never")]
    for place, row in enumerate(made):
        wrong = bool(row.sample_index)
        for judge, sees in zip(judges, (wrong, wrong and place % 3 > 0, False), strict=True):
            suggests(judge, row, [1, -1 if sees else 1, 1], outcome=-1 if sees else 1)
    return made


def told(row: Trajectory, place: int) -> dict[str, Any]:
    """A prediction that misses the error of every fifth trajectory."""
    wrong = bool(row.sample_index) and place % 5 > 0
    return {
        "record_id": row.record_id,
        "step_labels": {"2": 1, "4": -1 if wrong else 1, "6": 1},
        "final_label": -1 if wrong else 1,
    }


def board(made: Release) -> dict[str, Any]:
    evaluate.fit_release(release_id=made.pk)
    found: dict[str, Any] = as_json(leaderboard(actor=OPERATOR, release=made))["prediction_powered"]
    return found


def figures(made: Release, model: str) -> tuple[dict[str, Any], str]:
    (row,) = [row for row in board(made)["models"] if row["model"] == model]
    return row["figures"], row["reason"]


@pytest.mark.postgres
def test_manifest_names_what_judges_alone_have_labelled(cast: Cast, rows: list[Trajectory]) -> None:
    part = freeze(cast.project).parsed_manifest()["unlabelled"]
    assert part == {
        "records": SPARE,
        "judges": 3,
        "reason": "",
        "subsets": {"tiny": [row.record_id for row in rows[2 * TASKS :]]},
    }
    Judge.objects.get(name="Right").delete()
    Judge.objects.get(name="Often").delete()
    part = freeze(cast.project, "1.1").parsed_manifest()["unlabelled"]
    assert (part["records"], part["subsets"]) == (0, {}) and "fewer than two judges" in part["reason"]


def test_no_part_where_the_queue_was_put_in_an_order_of_disagreement(
    cast: Cast, rows: list[Trajectory]
) -> None:
    cast.project.triage_seed = 1
    cast.project.save()
    made = freeze(cast.project)
    assert "no sample" in made.parsed_manifest()["unlabelled"]["reason"]
    bring(cast, made, told(rows[0], 0))
    assert "no sample" in board(made)["reason"]


@pytest.mark.postgres
def test_model_that_predicts_both_parts_has_figures_worth_more_labels(
    cast: Cast, rows: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = freeze(cast.project)
    half = 2 * TASKS
    first = bring(cast, made, *(told(row, place) for place, row in enumerate(rows[:half])))
    assert (first.created, first.unlabelled, first.elsewhere) == (half, 0, 0)
    found, reason = figures(made, "Sage")
    assert found == {} and reason.startswith("there are no predictions for all")
    more = [told(row, half + place) for place, row in enumerate(rows[half:])]
    second = bring(cast, made, *more)
    assert (second.created, second.unlabelled, second.elsewhere) == (0, SPARE, 0)
    assert bring(cast, made, *more).unlabelled == SPARE
    assert PredictionSet.objects.get().record_count == half
    found, reason = figures(made, "Sage")
    assert reason == "" and len(found) == 5
    few = found["step_accuracy"]
    assert few["interval"] is None and "at least 50 tasks" in few["interval_reason"]
    monkeypatch.setattr(powered_board, "FEWEST_TASKS", 20)
    one = figures(made, "Sage")[0]["step_accuracy"]
    assert (
        one["classical"] == pytest.approx(128 / 132)
        and one["interval"][0] < one["value"] < one["interval"][1]
    )
    assert (one["tasks"], one["unlabelled_tasks"]) == (TASKS, SPARE) and one["worth_tasks"] > TASKS


def test_judge_is_measured_by_the_others(cast: Cast, rows: list[Trajectory]) -> None:
    made = freeze(cast.project)
    right = Judge.objects.get(name="Right")
    evaluate.score_judge(actor=OPERATOR, release=made, judge=right)
    assert figures(made, "Right")[0]["step_accuracy"]["classical"] == 1
    # of the two others one is gone
    Judge.objects.get(name="Never").delete()
    PredictionSet.objects.update(powered=None)
    assert figures(made, "Right")[0] == {}


def test_judges_are_heard_as_they_were_when_the_release_was_frozen(
    cast: Cast, rows: list[Trajectory]
) -> None:
    made = freeze(cast.project)
    bring(cast, made, *(told(row, place) for place, row in enumerate(rows)))
    before = figures(made, "Sage")
    late = make_imported_judge(cast.project, "Late")
    for row in rows:
        suggests(late, row, [-1, -1, -1])
    PredictionSet.objects.update(powered=None)
    ReleaseOutline.objects.update(unlabelled=None)
    assert figures(made, "Sage") == before


def test_predictions_of_the_unlabelled_part_alone_are_refused_and_others_must_say_the_same(
    cast: Cast, rows: list[Trajectory]
) -> None:
    made = freeze(cast.project)
    with pytest.raises(Invalid, match="unlabelled part alone"):
        bring(cast, made, told(rows[-1], 1))
    bring(cast, made, told(rows[0], 0), told(rows[-1], 1))
    with pytest.raises(Invalid):
        bring(cast, made, told(rows[-1], 5))
