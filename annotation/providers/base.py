"""The protocol of a provider: from one trajectory to a judgement, or to a failure that says whether it is
permanent."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Literal, Protocol

from annotation.core.judging import CostEstimate, JudgeInput, ParsedAnswer, Usage
from annotation.core.judging.distractors import Writing


class FailureKind(StrEnum):
    """The cause of a failed call."""

    # transient: a retry may help
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    NOT_JSON = "not_json"
    """HTML, broken JSON, or no JSON at all: as the reply itself (transient), or as the model's answer."""
    NO_ANSWER = "no_answer"
    """A reply without choices, or without content."""
    # permanent for this trajectory
    TRUNCATED = "truncated"
    NO_LABELS = "no_labels"
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"
    """The trajectory does not fit the token budget, or the model's window."""
    REFUSED = "refused"
    """A content filter, or the model itself, declined."""
    BAD_REQUEST = "bad_request"
    # permanent for the run
    REDIRECT = "redirect"
    WRONG_MODEL = "wrong_model"
    WRONG_ADDRESS = "wrong_address"
    BAD_KEY = "bad_key"
    NO_CREDIT = "no_credit"
    FORBIDDEN_URL = "forbidden_url"


@dataclass(frozen=True, slots=True)
class Request:
    """One trajectory to be judged. `reference` names it in logs (a primary key); it is not sent.

    `earlier`: labels that the judge has given to some of its steps before, which are not asked about again.
    `writing`: it is asked for distractors instead; `prompt`: the judge is asked this, and its answer kept.
    """

    material: JudgeInput
    reference: str = ""
    earlier: Mapping[int, int] = field(default_factory=dict)
    writing: Writing | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A call as it is kept for audit. Keys are redacted in both; `b""` without one.

    `request`: the JSON body as sent. `response`: the body as received, of one that was given up while it
    came in (too large, broken off) its first 256 KB. `status`: the HTTP status, `None` without a reply.
    """

    request: bytes = b""
    response: bytes = b""
    status: int | None = None
    attempts: int = 0
    """Requests sent, this one included; 0 when none was."""
    seconds: float = 0.0
    """From the first attempt to the end, waits included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A usable answer: at least one step has a label, or there is an action where distractors were asked for
    (`judgement.unusable` is `None`).

    `judgement` is about the steps that were asked about. `rest`: why a label or the outcome is missing, when
    another call may bring it.

    `cost` is in the currency of the judge's price. `model` is what the server says answered ("" unknown).
    `clipped`: one sentence for each piece of the trajectory that the judge saw shortened.
    """

    judgement: ParsedAnswer
    usage: Usage
    cost: Decimal
    prompt_version: str
    model: str = ""
    finish_reason: str = ""
    clipped: tuple[str, ...] = ()
    exchange: Exchange = Exchange()
    rest: Failure | None = None

    @property
    def failure(self) -> Failure | None:
        """The failure behind missing labels, if any: as for a `Failure` the failure itself."""
        return self.rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """No usable answer, and why.

    `permanent`: asking again as it is will not help, or would pay again for an answer already given; only a
    person's "retry failed" asks again. `scope`: "run" when every other call would fail alike, so that the
    run should stop at once and show `message`. `retry_after`: seconds after which the server wants to be
    asked again, when it said so. `message`: one sentence for people, without secrets. `judgement` is set
    when there was an answer without a usable label: its problems say why. `usage` and `cost` count what
    the failed call was charged (`None`: nothing is known to have been).
    """

    kind: FailureKind
    permanent: bool
    scope: Literal["call", "run"]
    message: str
    retry_after: float | None = None
    judgement: ParsedAnswer | None = None
    usage: Usage | None = None
    cost: Decimal = Decimal(0)
    exchange: Exchange = Exchange()

    @property
    def failure(self) -> Failure:
        """Itself."""
        return self

    @property
    def raw(self) -> bytes | None:
        """The answer as received, redacted; `None` without one."""
        return self.exchange.response or None


class Stopped(Exception):
    """Raised by a hook to give a call up between two attempts; `judge` lets it through."""


def _admit() -> None:
    """No limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Functions that a provider takes from outside, so that time and chance are the caller's.

    `admit` is called before every attempt: it may wait (a rate limit shared by all workers), and may raise
    `Stopped`. `sleep` may raise it too (a run that was paused or cancelled). `rng` is used under a
    lock. `clock` counts seconds, monotonic; `now` is the time of day in seconds since 1970 (for HTTP
    dates). `attempts`: how often one trajectory is asked about before that has failed.
    """

    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    admit: Callable[[], None] = _admit
    rng: random.Random = field(default_factory=random.Random)
    attempts: int = 5


class Provider(Protocol):
    """A judge ready to work. Shared by the threads of a worker; `close` when the run ends."""

    def judge(self, request: Request) -> Reply | Failure:
        """Judge one trajectory. Raises nothing but `Stopped`. Holds no lock while it waits."""

    def estimate(self, request: Request) -> CostEstimate:
        """The expected effort of `judge`, without asking anybody. Never raises."""

    def close(self) -> None:
        """Give connections back. Calls still under way may fail."""
