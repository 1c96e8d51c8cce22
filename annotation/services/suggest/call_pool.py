"""Call a judge from a pool of threads that do nothing but HTTP, without a database connection."""

import logging
import queue
import threading
import time
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from annotation.core.i18n import translatable
from annotation.core.judging import JudgeInput
from annotation.core.judging.distractors import Writing
from annotation.providers import Exchange, Failure, FailureKind, Provider, Reply, Request, Stopped

log = logging.getLogger(__name__)

MAX_RESPONSE_BYTES = 1_000_000
COMPRESSION = 6


@dataclass(slots=True)
class PendingCall:
    """One trajectory to be asked about. `estimate`: what the call may cost, in US dollars; `earlier`: labels
    by message index that the judge has given to some of its steps before; `writing`: distractors are
    wanted; `prompt`: it is asked this."""

    item: int
    trajectory: int
    material: JudgeInput
    estimate: Decimal = Decimal(0)
    earlier: dict[int, int] = field(default_factory=dict)
    writing: Writing | None = None
    prompt: str | None = None

    @property
    def request(self) -> Request:
        """The request to the provider."""
        return Request(
            self.material,
            reference=str(self.trajectory),
            earlier=self.earlier,
            writing=self.writing,
            prompt=self.prompt,
        )


@dataclass(slots=True)
class CallResult:
    """The result of one call; `outcome` None: it was given up before anything was sent that counts.

    `request` and `response` are compressed; the id is what makes storing it twice storing it once.
    """

    item: int
    trajectory: int
    estimate: Decimal
    outcome: Reply | Failure | None
    request: bytes = b""
    response: bytes = b""
    response_size: int = 0
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    at: datetime = field(default_factory=timezone.now)

    @property
    def failure(self) -> Failure | None:
        """The failure, if all or a part of the labels is missing for it."""
        return None if self.outcome is None else self.outcome.failure


class CallPool:
    """`concurrency` threads around one provider.

    `halt` set: no further attempt begins, and what was not begun comes back as given up; calls in flight go
    on to their end.
    """

    def __init__(self, provider: Provider, concurrency: int, halt: threading.Event) -> None:
        self._provider = provider
        self._halt = halt
        self._todo: queue.SimpleQueue[PendingCall | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[CallResult] = queue.SimpleQueue()
        self.outstanding = 0
        self._threads = [
            # daemons: a process that has to end does not wait for a server that does not answer
            threading.Thread(target=self._work, name=f"judge-{number}", daemon=True)
            for number in range(concurrency)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, due: PendingCall) -> None:
        """Have this trajectory judged as soon as a thread is free."""
        self.outstanding += 1
        self._todo.put(due)

    def collect(self, seconds: float) -> list[CallResult]:
        """The results that have come in, after waiting up to `seconds` for the first."""
        results: list[CallResult] = []
        try:
            results.append(self._answers.get(timeout=seconds))
            while True:
                results.append(self._answers.get_nowait())
        except queue.Empty:
            pass
        self.outstanding -= len(results)
        return results

    def close(self) -> None:
        """Let the threads end, and connections with them; what is still in flight is given up."""
        self._halt.set()
        for _ in self._threads:
            self._todo.put(None)
        self._provider.close()

    def _work(self) -> None:
        while (due := self._todo.get()) is not None:
            answered = self._ask(due)
            if (failure := answered.failure) is not None and failure.scope == "run":
                # every other call would fail alike: none begins any more
                self._halt.set()
            self._answers.put(answered)

    def _ask(self, due: PendingCall) -> CallResult:
        begun = time.monotonic()
        try:
            if self._halt.is_set():
                raise Stopped
            return _answered(due, self._provider.judge(due.request))
        except Stopped:
            return CallResult(due.item, due.trajectory, due.estimate, None)
        except Exception as error:
            # one trajectory that a provider cannot bear must not end a run of thousands
            log.exception("judging trajectory %s failed", due.trajectory)
            return _answered(due, _unexpected(error, time.monotonic() - begun))


def _answered(due: PendingCall, outcome: Reply | Failure) -> CallResult:
    exchange = outcome.exchange
    return CallResult(
        due.item,
        due.trajectory,
        due.estimate,
        outcome,
        request=zlib.compress(exchange.request, COMPRESSION),
        response=zlib.compress(exchange.response[:MAX_RESPONSE_BYTES], COMPRESSION),
        response_size=len(exchange.response),
    )


def _unexpected(error: Exception, seconds: float) -> Failure:
    """An unexpected error as a failure, without its text, which may quote a trajectory."""
    return Failure(
        kind=FailureKind.BAD_REQUEST,
        permanent=True,
        scope="call",
        message=translatable(
            "The judge could not be asked: {error}. See the server’s log.", error=type(error).__name__
        ),
        exchange=Exchange(seconds=seconds),
    )


Sleep = Callable[[float], None]


def sleeper(halt: threading.Event) -> Sleep:
    """A `sleep` for providers that ends, by Stopped, as soon as the run is to end."""

    def sleep(seconds: float) -> None:
        if halt.wait(seconds):
            raise Stopped

    return sleep
