"""Answers in a run: each stored once, counted, paid for within the budget; steered by people."""

from __future__ import annotations

import zlib
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.judging import Problem, ProblemKind
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import (
    AuditEvent,
    JudgeAnswer,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)
from annotation.providers import FailureKind, Request
from annotation.reports.judging import runs as reports
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import suggest
from annotation.services.suggest import reaper, runner, store
from tests import people
from tests.fixtures.judges import (
    Scripted,
    do,
    failure,
    install,
    items,
    make_judge,
    question_of,
    reply,
    start,
)
from tests.people import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("judge_urls")]
State = SuggestionRunState


# ── Answers ───────────────────────────────
def test_run_gives_every_trajectory_one_suggestion_and_counts_them(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people.import_records(cast.project, 30)
    provider = install(monkeypatch, Scripted())
    judge = make_judge(cast)
    run = suggest.start_run(actor=cast.admin, judge=judge, budget=Decimal(5))
    seen: list[suggest.RunTotals] = []

    run = do(run, progress=seen.append)

    assert (run.state, run.attempt, run.stop_reason) == (State.FINISHED, 1, "")
    assert (run.progress_done, run.progress_failed, run.progress_total, run.calls) == (30, 0, 30, 30)
    assert (run.cost, run.tokens_in, run.tokens_out) == (Decimal("0.30"), 3_000, 600)
    assert run.lease_until is None and run.started_at and run.finished_at
    assert provider.calls == {str(row.pk): 1 for row in rows} and provider.closed
    assert seen[-1] == suggest.RunTotals(30, 0, 30, Decimal("0.30"))
    one = Suggestion.objects.get(trajectory=rows[0])
    assert (one.outcome, one.reason, one.run) == (1, "so it ends", run)
    assert list(one.labels.values_list("value", "reason")) == [(1, "because")] * 2
    assert one.answer is not None
    assert zlib.decompress(one.answer.request) == b'{"model": "scripted"}'
    assert SuggestedLabel.objects.count() == 60
    verbs = AuditEvent.objects.filter(verb__startswith="suggestions.").order_by("pk")
    assert [(event.verb, event.actor) for event in verbs] == [
        ("suggestions.start", cast.admin),
        ("suggestions.end", cast.admin),
    ]


def test_labels_that_are_missing_stay_missing_and_are_counted(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people.import_records(cast.project, 1)
    half: dict[int, int | None] = {2: -1, 4: None}
    script = Scripted(
        lambda request: reply(
            request,
            labels=half,
            outcome=None,
            missing=1,
            extra=2,
            problems=(Problem(ProblemKind.MISSING, "steps.4"),),
        )
    )
    install(monkeypatch, script)

    run = do(start(make_judge(cast)))

    suggestion = Suggestion.objects.get(trajectory=rows[0])
    assert [(label.step.message_index, label.value) for label in suggestion.labels.all()] == [(2, -1)]
    assert (suggestion.outcome, suggestion.missing, suggestion.extra) == (None, 1, 2)
    assert (run.labels_missing, run.labels_extra, run.labels_invalid) == (1, 2, 0)
    assert JudgeAnswer.objects.get().notes["problems"] == [
        {"kind": "missing", "where": "steps.4", "found": ""}
    ]


@pytest.mark.postgres
def test_failures_keep_their_raw_answer_and_are_asked_again_on_request(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 6)
    broken = {1: FailureKind.NO_LABELS, 3: FailureKind.TRUNCATED, 4: FailureKind.NO_LABELS}
    provider = install(
        monkeypatch,
        Scripted(lambda r: failure(broken[n]) if (n := question_of(r)) in broken else reply(r)),
    )
    judge = make_judge(cast)
    run = do(start(judge))

    assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 3, 3)
    groups = reports.failures(viewer=cast.admin, run=run)
    assert [(group.kind, group.count, group.message) for group in groups] == [
        ("no_labels", 2, "Broken."),
        ("truncated", 1, "Broken."),
    ]
    item = run.items.get(failure="truncated")
    answer = JudgeAnswer.objects.get(run=run, trajectory=item.trajectory_id)
    call = reports.audit(answer)
    assert (call.request_text, call.response_text, answer.failure) == ("asked", "<html>", "truncated")

    del broken[3], broken[4]
    assert suggest.retry_failed(actor=cast.admin, run=run) == 3
    run = do(run)

    assert (run.state, run.attempt, run.progress_done, run.progress_failed) == (State.FINISHED, 2, 5, 1)
    assert sorted(provider.calls.values()) == [1, 1, 1, 2, 2, 2], "only what had failed was asked again"
    other = start(judge, selection=RunSelection(failed_of=run.pk))
    assert other.progress_total == 1
    with pytest.raises(Conflict):
        suggest.retry_failed(actor=cast.admin, run=run)


def test_error_of_ours_about_one_trajectory_does_not_end_the_run(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 3)

    def script(request: Request) -> Any:
        if question_of(request) == 1:
            raise ValueError("a secret text")
        return reply(request)

    install(monkeypatch, Scripted(script))
    run = do(start(make_judge(cast)))

    assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 2, 1)
    assert "secret" not in SuggestionItem.objects.get(state="failed").message


