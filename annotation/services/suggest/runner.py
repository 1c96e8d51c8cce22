"""Do a run: the job's own thread reads, stores and renews the lease; other threads only call."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final, TypeVar

from django.utils import timezone

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.judging.kinds import KINDS
from annotation.core.vocabulary import SuggestionItemState, SuggestionRunState
from annotation.models import SuggestionItem, SuggestionRun
from annotation.providers import Failure, FailureKind, Hooks, Provider, Stopped

from . import lease
from .baseline import open_baseline
from .call_pool import CallPool, CallResult, sleeper
from .db_retry import retry_db
from .judge_setup import open_provider
from .pending_items import ItemLoader
from .rate_limit import RateLimiter
from .store import BatchTotals, store

log = logging.getLogger(__name__)

T = TypeVar("T")
State = SuggestionRunState
# So often the loop turns when nothing comes in; answers that come in are stored this soon.
TURN_SECONDS: Final = 0.05
STORE_SECONDS: Final = 0.1
STORE_AT_ONCE: Final = 64
LOOK_SECONDS: Final = 0.5
RENEW_SECONDS: Final = 5.0
# Beyond those being called: so that no thread waits for the database.
AHEAD: Final = 8
# A process that is to end waits so long for calls in flight; what it gives up is asked again by the next.
GRACE_SECONDS: Final = 10.0
# So many failures of the server in a row, and not of single trajectories, stop a run.
FAILURES_IN_A_ROW: Final = 20


@dataclass(frozen=True, slots=True)
class RunTotals:
    """The totals of a run, for whoever waits beside it."""

    done: int
    failed: int
    total: int
    cost: Decimal


def run_suggestions(
    *,
    run_id: int,
    progress: Callable[[RunTotals], None] = lambda _: None,
    stopping: threading.Event | None = None,
    interrupted: SuggestionRunState = State.QUEUED,
) -> SuggestionRun:
    """Do a queued run until it ends, is paused or cancelled, or `stopping` is set.

    Idempotent: a run that somebody else holds, or that is not queued, is left alone. When `stopping` is set
    the run becomes `interrupted`: queued for the next worker, or paused. Whatever else breaks it off leaves
    it to the reaper, and no answer that was stored is asked for again. Returns the row as it is then.
    """
    stop_event = stopping or threading.Event()
    while retry_db(lambda: lease.take(run_id), give_up=stop_event.is_set):
        run = retry_db(lambda: lease.load(run_id), give_up=stop_event.is_set)
        RunAttempt(run, progress, stop_event, interrupted).go()
        # it may have been resumed while the calls in flight of before were still being stored
        if stop_event.is_set():
            break
    return SuggestionRun.objects.select_related("judge", "project").get(pk=run_id)


class RunAttempt:
    """One worker's hold on a run, from taking it to letting it go."""

    def __init__(
        self,
        run: SuggestionRun,
        progress: Callable[[RunTotals], None],
        stopping: threading.Event,
        interrupted: SuggestionRunState,
    ) -> None:
        self.run = run
        self.progress = progress
        self.stopping = stopping
        self.interrupted = interrupted
        self.halt = threading.Event()
        self.pace = RateLimiter(run.judge, self.halt)
        self.waiting: list[CallResult] = []
        self.still_due: set[int] = set()
        self.in_flight = Decimal(0)
        self.failures = 0
        self.end: SuggestionRunState | None = None
        self.reason = ""
        self.wait: timedelta | None = None
        self.lost = False
        now = time.monotonic()
        self.stored_at = self.looked_at = self.renewed_at = now
        self.deadline = float("inf")

    def go(self) -> None:
        """Work until nothing is left, or a reason to end comes up."""
        try:
            provider = self._opened(Hooks(sleep=sleeper(self.halt), admit=self.pace.admit))
        except Stopped:
            self._conclude(halted=True)
            return
        except Invalid as refused:
            self._finish(State.STOPPED, _sentence(refused))
            return
        self.provider = provider
        self.feed = self._patiently(lambda: ItemLoader(self.run))
        self.calls = CallPool(provider, self.run.judge.concurrency, self.halt)
        try:
            self._loop()
        except BaseException:
            self._rescue()
            raise
        else:
            halted = self.halt.is_set()
        finally:
            self.calls.close()
        self._conclude(halted)

    def _opened(self, hooks: Hooks) -> Provider:
        if KINDS[self.run.judge.kind].trained:
            return open_baseline(self.run, hooks, alive=self._breathe)
        return open_provider(self.run.judge, hooks)

    def _breathe(self) -> None:
        """Called all through a training: the lease is kept, and a pause ends it. Raises Stopped."""
        now = time.monotonic()
        if now - self.looked_at >= LOOK_SECONDS:
            self._look(now)
        if self.halt.is_set() or self.lost:
            raise Stopped

    def _loop(self) -> None:
        """Ask, store and look around in turns, until nothing is left to do or the run is to end.

        1. Collect the answers that have come in (waiting a moment for one); note failures that end the run.
        2. Store them, when there are enough, enough time has passed, or nothing is in flight.
        3. Look at the row from time to time: renew the lease, see whether somebody paused or cancelled.
        4. Unless the run is halted, hand out calls as far as concurrency, rate and budget allow.
        5. Return when no more calls are to be made and every answer is stored.
        6. Return at the deadline of a process that is asked to stop, with what has come back stored.
        """
        while True:
            self.waiting += self._sorted_out(self.calls.collect(TURN_SECONDS))
            now = time.monotonic()
            idle = not self.calls.outstanding
            if self.waiting and (
                idle or now - self.stored_at >= STORE_SECONDS or len(self.waiting) >= STORE_AT_ONCE
            ):
                self._store()
            if now - self.looked_at >= LOOK_SECONDS:
                self._look(now)
            if not self.halt.is_set():
                self._hand_out()
                self.pace.replenish(self._patiently)
            over = self.halt.is_set() or self.feed.empty
            if over and not self.calls.outstanding and not self.waiting:
                return
            if now > self.deadline:
                # calls that do not come back in time are given up; what came back is stored above
                if self.waiting:
                    self._store()
                return

    def _rescue(self) -> None:
        """Something broke: store what has been paid for, if that is still possible."""
        self.halt.set()
        self.waiting += [result for result in self.calls.collect(0) if result.outcome is not None]
        if self.waiting:
            with contextlib.suppress(Exception):
                store(self.run, self.waiting, still_due=set())

    # ── In and out ────────────────────────
    def _hand_out(self) -> None:
        most = self.run.judge.concurrency + AHEAD
        while self.calls.outstanding < most:
            due = self._patiently(self.feed.peek)
            if due is None:
                return
            if self.run.budget is not None:
                due.estimate = due.estimate or self.provider.estimate(due.request).cost
                if self._spent() + self.in_flight + due.estimate > self.run.budget:
                    if not self.calls.outstanding and not self.waiting:
                        self._stop(State.OVER_BUDGET, self._over_budget(due.estimate))
                    return
            self.feed.pop()
            self.in_flight += due.estimate
            self.calls.submit(due)

    def _spent(self) -> Decimal:
        """The cost of the run so far, with answers that are not stored yet."""
        return self.run.cost + sum(
            (result.outcome.cost for result in self.waiting if result.outcome is not None), Decimal(0)
        )

    def _over_budget(self, estimate: Decimal) -> str:
        assert self.run.budget is not None
        return translatable(
            "{cost} of {budget} USD are spent, and the next call may cost {next} USD.",
            budget=f"{self.run.budget.normalize():f}",
            cost=f"{self.run.cost:.4f}",
            next=f"{estimate:.4f}",
        )

    def _sorted_out(self, answers: list[CallResult]) -> list[CallResult]:
        """The answers to store; failures that speak of the whole run end it."""
        for answer in answers:
            self.in_flight -= answer.estimate
            if answer.failure is not None:
                self._failed(answer, answer.failure)
            elif answer.outcome is not None:
                self.failures = 0
        return [answer for answer in answers if answer.outcome is not None]

    def _failed(self, result: CallResult, failure: Failure) -> None:
        if failure.scope == "run":
            self.still_due.add(result.item)
            self._stop(State.STOPPED, failure.message)
        elif failure.kind == FailureKind.RATE_LIMITED and failure.retry_after is not None:
            self.still_due.add(result.item)
            self.wait = max(self.wait or timedelta(0), timedelta(seconds=failure.retry_after))
            self._stop(State.QUEUED, translatable("The judge’s server asks to wait before the next call."))
        elif not failure.permanent:
            self.failures += 1
            if self.failures >= max(FAILURES_IN_A_ROW, self.run.judge.concurrency):
                sentence = translatable(
                    "The judge’s server failed {n} times in a row; last error: {why}",
                    n=self.failures,
                    why=failure.message,
                )
                self._stop(State.STOPPED, sentence)

    def _stop(self, state: SuggestionRunState, reason: str) -> None:
        """Begin nothing more; the first reason counts."""
        if self.end is None:
            self.end, self.reason = state, reason
        self.halt.set()

    def _store(self) -> None:
        batch = self.waiting
        due = {result.id for result in batch if result.item in self.still_due and result.failure is not None}
        stored: BatchTotals = self._patiently(lambda: store(self.run, batch, still_due=due))
        self.waiting = []
        self.stored_at = time.monotonic()
        self.run.cost += stored.cost
        self.run.progress_done += stored.done
        self.run.progress_failed += stored.failed
        self.progress(
            RunTotals(
                self.run.progress_done, self.run.progress_failed, self.run.progress_total, self.run.cost
            )
        )

    # ── The lease, and what people want meanwhile ──
    def _look(self, now: float) -> None:
        self.looked_at = now
        if self.stopping.is_set() and self.deadline == float("inf"):
            self.deadline = now + GRACE_SECONDS
            self._stop(self.interrupted, "")
        if now - self.renewed_at >= RENEW_SECONDS:
            self.lost = not self._patiently(lambda: lease.renew(self.run))
            self.renewed_at = now
        row = self._patiently(lambda: lease.mine(self.run).values_list("state", "budget").first())
        self.lost = self.lost or row is None
        if row is None or row[0] != State.RUNNING:
            self.halt.set()
        else:
            self.run.budget = row[1]

    def _patiently(self, do: Callable[[], T]) -> T:
        return retry_db(do, give_up=self.stopping.is_set)

    # ── The end ───────────────────────────
    def _conclude(self, halted: bool) -> None:
        """Write down how this attempt ended; what somebody else has made of the run meanwhile stands."""
        if self.lost:
            return
        if self.end is not None:
            self._finish(self.end, self.reason)
        elif halted:
            self._patiently(lambda: lease.release(self.run))
        else:
            due = SuggestionItem.objects.filter(run=self.run, state=SuggestionItemState.DUE)
            # something may have been put back: then it is another attempt's turn
            self._finish(State.QUEUED if self._patiently(due.exists) else State.FINISHED, "")

    def _finish(self, state: SuggestionRunState, reason: str) -> None:
        later = timezone.now() + self.wait if self.wait is not None and state == State.QUEUED else None
        self._patiently(lambda: lease.end(self.run, state, reason, not_before=later))
        log.info("run %s: %s", self.run.pk, state.value)


def _sentence(refused: Invalid) -> str:
    return " ".join(dict.fromkeys([refused.message, *refused.fields.values()]))
