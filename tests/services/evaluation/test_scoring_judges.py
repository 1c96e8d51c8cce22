"""A judge of the project scored on a release: what it suggested becomes its predictions, and nothing else."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.judging import LATEST
from annotation.core.scoring import MISSING
from annotation.core.vocabulary import ExposureKind
from annotation.models import (
    ImportFile,
    Judge,
    PredictionSet,
    Release,
    SuggestedLabel,
    SuggestionRun,
    Trajectory,
    TrajectoryContent,
)
from annotation.policies import OPERATOR
from annotation.reports.evaluation.leaderboard import as_json as leaderboard_json
from annotation.reports.evaluation.leaderboard import leaderboard
from annotation.reports.judging.judge_coverage import judge_coverage
from annotation.reports.judging.run_selection import RunSelection
from annotation.reports.shared.frozen_trajectories import frozen_trajectories
from annotation.reports.shared.release_labels import predictions, released_labels
from annotation.services import assign, evaluate, exposures, label
from annotation.services import release as releases
from tests.callers import Caller
from tests.commands.calling import run
from tests.fixtures.judges import (
    Scripted,
    do,
    install,
    items,
    make_imported_judge,
    make_judge,
    odd_ones_fail,
    start,
)
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast, import_records, label_all, label_next, make_record
from tests.services.predicting import bring, line
from tests.services.publishing import freeze
from tests.suggesting import suggest


@shared_rows
def frozen(resolved: Cast) -> Release:
    """A release of three trajectories of three steps, and one more trajectory that is not in it."""
    made = freeze(resolved.project)
    import_records(resolved.project, [make_record(9, steps=3)], subset="later")
    return made


def trajectory(query: int) -> Trajectory:
    return Trajectory.objects.get(record_id=f"tiny:{query}:0", live=True)


def score(cast: Cast, made: Release, judge: Judge, **options: Any) -> evaluate.ScoredJudge:
    return evaluate.score_judge(**{"actor": cast.admin, "release": made, "judge": judge, **options})


def said(row: PredictionSet) -> dict[str, tuple[list[int], int]]:
    """Labels and outcome by record."""
    released = released_labels(row.release)
    (found,) = predictions(released, [row])
    return {
        released.record_id[at]: (found.steps[released.record == at].tolist(), int(found.outcome[at]))
        for at in range(released.n_records)
        if found.there[at]
    }


def test_judge_is_scored_by_what_it_has_suggested_of_the_release_and_once(
    resolved: Cast, frozen: Release
) -> None:
    judge = make_imported_judge(resolved.project, "Sage")
    partial = suggest(judge, trajectory(0), [1, None, -1], outcome=None)
    suggest(judge, trajectory(1), None, comment="llm_annotate_failed: 500")
    suggest(judge, Trajectory.objects.get(subset__name="later"), 1)

    found = score(resolved, frozen, judge)

    assert (found.created, found.unchanged, found.failed, found.absent) == (2, 0, 1, 1)
    assert (found.changed, found.gone, found.missing) == (0, 0, 4)
    row = PredictionSet.objects.get()
    assert (row.model, row.judge, row.created_by, row.cost) == ("Sage", judge, resolved.admin, None)
    assert said(row) == {
        "tiny:0:0": ([1, MISSING, -1], MISSING),
        "tiny:1:0": ([MISSING] * 3, MISSING),
    }
    again = score(resolved, frozen, judge)
    assert (again.created, again.unchanged) == (0, 2)
    assert PredictionSet.objects.get().updated_at == row.updated_at
    suggest(judge, trajectory(2), 0, outcome=0)
    # what was missing has come since: it is added, and nothing that stood there changes
    step = trajectory(0).steps.order_by("ordinal")[1]
    SuggestedLabel.objects.create(suggestion=partial, step=step, value=0)
    assert score(resolved, frozen, judge).created == 2
    assert said(PredictionSet.objects.get())["tiny:0:0"] == ([1, 0, -1], MISSING)
    assert said(PredictionSet.objects.get())["tiny:2:0"] == ([0, 0, 0], 0)
    assert releases.verify(actor=OPERATOR, release=frozen).ok


@pytest.mark.postgres
def test_judge_is_scored_on_the_content_that_was_frozen(resolved: Cast, frozen: Release) -> None:
    judge = make_imported_judge(resolved.project)
    for query in range(3):
        suggest(judge, trajectory(query), 1, outcome=1)
    changed, gone = trajectory(0), trajectory(1)
    # behind the back of every service: what has labels is not replaced
    content = TrajectoryContent.objects.get(trajectory=trajectory(2))
    TrajectoryContent.objects.filter(trajectory=changed).update(content=content.content)
    ImportFile.objects.update(finished_at=timezone.now())
    Trajectory.objects.filter(pk=gone.pk).update(record_id="another")

    found = score(resolved, frozen, judge)

    assert (found.created, found.absent, found.changed, found.gone) == (1, 2, 1, 1)
    assert list(said(found.prediction_set)) == ["tiny:2:0"]
    known = frozen_trajectories(frozen)
    assert (len(known.live), known.other) == (1, {changed.pk})


@pytest.mark.postgres
def test_judge_is_run_over_what_it_lacks_of_a_release_and_then_scored(
    resolved: Cast, frozen: Release, judge_urls: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = make_judge(resolved)
    suggest(judge, trajectory(0), 1)
    (row,) = judge_coverage(actor=resolved.admin, release=frozen)
    assert (row.suggested, row.failed, row.pending, row.may_run) == (1, 0, 2, True)
    run = start(judge, selection=RunSelection(release=frozen.version))
    assert items(run)["due"] == 2, "and not what is not in the release"
    install(monkeypatch, Scripted(odd_ones_fail))
    do(run)

    found = evaluate.score_run(run_id=run.pk)

    assert found is not None
    assert (found.created, found.failed, found.absent) == (3, 1, 0)
    row_after = PredictionSet.objects.get()
    assert row_after.cost == Decimal("0.01") and row_after.judged_on is not None
    assert row_after.prompt_version == LATEST and row_after.created_by is None, "the operator started it"
    # asked once more, it answers: what had failed is replaced
    suggest(judge, trajectory(1), -1, outcome=-1)
    assert score(resolved, frozen, judge).created == 1
    assert said(PredictionSet.objects.get())["tiny:1:0"] == ([-1] * 3, -1)


def test_run_for_a_release_that_nobody_scored_is_taken_up_once(
    resolved: Cast, frozen: Release, judge_urls: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = make_judge(resolved)
    run = start(judge, selection=RunSelection(release=frozen.version))
    install(monkeypatch, Scripted())
    assert evaluate.score_run(run_id=run.pk) is None, "it has not ended"
    do(run)
    assert evaluate.sweep_runs(now=timezone.now() + timedelta(hours=2)) == 0
    assert (evaluate.sweep_runs(), evaluate.sweep_runs()) == (1, 0)
    assert PredictionSet.objects.get().record_count == 3
    SuggestionRun.objects.update(selection={})
    assert evaluate.score_run(run_id=run.pk) is None, "a run for no release"


def test_judge_is_scored_by_command_and_run_first_if_that_is_asked_for(
    resolved: Cast,
    frozen: Release,
    judge_urls: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    suggest(make_judge(resolved), trajectory(0), 1)
    call_command("score_judge", "bench", "1.0", judge="Sage")
    assert "Sage: 1 record scored, 0 unchanged" in capsys.readouterr().err
    install(monkeypatch, Scripted())
    call_command("score_judge", "bench", "1.0", judge="Sage", run=True)
    assert "Sage: 2 records scored, 1 unchanged" in capsys.readouterr().err
    with pytest.raises(CommandError, match="no judge “Bold”"):
        call_command("score_judge", "bench", "1.0", judge="Bold")


def test_judge_that_cannot_be_scored_is_refused_with_a_reason(resolved: Cast, frozen: Release) -> None:
    judge = make_imported_judge(resolved.project, "Sage")
    with pytest.raises(Invalid) as nothing:
        score(resolved, frozen, judge)
    assert nothing.value.code == "nothing_suggested"
    bring(resolved, frozen, line(0, {"2": 0}), model="Sage")
    suggest(judge, trajectory(0), 1)
    with pytest.raises(Conflict) as other:
        score(resolved, frozen, judge)
    assert other.value.code == "predicted_otherwise"
    for person in (resolved.ann, resolved.judith, resolved.oscar):
        with pytest.raises(Denied):
            score(resolved, frozen, judge, actor=person)
        with pytest.raises(Denied):
            judge_coverage(actor=person, release=frozen)


def labelled(cast: Cast, row: Trajectory, *, sees: bool) -> None:
    """By ann, who may see what judges suggest of the first step; and blind by ben."""
    mine = assign.claim_this(actor=cast.ann, trajectory=row)
    label_all(mine, 1)
    if sees:
        step = row.steps.order_by("message_index").first()
        exposures.note(user=cast.ann, kind=ExposureKind.SUGGESTION, seen=[(row.pk, step.pk)])
    label.submit(actor=cast.ann, assignment=mine)
    label_next(cast.ben, cast.project)


@pytest.mark.parametrize("sees", [True, False])
def test_judge_that_annotators_saw_is_marked_and_people_are_a_reference(cast: Cast, sees: bool) -> None:
    seen = make_imported_judge(cast.project, "Seen")
    rows = import_records(cast.project, 2)
    suggest(seen, rows[0], 1)
    sealed = make_imported_judge(cast.project, "Sealed", model="Bold")
    suggest(sealed, rows[1], 1)
    labelled(cast, rows[0], sees=sees)
    labelled(cast, rows[1], sees=False)
    made: Release = releases.freeze(actor=cast.admin, project=cast.project, version="1.0")
    for judge in (seen, sealed):
        evaluate.score_judge(actor=cast.admin, release=made, judge=judge)
    bring(cast, made, line(0, {"2": 1, "4": 1}), model="Bold")
    evaluate.fit_release(release_id=made.pk)

    found = leaderboard_json(leaderboard(actor=OPERATOR, release=made))

    marked = {row["model"]: row["seen_by_annotators"] for row in found["models"]}
    assert marked == {"Seen": sees, "Sealed": False, "Bold": False}
    # whoever has seen a suggestion is no blind human of that trajectory
    human = found["blind_human"]
    assert (human["labellings"], human["overall"]["records"]) == ((2, 1) if sees else (4, 2))
    assert human["overall"]["step_accuracy"] == 1 and human["overall"]["ranks"] == {}
    reading = run("benchmark", "bench", "1.0", "--json").document
    assert [(one["annotator"], one["trajectories"]) for one in reading["readers"]] == [
        ("annotator-1", 1 if sees else 2),
        ("annotator-2", 1 if sees else 2),
    ]
    assert all(one["kendall_tau"]["reason"] == "fewer than 20 tasks" for one in reading["readers"])
    own = [(one["model"], one["trajectories"], one["shift"]["value"]) for one in reading["own_suggestions"]]
    assert own == ([("Seen", 1, None)] if sees else [])
    assert Caller(cast.admin).get("/projects/bench/releases/1.0/benchmark/").json() == reading
    assert "annotator-1 (" in run("benchmark", "bench", "1.0").out
    exposure = json.loads(made.manifest)["exposure"]
    assert exposure["trajectories"] - exposure["blind_trajectories"] == int(sees)
