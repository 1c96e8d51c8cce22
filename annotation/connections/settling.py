"""Steps common to all kinds of servers: labels are brought to the wanted state, traces may still grow, and a
server may fail on single ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.importers.parts.span_records import time_of
from annotation.outside import FailureKind, OutsideError

from .base import MAY_GROW, SERVER_FAILED, SPAN_GONE, LeftOut, Mark, PushTally

FAILURES_IN_A_ROW: Final = 3
"""A server that fails on so many traces one after the other has failed itself."""

Key = tuple[str, str]
"""The key of a label: its name, and its span (empty for the whole trace)."""


@dataclass(frozen=True, slots=True)
class HeldLabel:
    """An own label as it is on the server, with the id that it has there."""

    key: Key
    label_id: str
    body: Mapping[str, Any]


def placed(marks: Sequence[Mark], spans: Iterable[str], record: str, tally: PushTally) -> dict[Key, Mark]:
    """The labels whose spans are there; the others are named in `tally`."""
    there = {*spans, ""}
    tally.left_out += [LeftOut(record, SPAN_GONE) for mark in marks if mark.span_id not in there]
    return {(mark.name, mark.span_id): mark for mark in marks if mark.span_id in there}


def settle(
    wanted: Mapping[Key, Mark],
    held: Iterable[HeldLabel],
    tally: PushTally,
    *,
    same: Callable[[HeldLabel, Mark], bool],
    put: Callable[[Mark, Sequence[HeldLabel]], str],
    remove: Callable[[str], None],
    dry: bool,
) -> None:
    """Bring own labels to what is wanted. `put` makes a label, given those that are in its place, and says
    the id that it has then; whatever else is in a place is removed by its id. With `dry` all is counted
    and nothing done."""
    there: dict[Key, list[HeldLabel]] = defaultdict(list)
    for one in held:
        there[one.key].append(one)
    for key, mark in wanted.items():
        olds = there.pop(key, [])
        stands = next((one.label_id for one in olds if same(one, mark)), "")
        if stands:
            tally.unchanged += 1
        else:
            tally.changed += bool(olds)
            tally.written += not olds
        if not dry:
            stands = stands or put(mark, olds)
            for one in olds:
                if one.label_id != stands:
                    remove(one.label_id)
    for olds in there.values():
        tally.withdrawn += len(olds)
        if not dry:
            for one in olds:
                remove(one.label_id)


def may_still_grow(moments: Iterable[Any], began: float, minutes: int) -> str:
    """The reason why a trace does not come yet, "" when it does: the last of its moments (as text, or
    nothing) must lie `minutes` before the pull `began` (seconds since 1970)."""
    latest = max((time_of(moment) for moment in moments), default=0)
    if latest / 1e9 <= began - minutes * 60:
        return ""
    return translatable(MAY_GROW, minutes=minutes)


class ServerFaults:
    """Traces on which the server fails are named and left out, until there are too many of them in a row."""

    def __init__(self) -> None:
        self._in_a_row = 0

    def well(self) -> None:
        """The server has answered for a trace."""
        self._in_a_row = 0

    def names(self, error: OutsideError) -> str:
        """The reason why the trace cannot be had. Raises `error` when it is no failure of the server, or
        another one too many."""
        self._in_a_row += 1
        if error.failed.kind is not FailureKind.SERVER_ERROR or self._in_a_row >= FAILURES_IN_A_ROW:
            raise error
        return SERVER_FAILED


def as_list(value: Any) -> list[Any]:
    """A list, empty for anything else."""
    return value if isinstance(value, list) else []
