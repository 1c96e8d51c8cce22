"""Baseline judges: what they are trained on, that a training stays what it was, and their runs."""

from __future__ import annotations

import json
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.core.baseline import training
from annotation.core.baseline.features import step_features
from annotation.core.judging import JudgeInput
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import (
    AuditEvent,
    Consensus,
    Judge,
    JudgeAnswer,
    SuggestedLabel,
    Suggestion,
    SuggestionRun,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.reports.judging import estimates
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import suggest
from annotation.services.suggest import baseline, runner
from tests import people
from tests.callers import Caller
from tests.fixtures.resolved_tasks import record, resolve
from tests.people import Cast

pytestmark = pytest.mark.django_db
State = SuggestionRunState
PUBLISHED = Path(__file__).resolve().parents[4] / "shared" / "data" / "agentprocessbench" / "hotpotqa.jsonl"


def make(cast: Cast, name: str = "Baseline") -> Judge:
    return suggest.create_judge(actor=OPERATOR, project=cast.project, name=name, kind="baseline")


def run(judge: Judge, **selection: Any) -> SuggestionRun:
    begun = suggest.start_run(actor=OPERATOR, judge=judge, selection=RunSelection(**selection), enqueue=False)
    return suggest.run_suggestions(run_id=begun.pk)


def test_run_suggests_with_probabilities_and_keeps_what_it_was_made_of(
    cast: Cast, resolved_tasks: list[Trajectory]
) -> None:
    judge = make(cast)
    done = run(judge)
    assert (done.state, done.progress_done, done.progress_failed, done.stop_reason) == (
        State.FINISHED,
        len(resolved_tasks),
        0,
        "",
    )
    assert (done.cost, done.tokens_in, done.tokens_out) == (0, 0, 0)
    for row in resolved_tasks:
        suggestion = Suggestion.objects.get(judge=judge, trajectory=row)
        labels = list(suggestion.labels.order_by("step__message_index"))
        wrong = Trajectory.objects.filter(pk=row.pk, sample_index=1).exists()
        assert [label.value for label in labels] == [1, -1 if wrong else 1, 1]
        assert all(label.probability is not None and 1 / 3 < label.probability < 1 for label in labels)
        assert all(label.reason for label in labels) and suggestion.outcome == (-1 if wrong else 1)
    told = SuggestedLabel.objects.filter(suggestion__judge=judge, value=-1).values_list("reason", flat=True)
    assert all("The tool result reports an error." in reason for reason in told)
    answer = JudgeAnswer.objects.filter(judge=judge).first()
    assert answer is not None and zlib.decompress(answer.request) == b""
    kept = json.loads(zlib.decompress(answer.response))
    assert set(kept["probabilities"]) == {"2", "4", "6"} and sum(kept["outcome"]) == pytest.approx(
        1, abs=1e-5
    )
    judge.refresh_from_db()
    about = judge.details
    assert (about["trained_on"], about["n_steps"], about["n_trajectories"], about["n_tasks"]) == (
        "consensus",
        60,
        20,
        10,
    )
    assert about["cv"]["step_accuracy"] == 1.0 and about["always_plus_one"]["step_accuracy"] == 50 / 60
    assert (about["seed"], about["features_version"], len(about["digest"])) == (baseline.SEED, "1", 64)
    assert AuditEvent.objects.filter(verb="judge.train", project=cast.project).count() == 1


def test_baseline_suggests_from_models_that_saw_no_run_of_the_task(
    cast: Cast, resolved_tasks: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same question in another subset is the same task, trained on or not."""
    twin = people.import_records(cast.project, [record(3, 1, wrong=True)], subset="copy")[0]
    asked: dict[str, bool] = {}
    original = training.Trained.judge

    def judge(self: Any, material: Any, task: str) -> Any:
        found = original(self, material, task)
        asked[task] = found.seen
        used = self.models(task)[0]
        assert (used is self._steps.everything) == (not found.seen)
        return found

    monkeypatch.setattr(training.Trained, "judge", judge)
    assert run(make(cast)).progress_done == len(resolved_tasks) + 1
    assert sorted(asked.values()) == [False] * 2 + [True] * 10
    assert asked[training.task_of(twin.task.question, "")]


def test_baseline_without_enough_labels_is_trained_on_the_demo_release_and_says_so(cast: Cast) -> None:
    people.import_records(cast.project, 3)
    judge = make(cast)
    assert run(judge).state == State.FINISHED
    judge.refresh_from_db()
    assert judge.details["trained_on"] == "demo" and judge.details["until"] is None
    examples = baseline.demo_examples()
    assert judge.details["n_steps"] == sum(len(one.labels) for one in examples) >= baseline.FEWEST_STEPS
    assert judge.details["n_tasks"] >= baseline.FEWEST_TASKS
    assert training.digest(examples, seed=baseline.SEED) == judge.details["digest"]
    assert {label for one in examples for label in one.labels} == {-1, 0, 1}


def test_judge_stays_the_training_it_began_with(cast: Cast, resolved_tasks: list[Trajectory]) -> None:
    judge = make(cast)
    assert run(judge, limit=5).progress_done == 5
    judge.refresh_from_db()
    before = judge.details
    # more has been resolved since: this judge goes on with what it knows, another learns from all
    resolve(resolved_tasks[20:])
    assert run(judge, limit=5).state == State.FINISHED
    judge.refresh_from_db()
    assert judge.details == before
    other = make(cast, "Baseline 2")
    run(other, limit=1)
    other.refresh_from_db()
    assert other.details["n_trajectories"] == 22 and other.details["digest"] != before["digest"]
    # what it knew is no more
    Consensus.objects.filter(trajectory=resolved_tasks[0]).update(value=0)
    stopped = run(judge, limit=5)
    assert (stopped.state, stopped.progress_done) == (State.STOPPED, 0)
    assert "have changed" in stopped.stop_reason and "another baseline" in stopped.stop_reason
    assert Suggestion.objects.filter(judge=judge).count() == 10


def test_training_is_paused_keeps_its_lease_and_goes_on_later(
    cast: Cast, resolved_tasks: list[Trajectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = make(cast)
    begun = suggest.start_run(actor=OPERATOR, judge=judge, enqueue=False)
    stopping = threading.Event()
    renewed: list[int] = []
    monkeypatch.setattr(runner, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(runner, "RENEW_SECONDS", 0.0)
    original = runner.lease.renew

    def renew(row: SuggestionRun) -> bool:
        renewed.append(row.pk)
        if len(renewed) == 30:
            stopping.set()
        return original(row)

    monkeypatch.setattr(runner.lease, "renew", renew)
    paused = suggest.run_suggestions(run_id=begun.pk, stopping=stopping, interrupted=State.PAUSED)
    assert (paused.state, paused.lease_until, paused.progress_done) == (State.PAUSED, None, 0)
    assert len(renewed) >= 30 and not JudgeAnswer.objects.exists()
    monkeypatch.undo()
    suggest.resume_run(actor=OPERATOR, run=paused, enqueue=False)
    assert suggest.run_suggestions(run_id=begun.pk).state == State.FINISHED


def test_estimate_is_free_and_the_command_shows_the_figures(
    cast: Cast, resolved_tasks: list[Trajectory], capsys: pytest.CaptureFixture[str]
) -> None:
    judge = make(cast)
    found = estimates.estimate(viewer=OPERATOR, judge=judge)
    assert (found.trajectories, found.cost, found.tokens_in, found.exact) == (len(resolved_tasks), 0, 0, True)
    call_command("suggest", cast.project.slug, judge=["Baseline"])
    said = capsys.readouterr().err
    assert "60 steps, 20 trajectories, 10 tasks" in said
    assert "StepAcc              1.0000   always +1 0.8333" in said
    assert "κ            1.0000   always +1 0.0000" in said
    assert f"{len(resolved_tasks)} of {len(resolved_tasks)} trajectories suggested" in said


def test_baseline_is_added_and_trained_over_the_api_which_tells_its_figures(
    cast: Cast, resolved_tasks: list[Trajectory]
) -> None:
    caller = Caller(cast.admin)
    made = caller.post("/projects/bench/judges/", {"name": "Steady", "kind": "baseline"}).json()
    assert made["training"] is None
    begun = caller.post("/projects/bench/runs/", {"judge": made["id"], "limit": 2})
    assert begun.status_code == 201, begun.content
    suggest.run_suggestions(run_id=begun.json()["id"])
    told = caller.get(f"/judges/{made['id']}/").json()["training"]
    assert (told["demo"], told["steps"], told["tasks"], told["folds"]) == (False, 60, 10, 5)
    accuracy = told["figures"][0]
    assert (accuracy["name"], accuracy["value"], accuracy["compared_with"]) == (
        "step_accuracy",
        1.0,
        "always_plus_one",
    )
    assert accuracy["reference"] == pytest.approx(50 / 60)


def test_judge_that_an_earlier_version_trained_says_so_and_suggests_no_more(
    cast: Cast, resolved_tasks: list[Trajectory]
) -> None:
    judge = make(cast)
    run(judge, limit=2)
    judge.refresh_from_db()
    Judge.objects.filter(pk=judge.pk).update(
        details={name: value for name, value in judge.details.items() if name != "method"}
    )
    stopped = run(judge, limit=2)
    assert (stopped.state, stopped.progress_done) == (State.STOPPED, 0)
    assert "An earlier version of Tristep trained this baseline" in stopped.stop_reason


def test_baseline_page_shows_the_figures_beside_always_plus_one(
    cast: Cast, resolved_tasks: list[Trajectory], client: Any
) -> None:
    judge = make(cast)
    client.force_login(cast.admin)
    address = reverse("frontend:judge", args=[cast.project.slug, judge.pk])
    before = client.get(address)
    assert before.status_code == 200 and "Training data" not in before.content.decode()
    run(judge, limit=2)
    page = client.get(address).content.decode()
    assert "Training data" in page and "FirstErrAcc" in page and "0.833" in page


@pytest.mark.published
@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published data is not beside this checkout")
def test_baseline_on_the_published_labels_beats_always_plus_one_and_says_by_how_much() -> None:
    examples = []
    for one in map(json.loads, PUBLISHED.read_text(encoding="utf-8").splitlines()):
        material = JudgeInput.of(one)
        labels = tuple(one["step_labels"][str(index)] for index in material.steps)
        task, features = training.task_of(one["question"], ""), step_features(material)
        examples.append(training.TrainingExample(task, features, labels, one["final_label"]))

    _, figures = training.train(examples, seed=baseline.SEED)
    cv, plus = figures["cv"], figures["always_plus_one"]
    assert (plus["step_accuracy"], plus["first_error_accuracy"], plus["kappa"]) == (499 / 734, 146 / 250, 0)
    # what docs/judges.md says, to what another version of the libraries may move
    assert cv["step_accuracy"] == pytest.approx(0.782, abs=0.015)
    assert cv["first_error_accuracy"] == pytest.approx(0.668, abs=0.02)
    assert cv["kappa"] == pytest.approx(0.486, abs=0.03) and cv["intervals"]["step_accuracy"][0] > 499 / 734
    assert cv["log_loss"] == pytest.approx(0.512, abs=0.01)