def test_suggestion_stored_twice_is_stored_once_and_a_second_does_not_replace_the_first(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 3)
    batches: list[Any] = []
    original = store.store

    def twice(run: SuggestionRun, batch: Any, **more: Any) -> Any:
        first = original(run, batch, **more)
        assert original(run, batch, **more).done == 0, "the commit was not confirmed, so it is done again"
        batches.extend(batch)
        return first

    monkeypatch.setattr(runner, "store", twice)
    install(monkeypatch, Scripted())
    run = do(start(make_judge(cast)))
    assert (run.progress_done, run.calls, run.cost) == (3, 3, Decimal("0.03"))

    other = [
        store.CallResult(batch.item, batch.trajectory, batch.estimate, batch.outcome) for batch in batches
    ]
    original(run, other)

    run.refresh_from_db()
    assert (run.progress_done, run.calls, run.cost) == (3, 6, Decimal("0.06")), "paid for is paid for"
    assert (Suggestion.objects.count(), SuggestedLabel.objects.count()) == (3, 6)


# ── Ends ──────────────────────────────────
@pytest.mark.postgres
def test_run_is_stopped_by_what_no_repetition_mends_and_its_trajectories_stay_due(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 40)
    bad = {"key": True}

    def script(request: Request) -> Any:
        return failure(FailureKind.BAD_KEY, scope="run") if bad["key"] else reply(request)

    provider = install(monkeypatch, Scripted(script))
    run = do(start(make_judge(cast, concurrency=2)))

    assert (run.state, run.stop_reason, run.progress_failed) == (State.STOPPED, "Broken.", 0)
    assert items(run) == {"due": 40, "done": 0, "failed": 0}
    assert 1 <= sum(provider.calls.values()) <= 4, "nothing begins after the first such failure"
    bad["key"] = False
    suggest.resume_run(actor=cast.admin, run=run)
    run = do(run)
    assert (run.state, run.stop_reason, run.progress_done) == (State.FINISHED, "", 40)


def test_judge_that_may_not_be_asked_stops_with_a_sentence(cast: Cast, settings: Any) -> None:
    people.import_records(cast.project, 1)
    run = start(make_judge(cast))
    settings.JUDGE_URLS = []

    run = do(run)

    assert run.state == State.STOPPED and "operator" in run.stop_reason
    assert run.lease_until is None


def test_server_that_is_down_stops_the_run_and_resuming_asks_again(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 60)
    down = {"now": True}

    def script(request: Request) -> Any:
        return failure(FailureKind.CONNECTION, permanent=False) if down["now"] else reply(request)

    provider = install(monkeypatch, Scripted(script))
    run = do(start(make_judge(cast, concurrency=1)))
    assert run.state == State.STOPPED and "20 times in a row" in run.stop_reason
    assert 20 <= sum(provider.calls.values()) < 60
    down["now"] = False
    suggest.resume_run(actor=cast.admin, run=run)
    run = do(run)
    assert (run.state, run.progress_done, run.progress_failed) == (State.FINISHED, 60, 0)


def test_server_that_wants_a_long_wait_gets_it(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 3)
    install(
        monkeypatch, Scripted(lambda r: failure(FailureKind.RATE_LIMITED, permanent=False, retry_after=3_600))
    )
    run = do(start(make_judge(cast)))

    assert run.state == State.QUEUED and run.not_before is not None
    assert 3_500 < (run.not_before - timezone.now()).total_seconds() <= 3_600
    assert reaper.reap() == 0 and do(run).attempt == run.attempt
    SuggestionRun.objects.update(not_before=timezone.now())
    assert reaper.reap() == 1


@pytest.mark.postgres
def test_budget_is_never_exceeded_by_more_than_the_calls_in_flight(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 50)
    install(monkeypatch, Scripted(price=Decimal("0.01")))
    judge = make_judge(cast, concurrency=8)

    run = do(start(judge, budget=Decimal("0.20")))

    assert (run.state, run.cost, run.progress_done) == (State.OVER_BUDGET, Decimal("0.20"), 20)
    assert "0.2 USD" in run.stop_reason
    with pytest.raises(Invalid):
        suggest.resume_run(actor=cast.admin, run=run, budget=Decimal("0.20"))
    suggest.resume_run(actor=cast.admin, run=run, budget=Decimal(1))
    run = do(run)
    assert (run.state, run.cost) == (State.FINISHED, Decimal("0.50"))


def test_budget_goes_by_what_calls_really_cost(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 50)
    install(monkeypatch, Scripted(lambda r: reply(r, cost=Decimal("0.005")), price=Decimal("0.02")))

    run = do(start(make_judge(cast, concurrency=4), budget=Decimal("0.1")))

    assert run.state == State.OVER_BUDGET
    assert Decimal("0.08") < run.cost <= Decimal("0.1"), (
        "as far as the next estimate allows, not as the first did"
    )
