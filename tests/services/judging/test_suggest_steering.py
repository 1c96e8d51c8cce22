"""A run of a judge steered by people, and a database that goes away under it."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any

import pytest
from django.db import OperationalError

from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.core.vocabulary import SuggestionRunState
from annotation.models import (
    Suggestion,
    SuggestionRun,
)
from annotation.providers import Request
from annotation.reports.judging import runs as reports
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import suggest
from annotation.services.suggest import db_retry, runner, store
from tests import people
from tests.fixtures.judges import Scripted, do, install, items, make_imported_judge, make_judge, reply, start
from tests.people import Cast

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("judge_urls")]
State = SuggestionRunState


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


@pytest.mark.postgres
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
