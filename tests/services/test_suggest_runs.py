"""What a run does with answers: each stored once, counted, paid for within the budget; steered by people."""

from __future__ import annotations

import threading
import zlib
from decimal import Decimal
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.core.judging import Problem, ProblemKind
from annotation.core.vocabulary import SuggestionItemState, SuggestionRunState
from annotation.models import (
    AuditEvent,
    JudgeAnswer,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)
from annotation.policies import OPERATOR
from annotation.providers import FailureKind, Request
from annotation.reports import suggestions as reports
from annotation.reports.due import Selection
from annotation.services import suggest
from annotation.services.suggest import patience, store, sweep, work
from tests import people
from tests.people import Cast

from .scripted import URL, Scripted, do, failure, install, make_judge, question_of, reply, start

pytestmark = pytest.mark.django_db
State = SuggestionRunState


@pytest.fixture(autouse=True)
def allowed(settings: Any) -> None:
    settings.JUDGE_URLS = [URL]


def items(run: SuggestionRun) -> dict[str, int]:
    rows = SuggestionItem.objects.filter(run=run).values_list("state", flat=True)
    return {state.value: list(rows).count(state.value) for state in SuggestionItemState}


# ── Answers ─────────────────────────────────────────────────────────────────
def test_every_trajectory_gets_one_suggestion_and_the_run_counts_them(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people.import_records(cast.project, 30)
    provider = install(monkeypatch, Scripted())
    judge = make_judge(cast)
    run = suggest.start_run(actor=cast.admin, judge=judge, budget=Decimal(5))
    seen: list[suggest.Progress] = []

    run = do(run, progress=seen.append)

    assert (run.state, run.attempt, run.stop_reason) == (State.FINISHED, 1, "")
    assert (run.progress_done, run.progress_failed, run.progress_total, run.calls) == (30, 0, 30, 30)
    assert (run.cost, run.tokens_in, run.tokens_out) == (Decimal("0.30"), 3_000, 600)
    assert run.lease_until is None and run.started_at and run.finished_at
    assert provider.calls == {str(row.pk): 1 for row in rows} and provider.closed
    assert seen[-1] == suggest.Progress(30, 0, 30, Decimal("0.30"))
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


def test_missing_labels_stay_missing_and_are_counted(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
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
    item = reports.failed_items(viewer=cast.admin, run=run, kind="truncated")[0]
    (audit,) = reports.answers(viewer=cast.admin, run=run, trajectory=item.trajectory)
    assert (audit.request, audit.response, audit.answer.failure) == ("asked", "<html>", "truncated")

    del broken[3], broken[4]
    assert suggest.retry_failed(actor=cast.admin, run=run) == 3
    run = do(run)

    assert (run.state, run.attempt, run.progress_done, run.progress_failed) == (State.FINISHED, 2, 5, 1)
    assert sorted(provider.calls.values()) == [1, 1, 1, 2, 2, 2], "only what had failed was asked again"
    other = start(judge, selection=Selection(failed_of=run.pk))
    assert other.progress_total == 1
    with pytest.raises(Conflict):
        suggest.retry_failed(actor=cast.admin, run=run)


def test_an_error_of_ours_about_one_trajectory_does_not_end_the_run(
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


def test_storing_twice_is_storing_once_and_a_second_suggestion_does_not_replace_the_first(
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

    monkeypatch.setattr(work, "store", twice)
    install(monkeypatch, Scripted())
    run = do(start(make_judge(cast)))
    assert (run.progress_done, run.calls, run.cost) == (3, 3, Decimal("0.03"))

    other = [store.Answered(one.item, one.trajectory, one.estimate, one.outcome) for one in batches]
    original(run, other)

    run.refresh_from_db()
    assert (run.progress_done, run.calls, run.cost) == (3, 6, Decimal("0.06")), "paid for is paid for"
    assert (Suggestion.objects.count(), SuggestedLabel.objects.count()) == (3, 6)


# ── Ends ────────────────────────────────────────────────────────────────────
def test_what_no_repetition_mends_stops_the_run_and_its_trajectories_stay_due(
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


def test_a_judge_that_may_not_be_asked_stops_with_a_sentence(cast: Cast, settings: Any) -> None:
    people.import_records(cast.project, 1)
    run = start(make_judge(cast))
    settings.JUDGE_URLS = []

    run = do(run)

    assert run.state == State.STOPPED and "operator" in run.stop_reason
    assert run.lease_until is None


def test_a_server_that_is_down_stops_the_run_and_resuming_asks_again(
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


def test_a_server_that_wants_a_long_wait_gets_it(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 3)
    install(
        monkeypatch, Scripted(lambda r: failure(FailureKind.RATE_LIMITED, permanent=False, retry_after=3_600))
    )
    run = do(start(make_judge(cast)))

    assert run.state == State.QUEUED and run.not_before is not None
    assert 3_500 < (run.not_before - timezone.now()).total_seconds() <= 3_600
    assert sweep.reap() == 0 and do(run).attempt == run.attempt
    SuggestionRun.objects.update(not_before=timezone.now())
    assert sweep.reap() == 1


def test_the_budget_is_never_exceeded_by_more_than_the_calls_in_flight(
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


def test_a_budget_goes_by_what_calls_really_cost(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 50)
    install(monkeypatch, Scripted(lambda r: reply(r, cost=Decimal("0.005")), price=Decimal("0.02")))

    run = do(start(make_judge(cast, concurrency=4), budget=Decimal("0.1")))

    assert run.state == State.OVER_BUDGET
    assert Decimal("0.08") < run.cost <= Decimal("0.1"), (
        "as far as the next estimate allows, not as the first did"
    )


# ── Steering ────────────────────────────────────────────────────────────────
def test_pausing_stores_what_is_in_flight_and_resuming_asks_for_the_rest(
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
    turn = work._Attempt._look

    def look(self: Any, now: float) -> None:
        if not gate.is_set() and self.calls.outstanding:
            for _ in range(3):
                assert begun.acquire(timeout=10), "three calls are in flight"
            suggest.pause_run(actor=cast.admin, run=run)
            gate.set()
        turn(self, now)

    monkeypatch.setattr(work._Attempt, "_look", look)
    monkeypatch.setattr(work, "LOOK_SECONDS", 0.0)
    paused = do(run)

    assert paused.state == State.PAUSED and paused.lease_until is None
    assert 0 < paused.progress_done < 12
    assert items(run)["due"] == 12 - paused.progress_done
    suggest.resume_run(actor=cast.admin, run=run)
    run = do(run)
    assert (run.state, run.progress_done) == (State.FINISHED, 12)
    assert set(provider.calls.values()) == {1}, "nothing was asked twice"


def test_a_cancelled_run_stays_cancelled_and_keeps_what_it_brought(
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

    monkeypatch.setattr(work, "store", then_cancel)
    monkeypatch.setattr(work, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(work, "STORE_AT_ONCE", 1)
    run = do(run)

    assert run.state == State.CANCELLED and run.finished_at is not None
    assert Suggestion.objects.count() == run.progress_done > 0
    for steer in (suggest.resume_run, suggest.pause_run, suggest.cancel_run):
        with pytest.raises(StaleState):
            steer(actor=cast.admin, run=run)


def test_a_worker_that_is_to_end_hands_the_run_on(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 5)
    install(monkeypatch, Scripted())
    stopping = threading.Event()
    stopping.set()
    monkeypatch.setattr(work, "LOOK_SECONDS", 0.0)

    run = do(start(make_judge(cast)), stopping=stopping)

    assert run.state == State.QUEUED and run.lease_until is None
    run = do(run)
    assert (run.state, run.progress_done) == (State.FINISHED, 5)


def test_a_judge_has_one_run_at_a_time_and_several_judges_work_side_by_side(cast: Cast) -> None:
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


def test_only_admins_start_and_steer(cast: Cast) -> None:
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


def test_what_makes_no_sense_is_refused_before_it_starts(cast: Cast) -> None:
    judge = make_judge(cast)
    with pytest.raises(Invalid, match="nothing to do"):
        start(judge)
    people.import_records(cast.project, 2)
    for selection in (
        Selection(subset="no"),
        Selection(state="no"),
        Selection(limit=0),
        Selection(failed_of=9),
    ):
        with pytest.raises(Invalid):
            start(judge, selection=selection)
    for budget in (Decimal(0), Decimal("NaN")):
        with pytest.raises(Invalid):
            start(judge, budget=budget)
    with pytest.raises(Invalid, match="prices"):
        start(make_judge(cast, name="Free", price_input=0, price_output=0), budget=Decimal(1))
    imported = suggest.create_judge(actor=OPERATOR, project=cast.project, name="B", kind="imported")
    with pytest.raises(Invalid):
        start(imported)
    assert not SuggestionRun.objects.exists()
    assert start(judge, selection=Selection(subset="tiny", limit=1)).progress_total == 1


# ── The database away ───────────────────────────────────────────────────────
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

    monkeypatch.setattr(work, "store", flaky)
    monkeypatch.setattr(patience, "FIRST_DELAY", 0.001)
    # this test stands in a transaction, where no retry is made
    monkeypatch.setattr(patience, "connection", _Outside())

    run = do(start(make_judge(cast)))

    assert (run.state, run.progress_done, away["times"]) == (State.FINISHED, 4, 0)
    assert set(provider.calls.values()) == {1}


class _Outside:
    in_atomic_block = False

    def close(self) -> None:
        """It stays open: it is the test's."""


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "connection", _Outside())
    monkeypatch.setattr(patience, "FIRST_DELAY", 0.001)
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.02)

    def gone() -> None:
        raise OperationalError

    with pytest.raises(OperationalError):
        patience.patiently(gone)
    with pytest.raises(OperationalError):
        patience.patiently(gone, give_up=lambda: True)
