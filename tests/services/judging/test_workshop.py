"""The prompt workshop: a fixed sample, trials that nobody else knows of, figures and changed labels."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.models import (
    Assignment,
    Exposure,
    Judge,
    Suggestion,
    SuggestionRun,
    Trajectory,
    WorkshopSample,
)
from annotation.policies import OPERATOR
from annotation.providers import FailureKind
from annotation.reports.judging import prompt_workshop
from annotation.services import assign, noted_reads, suggest
from tests.callers import Caller, signed_in
from tests.fixtures.judges import PRICE, Scripted, failure, install, make_judge, reply
from tests.people import Cast
from tests.suggesting import suggest as suggests


@pytest.fixture
def judge(cast: Cast, resolved_tasks: list[Trajectory], judge_urls: None) -> Judge:
    """A judge with the first prompt, which says +1 of every step: right of 50 of 60."""
    made = make_judge(cast, prompt_version="v1")
    for row in resolved_tasks:
        suggests(made, row, 1)
    return made


def careful(request: Any) -> Any:
    """Right of every step but the first, which it calls neutral."""
    wrong = str(request.material.messages[5]["content"]).startswith("Error")
    first, second, third = request.material.steps
    return reply(request, labels={first: 0, second: -1 if wrong else 1, third: 1})


def test_sample_is_drawn_from_resolved_trajectories_and_the_seed_decides(cast: Cast, judge: Judge) -> None:
    one, same = (suggest.draw_sample(actor=OPERATOR, judge=judge, size=8, seed=3) for _ in range(2))
    other = suggest.draw_sample(actor=OPERATOR, judge=judge, size=8, seed=4)
    drawn = [list(row.trajectories.order_by("pk").values_list("pk", flat=True)) for row in (one, same, other)]
    assert drawn[0] == drawn[1] != drawn[2] and len(drawn[0]) == 8
    every = suggest.draw_sample(actor=OPERATOR, judge=judge, size=100)
    assert every.trajectories.count() == 20, "the two that are not resolved are left out"
    with pytest.raises(Denied):
        suggest.draw_sample(actor=cast.ann, judge=judge, size=8)
    with pytest.raises(Invalid):
        suggest.draw_sample(actor=OPERATOR, judge=judge, size=0)
    with pytest.raises(Invalid, match="no resolved trajectory"):
        suggest.draw_sample(actor=OPERATOR, judge=make_judge(cast, "New"), size=8)


@pytest.mark.postgres
def test_trial_is_compared_with_the_prompt_the_judge_has(
    cast: Cast, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = install(monkeypatch, Scripted(careful))
    sample = suggest.draw_sample(actor=OPERATOR, judge=judge, size=100)
    before = Suggestion.objects.count()
    run = suggest.try_prompt(actor=OPERATOR, sample=sample, prompt_version="v2", enqueue=False)
    assert suggest.run_suggestions(run_id=run.pk).progress_done == 20 == len(provider.calls)
    own, tried = prompt_workshop.tried(viewer=OPERATOR, sample=sample)
    assert (own.prompt_version, tried.prompt_version) == ("v1", "v2")
    right = [one.scores.figures["step_accuracy"].value for one in (own, tried)]
    assert right == [50 / 60, 40 / 60]
    assert own.scores.confusion.tolist() == [[0, 0, 10], [0, 0, 0], [0, 0, 50]]
    assert tried.scores.confusion.tolist() == [[10, 0, 0], [0, 0, 0], [0, 20, 30]]
    assert tried.cost == 20 * PRICE and tried.run == run
    found = prompt_workshop.changes(viewer=OPERATOR, sample=sample, trial=run.judge)
    assert [(one.old, one.new, one.better) for one in found].count((1, 0, False)) == 20
    assert [(one.old, one.new, one.better) for one in found].count((1, -1, True)) == 10
    assert len(found) == 30
    # and nobody else knows of it
    assert Suggestion.objects.count() == before
    assert list(Judge.objects.values_list("name", flat=True)) == ["Sage"]
    with pytest.raises(Invalid, match="already has suggestions"):
        suggest.try_prompt(actor=OPERATOR, sample=sample, prompt_version="v2")


def test_suggestions_of_a_trial_reach_no_annotator_and_are_kept(
    cast: Cast, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Scripted(careful))
    rows = list(Trajectory.objects.order_by("pk"))
    sample = WorkshopSample.objects.create(judge=judge, seed=1, created_at=judge.created_at)
    sample.trajectories.set([rows[0], rows[-1]])
    run = suggest.try_prompt(actor=OPERATOR, sample=sample, prompt_version="v2", enqueue=False)
    suggest.run_suggestions(run_id=run.pk)
    mine = assign.claim_this(actor=cast.ann, trajectory=rows[-1])
    cast.project.suggestion_policy = "always"
    cast.project.save()
    shown = Caller(cast.ann).post(f"/assignments/{mine.pk}/reveals/", {"all": True}).json()["revealed"]
    assert {len(one["suggestions"]) for one in shown} == {1}
    assert {one["suggestions"][0]["value"] for one in shown if one["message_index"]} == {1}
    Suggestion.stored.filter(judge=run.judge).update(created_at="2020-01-01T00:00Z")
    assert suggest.sweep_half_imports() == 0 and Suggestion.stored.filter(judge=run.judge).count() == 2


def test_trial_keeps_its_judge_from_being_retired_and_a_retired_judge_is_not_tried(
    cast: Cast, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Scripted(careful))
    sample = suggest.draw_sample(actor=OPERATOR, judge=judge, size=4)
    run = suggest.try_prompt(actor=OPERATOR, sample=sample, prompt_version="v2", enqueue=False)
    with pytest.raises(Conflict, match="active run"):
        suggest.retire_judge(actor=cast.admin, judge=judge)
    suggest.run_suggestions(run_id=run.pk)
    suggest.retire_judge(actor=cast.admin, judge=judge)
    page = signed_in(cast.admin).get(f"/p/bench/workshop/{sample.pk}/").content.decode()
    assert "Reactivate it to try a prompt" in page and "Try this prompt" not in page
    for version in ("v2", "v3"):
        with pytest.raises(Conflict, match="retired"):
            suggest.try_prompt(actor=OPERATOR, sample=sample, prompt_version=version)
    suggest.restore_judge(actor=cast.admin, judge=judge)
    again = suggest.try_prompt(actor=OPERATOR, sample=sample, prompt_version="v3", enqueue=False)
    assert again.judge.prompt_version == "v3"


def test_changed_labels_are_noted_as_seen_and_not_shown_to_who_labels_them(
    cast: Cast, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Scripted(careful))
    sample = suggest.draw_sample(actor=OPERATOR, judge=judge, size=100)
    run = suggest.try_prompt(actor=OPERATOR, sample=sample, prompt_version="v2", enqueue=False)
    suggest.run_suggestions(run_id=run.pk)
    now = timezone.now()
    held = Assignment.objects.create(
        project=cast.project,
        trajectory=sample.trajectories.order_by("pk")[0],
        annotator=cast.admin,
        slot=0,
        claimed_at=now,
        last_used_at=now,
    )
    found = noted_reads.changed_labels(actor=cast.admin, sample=sample, trial=run.judge)
    assert held.trajectory_id not in {one.trajectory for one in found} and len(found) >= 28
    seen = Exposure.objects.filter(user=cast.admin)
    assert seen.filter(kind="consensus").count() == 19
    assert set(seen.filter(kind="suggestion").values_list("step", flat=True)) == {one.step for one in found}


def test_workshop_goes_by_pages_api_and_terminal(
    cast: Cast,
    judge: Judge,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    install(monkeypatch, Scripted(careful))
    client.force_login(cast.admin)
    shop = reverse("frontend:judge-workshop", args=["bench", judge.pk])
    assert shop in client.get(reverse("frontend:judge", args=["bench", judge.pk])).content.decode()
    assert client.get(shop).status_code == 200
    place = client.post(shop, {"size": 5, "seed": 1}).url
    assert "v1, the judge’s own" in client.get(place).content.decode()
    begun = client.post(place, {"prompt_version": "v2"})
    run = SuggestionRun.objects.get()
    assert begun.url == reverse("frontend:run", args=["bench", run.pk])
    suggest.run_suggestions(run_id=run.pk)
    page = client.get(place).content.decode()
    assert "Labels that differ: v1 and v2" in page and "0 became right" not in page
    assert place in client.get(begun.url).content.decode()

    caller = Caller(cast.admin)
    made = caller.post(f"/judges/{judge.pk}/samples/", {"size": 6, "seed": 2}).json()
    listed = caller.get(f"/judges/{judge.pk}/samples/").json()["results"]
    assert listed[0]["id"] == made["id"] and len(listed) == 2
    trial = caller.post(f"/samples/{made['id']}/runs/", {"prompt_version": "v2", "budget": "5"}).json()
    suggest.run_suggestions(run_id=trial["id"])
    told = caller.get(f"/samples/{made['id']}/").json()
    assert len(told["trajectories"]) == 6 and [one["own"] for one in told["prompts"]] == [True, False]
    rows = caller.get(f"/samples/{made['id']}/changes/", {"prompt_version": "v2"}).json()["results"]
    assert rows and all(one["old"] != one["new"] for one in rows)
    assert caller.get(f"/samples/{made['id']}/changes/", {"prompt_version": "v1"}).status_code == 404

    samples, runs = WorkshopSample.objects.count(), SuggestionRun.objects.count()
    call_command("workshop", "bench", judge="Sage", size=4, prompt="v2", estimate=True)
    drawn = capsys.readouterr().err
    assert drawn.startswith("Sage with v2: 4 trajectories, about ") and ", 0.0 USD;" not in drawn
    assert (WorkshopSample.objects.count(), SuggestionRun.objects.count()) == (samples, runs)
    call_command("workshop", "bench", judge="Sage", size=4, prompt="v2")
    said = capsys.readouterr().err
    assert "v1 (as it is)" in said and "v2 (tried)" in said and "0.0400 USD" in said
    sample = WorkshopSample.objects.latest("pk")
    call_command("workshop", "bench", judge="Sage", sample=sample.pk, prompt="v3", estimate=True)
    assert capsys.readouterr().err.startswith("Sage with v3: 4 trajectories, about ")

    install(monkeypatch, Scripted(lambda _: failure(FailureKind.BAD_KEY, scope="run")))
    with pytest.raises(CommandError, match=r"stopped\. Broken\."):
        call_command("workshop", "bench", judge="Sage", sample=sample.pk, prompt="v3")
    # what of a judge may change does so for what is left of its trials
    suggest.update_judge(actor=OPERATOR, judge=judge, values={"concurrency": 7, "price_input": Decimal(30)})
    with pytest.raises(CommandError, match=r"stopped\. Broken\."):
        call_command("workshop", "bench", judge="Sage", sample=sample.pk, prompt="v3")
    trial = Judge.stored.get(sample=sample, prompt_version="v3")
    assert (trial.concurrency, trial.price_input) == (7, 30)
