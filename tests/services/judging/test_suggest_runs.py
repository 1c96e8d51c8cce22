"""Runs of a judge: answers stored once, paid within the budget, steering, repeated questions, rate limits."""

from __future__ import annotations

import threading
import zlib
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.core.judging import Problem, ProblemKind
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import (
    AuditEvent,
    Judge,
    JudgeAnswer,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.providers import FailureKind, Request, Stopped
from annotation.reports.judging import runs as reports
from annotation.reports.judging.estimates import estimate
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import suggest
from annotation.services.suggest import db_retry, pending_items, rate_limit, reaper, runner, store
from annotation.services.suggest.rate_limit import RateLimiter, reserve
from tests import people
from tests.fixtures.judges import (
    PRICE,
    Scripted,
    do,
    failure,
    install,
    items,
    make_imported_judge,
    make_judge,
    question_of,
    reply,
    start,
)
from tests.people import Cast
from tests.suggesting import suggest as suggests

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


# ── Steering ──────────────────────────────
def test_pause_stores_what_is_in_flight_and_resuming_asks_for_the_rest(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 12)
    run = start(make_judge(cast, concurrency=3))
    gate, begun = threading.Event(), threading.Semaphore(0)

    def script(request: Request) -> Any:
        begun.release()
        gate.wait(10)
        return reply(request)

    provider = install(monkeypatch, Scripted(script))
    turn = runner.RunAttempt._look

    def look(self: Any, now: float) -> None:
        if not gate.is_set() and self.calls.outstanding:
            for _ in range(3):
                assert begun.acquire(timeout=10), "three calls are in flight"
            suggest.pause_run(actor=cast.admin, run=run)
            gate.set()
        turn(self, now)

    monkeypatch.setattr(runner.RunAttempt, "_look", look)
    monkeypatch.setattr(runner, "LOOK_SECONDS", 0.0)
    paused = do(run)

    assert paused.state == State.PAUSED and paused.lease_until is None
    assert 0 < paused.progress_done < 12
    assert items(run)["due"] == 12 - paused.progress_done
    suggest.resume_run(actor=cast.admin, run=run)
    run = do(run)
    assert (run.state, run.progress_done) == (State.FINISHED, 12)
    assert set(provider.calls.values()) == {1}, "nothing was asked twice"


@pytest.mark.postgres
def test_cancel_is_for_ever_and_keeps_what_the_run_brought(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 10)
    run = start(make_judge(cast, concurrency=1))

    def script(request: Request) -> Any:
        return reply(request)

    install(monkeypatch, Scripted(script))
    original = store.store

    def then_cancel(run: SuggestionRun, batch: Any, **more: Any) -> Any:
        result = original(run, batch, **more)
        if SuggestionRun.objects.get(pk=run.pk).state == State.RUNNING:
            suggest.cancel_run(actor=cast.admin, run=run)
        return result

    monkeypatch.setattr(runner, "store", then_cancel)
    monkeypatch.setattr(runner, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(runner, "STORE_AT_ONCE", 1)
    run = do(run)

    assert run.state == State.CANCELLED and run.finished_at is not None
    assert Suggestion.objects.count() == run.progress_done > 0
    for steer in (suggest.resume_run, suggest.pause_run, suggest.cancel_run):
        with pytest.raises(StaleState):
            steer(actor=cast.admin, run=run)


@pytest.mark.postgres
def test_worker_that_is_to_end_hands_the_run_on(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 5)
    install(monkeypatch, Scripted())
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(runner, "LOOK_SECONDS", 0.0)

    run = do(start(make_judge(cast)), stopping=stopping)

    assert run.state == State.QUEUED and run.lease_until is None
    run = do(run)
    assert (run.state, run.progress_done) == (State.FINISHED, 5)


def test_judge_has_one_run_at_a_time_and_several_judges_work_side_by_side(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    judge = make_judge(cast)
    run = start(judge)
    with pytest.raises(Conflict):
        start(judge)
    start(make_judge(cast, name="Other"))
    suggest.pause_run(actor=cast.admin, run=run)
    with pytest.raises(Conflict):
        start(judge)
    suggest.cancel_run(actor=cast.admin, run=run)
    start(judge)


def test_run_is_started_and_steered_by_admins_only(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    judge = make_judge(cast)
    run = start(judge)
    for user in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            suggest.start_run(actor=user, judge=judge)
        for steer in (suggest.pause_run, suggest.resume_run, suggest.cancel_run, suggest.retry_failed):
            with pytest.raises(Denied):
                steer(actor=user, run=run)
        with pytest.raises(Denied):
            reports.progress(viewer=user, run=run)


def test_run_that_makes_no_sense_is_refused_before_it_starts(cast: Cast) -> None:
    judge = make_judge(cast)
    with pytest.raises(Invalid, match="Nothing to do"):
        start(judge)
    people.import_records(cast.project, 2)
    for selection in (
        RunSelection(subset="no"),
        RunSelection(state="no"),
        RunSelection(limit=0),
        RunSelection(failed_of=9),
    ):
        with pytest.raises(Invalid):
            start(judge, selection=selection)
    for budget in (Decimal(0), Decimal("NaN")):
        with pytest.raises(Invalid):
            start(judge, budget=budget)
    with pytest.raises(Invalid, match="prices"):
        start(make_judge(cast, name="Free", price_input=0, price_output=0), budget=Decimal(1))
    with pytest.raises(Invalid):
        start(make_imported_judge(cast.project))
    assert not SuggestionRun.objects.exists()
    assert start(judge, selection=RunSelection(subset="tiny", limit=1)).progress_total == 1


# ── The database away ─────────────────────
def test_answers_wait_for_a_database_that_is_away(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 4)
    provider = install(monkeypatch, Scripted())
    original = store.store
    away = {"times": 3}

    def flaky(run: SuggestionRun, batch: Any, **more: Any) -> Any:
        if away["times"]:
            away["times"] -= 1
            raise OperationalError("the database system is starting up")
        return original(run, batch, **more)

    monkeypatch.setattr(runner, "store", flaky)
    monkeypatch.setattr(db_retry, "FIRST_DELAY", 0.001)
    # this test stands in a transaction, where no retry is made
    monkeypatch.setattr(db_retry, "connection", _Outside())

    run = do(start(make_judge(cast)))

    assert (run.state, run.progress_done, away["times"]) == (State.FINISHED, 4, 0)
    assert set(provider.calls.values()) == {1}


class _Outside:
    in_atomic_block = False

    def close(self) -> None:
        """It stays open: it is the test's."""


def test_database_retry_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db_retry, "connection", _Outside())
    monkeypatch.setattr(db_retry, "FIRST_DELAY", 0.001)
    monkeypatch.setattr(db_retry, "PATIENCE_SECONDS", 0.02)

    def gone() -> None:
        raise OperationalError

    with pytest.raises(OperationalError):
        db_retry.retry_db(gone)
    with pytest.raises(OperationalError):
        db_retry.retry_db(gone, give_up=lambda: True)


def half_said(request: Request) -> Any:
    """A script: the first half of the steps is labelled; what has labels already is not labelled again."""
    asked = [index for index in request.material.steps if index not in request.earlier]
    if request.earlier:
        return reply(request, labels=dict.fromkeys(asked, 0), reasons={}, outcome=-1)
    labels: dict[int, int | None] = dict.fromkeys(asked)
    labels[asked[0]] = -1
    missing = len(asked) - 1
    said = reply(request, labels=labels, reasons={asked[0]: "first"}, outcome=None, missing=missing)
    return replace(said, rest=failure(FailureKind.SERVER_ERROR, permanent=False))


@pytest.mark.parametrize("again", ["retry", "new run"])
def test_labels_of_one_part_are_kept_when_another_fails_and_only_the_rest_is_asked_again(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    (row,) = people.import_records(cast.project, 1)
    provider = install(monkeypatch, Scripted(half_said))
    judge = make_judge(cast)
    whole = estimate(viewer=OPERATOR, judge=judge)
    run = do(start(judge))

    assert items(run)["failed"] == 1 and (run.labels_missing, run.progress_failed) == (1, 1)
    suggestion = Suggestion.objects.get(trajectory=row)
    said = suggestion.labels.order_by("step").values_list("step__message_index", "value", "reason")
    assert list(said) == [(2, -1, "first")] and suggestion.missing == 1
    answer = JudgeAnswer.objects.get()
    assert (answer.failure, answer.message, suggestion.answer) == ("server_error", "Broken.", answer)

    rest = estimate(viewer=OPERATOR, judge=judge)
    assert rest.trajectories == 1 and 0 < rest.tokens_out < whole.tokens_out
    first = run
    if again == "retry":
        assert suggest.retry_failed(actor=cast.admin, run=run) == 1
    else:
        run = start(judge)
        assert (run.progress_total, run.labels_missing) == (1, 1)
    run = do(run)
    suggestion.refresh_from_db()
    assert suggestion.run == first
    assert list(said.all()) == [(2, -1, "first"), (4, 0, "")]
    assert (suggestion.missing, suggestion.outcome, run.labels_missing) == (0, -1, 0)
    calls = 2 if again == "retry" else 1
    assert (run.progress_done, run.progress_failed, run.calls) == (1, 0, calls)
    assert provider.calls == {str(row.pk): 2} and run.cost == calls * Decimal("0.01")
    with pytest.raises(Invalid, match="already has suggestions"):
        start(judge)


def test_outcome_that_an_answer_left_out_is_not_paid_for_again_and_one_that_was_broken_off_is(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 3)
    broken = {1}

    def script(request: Request) -> Any:
        said = reply(request, outcome=None)
        if question_of(request) in broken:
            return replace(said, rest=failure(FailureKind.REFUSED))
        return said

    provider = install(monkeypatch, Scripted(script))
    judge = make_judge(cast)
    first = do(start(judge, selection=RunSelection(limit=2)))
    assert items(first) == {"due": 0, "done": 1, "failed": 1}
    second = start(judge)
    assert second.progress_total == 2, "what was broken off, and what is new"
    broken.clear()
    # the rest is estimated as such, so that a small budget is enough for it
    second.budget = PRICE + PRICE / 10
    second.save()
    provider.script = lambda request: reply(
        request, outcome=None, cost=PRICE / (10 if request.earlier else 1)
    )
    assert do(second).state == State.FINISHED and items(second)["done"] == 2
    with pytest.raises(Invalid, match="already has suggestions"):
        start(judge)
    assert Suggestion.objects.filter(outcome=None, missing=0).count() == 3
    # nor does a retry ask again about what another run has brought since
    with pytest.raises(Invalid, match="already has suggestions"):
        suggest.retry_failed(actor=cast.admin, run=first)
    assert sorted(provider.calls.values()) == [1, 1, 2]


def test_steps_with_an_invalid_label_are_counted_as_such_when_a_suggestion_is_completed(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 1)
    said: list[dict[str, Any]] = [
        {"labels": {2: None, 4: None}, "missing": 1, "invalid": 1},  # of 4 it said “good”
        {"labels": {2: None, 4: 1}, "missing": 1},
        {"labels": {2: 0}},
    ]
    install(monkeypatch, Scripted(lambda request: reply(request, **said.pop(0))))
    judge, counted = make_judge(cast), []
    for _ in range(3):
        fitted = timezone.now()
        Judge.objects.update(recalibrate=True, recalibrated_at=fitted)
        run = do(start(judge))
        judge.refresh_from_db()
        assert judge.recalibrated_at == (None if counted else fitted), (
            "what is completed is recalibrated again"
        )
        suggestion = Suggestion.objects.get()
        assert (run.labels_missing, run.labels_invalid) == (suggestion.missing, suggestion.invalid)
        counted.append((suggestion.missing, suggestion.invalid))
    assert counted == [(1, 1), (1, 0), (0, 0)] and SuggestedLabel.objects.count() == 2


def test_loader_asks_for_earlier_labels_only_where_there_are_some(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_items, "LOADED_AT_ONCE", 2)
    people.import_records(cast.project, 4)
    judge = make_judge(cast)
    run = start(judge)
    asked = []
    for begun in (False, True):
        if begun:
            suggests(judge, Trajectory.objects.earliest("pk"), [1, None], outcome=None)
        with CaptureQueriesContext(connection) as queries:
            loader = pending_items.ItemLoader(run)
            earlier = []
            while loader.peek() is not None:
                earlier.append(loader.pop().earlier)
        asked.append(len(queries))
        assert earlier == [{2: 1} if begun else {}, {}, {}, {}]
    # the guideline, what was begun, and three loads; then the labels of what was begun
    assert asked == [5, 6]


def test_server_that_wants_a_wait_in_mid_trajectory_loses_no_label(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 1)

    def script(request: Request) -> Any:
        said = half_said(request)
        wait = failure(FailureKind.RATE_LIMITED, permanent=False, retry_after=0.0)
        return replace(said, rest=wait) if said.rest is not None else said

    install(monkeypatch, Scripted(script))
    run = do(start(make_judge(cast)))
    assert (run.state, run.attempt, run.progress_done, run.labels_missing) == (State.FINISHED, 2, 1, 0)
    assert list(SuggestedLabel.objects.order_by("step").values_list("value", flat=True)) == [-1, 0]


NOW = timezone.now()


@pytest.fixture
def judge(cast: Cast, judge_urls: None) -> Judge:
    """120 calls a minute: one every half second."""
    return make_judge(cast, rate_per_minute=120)


def ahead(moments: list[Any]) -> list[float]:
    return [(moment - NOW).total_seconds() for moment in moments]


def test_rate_limit_spaces_moments_evenly_and_each_is_nobody_elses(judge: Judge) -> None:
    assert ahead(reserve(judge, 1, now=NOW)) == [0.0]
    stale = Judge.objects.get()
    assert ahead(reserve(judge, 5, now=NOW)) == [0.5]
    assert reserve(stale, 5, now=NOW) == [], "a second ahead is taken, whoever asks"
    assert ahead(reserve(stale, 5, now=NOW + timedelta(seconds=1))) == [1.0, 1.5]


@pytest.mark.postgres
def test_worker_that_takes_over_goes_on_where_the_moments_ended(judge: Judge) -> None:
    reserve(judge, 2, now=NOW)

    assert ahead(reserve(Judge.objects.get(), 9, now=NOW + timedelta(seconds=0.1))) == [1.0]


def test_rate_limit_does_not_make_up_for_time_that_nobody_used(judge: Judge) -> None:
    reserve(judge, 2, now=NOW)

    assert ahead(reserve(judge, 9, now=NOW + timedelta(minutes=5))) == [300.0, 300.5]


def test_rate_limit_is_not_stopped_for_ever_by_a_clock_that_was_wrong(judge: Judge) -> None:
    Judge.objects.update(next_call_at=NOW + timedelta(days=9))

    assert ahead(reserve(judge, 1, now=NOW)) == [0.0]


def test_rate_limit_that_is_slow_lets_calls_through_one_by_one(judge: Judge) -> None:
    judge.rate_per_minute = 2
    assert ahead(reserve(judge, 9, now=NOW)) == [0.0]
    assert reserve(judge, 9, now=NOW + timedelta(seconds=20)) == []
    assert ahead(reserve(judge, 9, now=NOW + timedelta(seconds=29.5))) == [30.0]


def test_run_keeps_to_the_limit_and_every_attempt_counts(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 6)
    begun: list[datetime] = []
    moments: list[datetime] = []
    provider = Scripted()

    def script(request: Request) -> Any:
        begun.append(timezone.now())
        provider.hooks.admit()
        begun.append(timezone.now())
        return reply(request)

    def noted(*asked: Any) -> list[datetime]:
        taken = reserve(*asked)
        moments.extend(taken)
        return taken

    provider.script = script
    install(monkeypatch, provider)
    monkeypatch.setattr(rate_limit, "reserve", noted)
    run = do(start(make_judge(cast, rate_per_minute=1_200, concurrency=6)))

    assert run.state == SuggestionRunState.FINISHED
    assert len(begun) == 12 <= len(moments)
    gap, jitter = timedelta(milliseconds=50), timedelta(milliseconds=5)
    assert all(later - earlier >= gap for earlier, later in pairwise(sorted(moments)))
    # each attempt waited for its moment, however late a busy machine began it
    assert all(at >= moment - jitter for at, moment in zip(sorted(begun), sorted(moments), strict=False))


def test_rate_limit_lets_whoever_waits_go_when_the_run_ends(judge: Judge) -> None:
    halt = threading.Event()
    pace = RateLimiter(judge, halt)
    threading.Timer(0.05, halt.set).start()

    with pytest.raises(Stopped):
        pace.admit()
    with pytest.raises(Stopped):
        pace.admit()
