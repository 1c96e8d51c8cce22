"""Recalibration of a judge on its project's resolved labels: of other tasks alone, beside what it said."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation import dispatch
from annotation.core.errors import Denied, Invalid
from annotation.models import AuditEvent, Consensus, Judge, LabelEvent, SuggestedLabel, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.judging.judge_figures import judge_agreement
from annotation.reports.judging.recalibration import recalibration
from annotation.services import assign, suggest
from tests.callers import Caller
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.resolved_tasks import make_resolved_tasks
from tests.people import Cast, change, op_id
from tests.suggesting import suggest as suggests


def gentle(cast: Cast, rows: list[Trajectory]) -> Judge:
    """A judge that calls every error neutral."""
    judge = make_imported_judge(cast.project, "gentle canary")
    for row in rows:
        suggests(judge, row, [1, 0 if row.sample_index else 1, 1])
    return judge


def switched_on(judge: Judge) -> Judge:
    suggest.set_recalibration(actor=OPERATOR, judge=judge, on=True)
    suggest.fit_recalibration(judge_id=judge.pk)
    judge.refresh_from_db()
    return judge


def told(judge: Judge, row: Trajectory) -> list[int | None]:
    labels = SuggestedLabel.objects.filter(suggestion__judge=judge, suggestion__trajectory=row)
    return list(labels.order_by("step__ordinal").values_list("recalibrated", flat=True))


def test_recalibration_corrects_what_a_judge_does_every_time_and_stands_beside_it(
    cast: Cast, resolved_tasks: list[Trajectory]
) -> None:
    judge = switched_on(gentle(cast, resolved_tasks))
    assert [told(judge, row) for row in resolved_tasks] == [
        [1, -1 if row.sample_index else 1, 1] for row in resolved_tasks
    ]
    assert (judge.recalibration["steps"], judge.recalibration["tasks"]) == (60, 10)
    whole = judge_agreement(viewer=OPERATOR, judge=judge).consensus[0]
    assert whole.recalibrated is not None
    raw, after = whole.steps.figures["step_accuracy"], whole.recalibrated.figures["step_accuracy"]
    assert (raw.value, after.value) == (50 / 60, 1.0)
    answer = Caller(cast.admin).get(f"/judges/{judge.pk}/recalibration/").json()
    assert answer["on"] and answer["fitted"]["steps"] == 60
    said = answer["consensus"]
    assert said["steps"]["step_accuracy"]["value"] == pytest.approx(50 / 60)
    assert said["recalibrated"]["step_accuracy"]["value"] == 1.0
    # of one run: here none has brought anything
    of_run = Caller(cast.admin).get(f"/judges/{judge.pk}/recalibration/", {"run": 1}).json()
    assert of_run["consensus"]["steps"]["steps"] == 0


def test_recalibration_of_a_trajectory_does_not_depend_on_the_labels_of_its_task(
    cast: Cast, resolved_tasks: list[Trajectory]
) -> None:
    # a run of the first task that is not resolved, as somebody would be labelling it
    Consensus.objects.filter(trajectory=resolved_tasks[1]).delete()
    Trajectory.objects.filter(pk=resolved_tasks[1].pk).update(state="labelling")
    judge = switched_on(gentle(cast, resolved_tasks))
    before = {row.pk: told(judge, row) for row in resolved_tasks}
    Consensus.objects.filter(trajectory=resolved_tasks[0]).update(value=0)
    switched_on(judge)
    for row in resolved_tasks[:2]:
        assert told(judge, row) == before[row.pk], "its own task tells nothing of it"
    # and what everybody else's labels say does change it
    Consensus.objects.exclude(trajectory=resolved_tasks[0]).update(value=0)
    switched_on(judge)
    assert told(judge, resolved_tasks[1]) == [0, 0, 0]


def test_recalibration_says_what_is_missing_and_is_for_admins(cast: Cast) -> None:
    rows = make_resolved_tasks(cast, tasks=4)
    judge = gentle(cast, rows)
    with pytest.raises(Invalid, match="So far there are 24 steps of 4 tasks"):
        suggest.set_recalibration(actor=OPERATOR, judge=judge, on=True)
    with pytest.raises(Denied):
        suggest.set_recalibration(actor=cast.ann, judge=judge, on=True)
    with pytest.raises(Denied):
        recalibration(viewer=cast.judith, judge=judge)
    answer = Caller(cast.admin).post(f"/judges/{judge.pk}/recalibration/", {"on": True})
    assert answer.status_code == 400 and "24 steps" in answer.content.decode()
    assert not Judge.objects.get(pk=judge.pk).recalibrate and not AuditEvent.objects.filter(
        verb="judge.recalibrate"
    )


@pytest.mark.postgres
def test_reveal_shows_both_and_keeps_which_it_was(cast: Cast, resolved_tasks: list[Trajectory]) -> None:
    judge = switched_on(gentle(cast, resolved_tasks))
    mine = assign.claim_this(actor=cast.ann, trajectory=resolved_tasks[-1])
    caller = Caller(cast.ann)
    place = f"/assignments/{mine.pk}"
    refused = caller.post(f"{place}/reveals/", {"message_index": 4})
    assert refused.status_code == 409, "sealed as ever"
    caller.post(f"{place}/labels/", {"op_id": op_id(), "changes": [change(4, 1)]})
    (shown,) = caller.post(f"{place}/reveals/", {"message_index": 4}).json()["revealed"]
    (one,) = shown["suggestions"]
    assert (one["judge"], one["value"], one["recalibrated"]) == ("Judge 1", 0, -1)
    event = LabelEvent.objects.get(kind="reveal")
    assert event.detail["judges"] == [{"judge": judge.pk, "value": 0, "recalibrated": -1}]

    suggest.set_recalibration(actor=cast.admin, judge=judge, on=False)
    assert set(SuggestedLabel.objects.values_list("recalibrated", flat=True)) == {None}
    (again,) = caller.get(f"{place}/reveals/").json()["revealed"]
    assert again["suggestions"][0]["recalibrated"] is None
    suggest.fit_recalibration(judge_id=judge.pk)
    assert set(SuggestedLabel.objects.values_list("recalibrated", flat=True)) == {None}
    assert AuditEvent.objects.filter(verb="judge.recalibrate").count() == 2


def test_recalibration_is_fitted_again_when_there_are_new_suggestions(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(dispatch, "send", lambda *job: sent.append(job))
    *rows, late = make_resolved_tasks(cast)
    judge = gentle(cast, rows)
    assert suggest.sweep_recalibrations() == 0
    suggest.set_recalibration(actor=OPERATOR, judge=judge, on=True)
    assert suggest.sweep_recalibrations() == 1 and sent == [("fit_recalibration", judge.pk)] * 2
    suggest.fit_recalibration(judge_id=judge.pk)
    assert suggest.sweep_recalibrations() == 0
    suggests(judge, late, [1, 0, 1])
    assert suggest.sweep_recalibrations() == 1
    suggest.fit_recalibration(judge_id=judge.pk)
    assert told(judge, late) == [1, -1, 1]


def test_recalibration_is_switched_from_the_page_and_a_terminal(
    cast: Cast, client: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = gentle(cast, make_resolved_tasks(cast))
    client.force_login(cast.admin)
    page = reverse("frontend:judge", args=[cast.project.slug, judge.pk])
    assert "Switch on" in client.get(page).content.decode()
    switch = reverse("frontend:judge-recalibration", args=[cast.project.slug, judge.pk])
    client.post(switch, {"on": "1"})
    assert "Being fitted" in client.get(page).content.decode()
    suggest.fit_recalibration(judge_id=judge.pk)
    assert "60 resolved steps of 10 tasks" in client.get(page).content.decode()
    client.post(switch, {"on": "0"})
    assert not Judge.objects.get(pk=judge.pk).recalibrate
    call_command("recalibrate", cast.project.slug, judge=judge.name)
    assert "60 resolved steps of 10 tasks" in capsys.readouterr().err
    call_command("recalibrate", cast.project.slug, judge=judge.name, off=True)
    assert not Judge.objects.get(pk=judge.pk).recalibrate
