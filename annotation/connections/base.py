"""The protocol of a connection: traces that come in pages, and labels that are made so there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import urlsplit

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.outside import KeyScheme

STEP: Final = "tristep_step"
OUTCOME: Final = "tristep_outcome"
WORDS: Final = {-1: "incorrect", 0: "neutral", 1: "correct"}
MAX_TRACES: Final = 500_000
MAX_ID: Final = 200
ANSWER_BYTES: Final = 32 * 1024 * 1024
"""An answer with the spans of several traces may have so many bytes."""

GONE: Final = translatable("is no longer on the server")
UNFINISHED: Final = translatable("has not ended yet")
TOO_LARGE: Final = translatable("is larger than {limit} MB", limit=ANSWER_BYTES // 1024**2)
MAY_GROW: Final = translatable(
    "may still grow: the last that is known of it is less than {minutes} minutes old"
)
SERVER_FAILED: Final = translatable("cannot be had: the server fails on it")
SPAN_GONE: Final = translatable("a span of it is no longer on the server, so its label has no place")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionKind:
    """A kind of server. `format`: the importer that reads its traces; `source_label`: what it calls the place
    where they lie; `scheme`: how its key goes with a call. `hint` says what to know of it beforehand. A
    `store` has files in place of traces, of whatever format, and takes releases in place of labels; a `local`
    one is no server. Words are English; a page translates them."""

    name: str
    title: str
    format: str
    source_label: str
    source_help: str
    filter_help: str
    scheme: KeyScheme = KeyScheme.BEARER
    hint: str = ""
    store: bool = False
    local: bool = False
    at_origin: bool = False

    def server_of(self, address: str) -> str:
        """The server at an address: for a store whose bucket or data set is its path, what stands before."""
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc}" if self.at_origin else address


@dataclass(frozen=True, slots=True)
class Place:
    """The place of traces on a server, the filter on them, the id that our labels carry there, and the
    address of the connection."""

    source: str
    filter: str
    uid: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A trace that does not come along, or a label, and why (a translatable sentence without subject)."""

    trace_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PulledTrace:
    """A trace as a file of the kind's format: `raw` are whole lines."""

    trace_id: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """Traces that came together, and those of them that stay away; or spans that were `read` and are being
    gathered yet, so many."""

    traces: Sequence[PulledTrace] = ()
    left_out: Sequence[LeftOut] = ()
    read: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A label that is wanted on a span, or (`span_id` empty) on the whole trace.

    `details` are kept beside it there: the index of the message, how the label came about.
    """

    name: str
    span_id: str
    value: int
    reason: str = ""
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class PushTally:
    """Counts of pushed labels: new there, changed there, as they were, withdrawn there, and left out."""

    written: int = 0
    changed: int = 0
    unchanged: int = 0
    withdrawn: int = 0
    left_out: list[LeftOut] = field(default_factory=list)


class Connected(Protocol):
    """A connection ready to work, used by one thread; every method may raise `OutsideError`."""

    def check(self) -> None:
        """Raise Invalid when the place is not there."""

    def pages(self) -> Iterator[Page]:
        """Every trace once, whole, in memory for one page. Raises Invalid when pages never end."""

    def push(
        self, trace_id: str, record: str, marks: Sequence[Mark], before: Collection[str], *, dry: bool
    ) -> PushTally:
        """Make the labels of a record on its trace so: what is missing is added, what differs changed, what
        is there and not wanted withdrawn; labels of others are left alone. Twice is as once. `before` are
        the spans that may have labels from earlier. With `dry` nothing is changed."""


class Paging:
    """Guards pages against a server that repeats them, or never ends."""

    def __init__(self, most: int = MAX_TRACES) -> None:
        self._most = most
        self._tokens: set[str] = set()
        self._seen: set[int] = set()

    def follow(self, token: str) -> str:
        """The next token. Raises Invalid for one that was there before."""
        if token in self._tokens:
            raise Invalid(
                translatable("The server repeats its pages, so that they never end; nothing was taken."),
                code="pages_repeat",
            )
        self._tokens.add(token)
        if len(self._tokens) > self._most:
            raise self._endless()
        return token

    def is_new(self, trace_id: str) -> bool:
        """Whether a trace is seen for the first time. Raises Invalid when there are too many."""
        seen = hash(trace_id) in self._seen
        self._seen.add(hash(trace_id))
        if len(self._seen) > self._most:
            raise self._endless()
        return not seen

    def _endless(self) -> Invalid:
        sentence = translatable(
            "The server has more than {limit} traces; narrow what is pulled by a filter.",
            limit=f"{self._most:,}",
        )
        return Invalid(sentence, code="too_many_traces")


def is_id(value: object) -> bool:
    """Whether a value can be the id of a trace or a span."""
    return isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isprintable()
