"""Ask a judge about one trajectory until every step has a label, or nothing more is to be had; about a
decision in both orders.

An answer that was cut off keeps its finished labels, and the rest is asked for again; so is what a part of a
long trajectory has not brought. How often is bounded, and no label is ever made up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.judging import ParsedAnswer, Usage
from annotation.core.judging.parsing import both_orders
from annotation.core.judging.prompt_parts import joined, parts_of

from .base import Exchange, Failure, FailureKind, Reply

Ask = Callable[[tuple[int, ...], Mapping[int, int]], Reply | Failure]
"""Asks about these steps, given the labels of others; its answer limit may shrink meanwhile."""

MORE_CALLS: Final = 4
"""So many calls a trajectory may take beyond two for each of its parts."""
_OF_THE_ANSWER: Final = frozenset(
    {FailureKind.NOT_JSON, FailureKind.NO_LABELS, FailureKind.TOO_LARGE, FailureKind.NO_ANSWER}
)
"""Failures after which another part may still be answered."""


def ask_in_parts(
    parts: Sequence[tuple[int, ...]], earlier: Mapping[int, int], ask: Ask, limit: Callable[[], int]
) -> Reply | Failure:
    """The judge's labels of the steps of `parts`, asked one part after the other.

    `earlier`: labels that it has given to other steps of the trajectory before; `limit`: the tokens that an
    answer may have now. A reply without labels that should be there says in `rest` why. One call is handed
    through as it came.
    """
    calls = _Calls(parts, earlier)
    while calls.todo and len(calls.said) < calls.most:
        steps = calls.todo.popleft()
        labels = {index: label for index, label in calls.labels.items() if index not in steps}
        outcome = ask(steps, labels)
        calls.said.append(outcome)
        if isinstance(outcome, Reply):
            calls.took(steps, outcome, limit())
        elif not calls.goes_on(steps, outcome):
            break
    return calls.result()


def ask_in_orders(
    orders: Sequence[tuple[int, ...]], ask: Callable[[tuple[int, ...]], Reply | Failure]
) -> Reply | Failure:
    """The judge's labels of a decision's options, asked in an order and in its reverse.

    Nothing is known unless both are answered. An answer that was cut off is not asked for in parts, since
    options are judged beside one another: the reply says in `rest` that labels are missing for it.
    """
    replies: list[Reply | Failure] = []
    for order in orders:
        replies.append(ask(order))
        if isinstance(replies[-1], Failure):
            return replace(replies[-1], **_charged(replies))
    first, last = [answer for answer in replies if isinstance(answer, Reply)]
    judgement = both_orders(first.judgement, last.judgement)
    return replace(
        last,
        **_charged(replies),
        judgement=judgement,
        clipped=_clipped((first, last)),
        rest=_cut_off(len(replies)) if judgement.cut and judgement.missing else None,
    )


class _Calls:
    """The calls about one trajectory, and what is still to be asked."""

    def __init__(self, parts: Sequence[tuple[int, ...]], earlier: Mapping[int, int]) -> None:
        self.steps = tuple(index for part in parts for index in part)
        self.labels = dict(earlier)
        self.todo = deque(parts)
        self.most = 2 * len(parts) + MORE_CALLS
        self.said: list[Reply | Failure] = []
        self.failure: Failure | None = None
        self.outcome_asked = False

    def took(self, steps: tuple[int, ...], reply: Reply, limit: int) -> None:
        """Keep the labels of a reply; what a cut took from it is next."""
        judgement = reply.judgement
        self.labels.update((index, label) for index, label in judgement.labels.items() if label is not None)
        if not judgement.cut:
            return
        rest = [index for index in steps if index not in self.labels]
        if rest:
            self.todo.extendleft(reversed(parts_of(rest, limit)))
        elif not self.todo and not self.outcome_asked and self._without_outcome:
            self.outcome_asked = True
            self.todo.append(steps[-1:])  # only the outcome is missing

    def goes_on(self, steps: tuple[int, ...], failure: Failure) -> bool:
        """Whether to continue after a failure: about half of what was too much, or about other parts."""
        self.failure = failure
        if failure.kind is FailureKind.TRUNCATED and len(steps) > 1:
            middle = len(steps) // 2
            self.todo.extendleft((steps[middle:], steps[:middle]))
            return True
        return failure.permanent and failure.kind in _OF_THE_ANSWER

    @property
    def _replies(self) -> list[Reply]:
        return [reply for reply in self.said if isinstance(reply, Reply)]

    @property
    def _without_outcome(self) -> bool:
        return all(reply.judgement.outcome is None for reply in self._replies)

    def result(self) -> Reply | Failure:
        """All replies joined into one."""
        if len(self.said) == 1 and not self.todo:
            return self.said[0]
        charged = _charged(self.said)
        if not self._replies:
            assert self.failure is not None
            return replace(self.failure, **charged)
        judgement = joined(self.steps, [reply.judgement for reply in self._replies])
        return replace(
            self._replies[-1],
            **{**charged, "usage": charged["usage"] or Usage(0, 0)},
            judgement=judgement,
            clipped=_clipped(self._replies),
            rest=self._rest(judgement),
        )

    def _rest(self, judgement: ParsedAnswer) -> Failure | None:
        """The reason for missing labels or a missing outcome; `None`: nothing is missing, or an answer left
        it out."""
        unlabelled = any(label is None for label in judgement.labels.values())
        broken_off = bool(self.todo) or isinstance(self.said[-1], Failure)
        if not unlabelled and not (judgement.outcome is None and broken_off):
            return None
        if self.failure is not None:
            return self.failure
        return _cut_off(len(self.said)) if self.todo else None


def _cut_off(calls: int) -> Failure:
    message = translatable(
        "The answers were cut off repeatedly and are incomplete after {calls} calls.", calls=calls
    )
    return Failure(kind=FailureKind.TRUNCATED, permanent=True, scope="call", message=message)


def _charged(replies: Sequence[Reply | Failure]) -> dict[str, Any]:
    """The usage, the cost and the bytes on the wire of all calls."""
    usages = [answer.usage for answer in replies if answer.usage is not None]
    return {
        "usage": sum(usages[1:], usages[0]) if usages else None,
        "cost": sum((answer.cost for answer in replies), Decimal(0)),
        "exchange": _joined([answer.exchange for answer in replies]),
    }


def _clipped(replies: Sequence[Reply]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for reply in replies for note in reply.clipped))


def _joined(exchanges: Sequence[Exchange]) -> Exchange:
    """The bytes on the wire of all calls, one call after the other, each on a line of its own."""
    return Exchange(
        request=b"\n".join(exchange.request for exchange in exchanges if exchange.request),
        response=b"\n".join(exchange.response for exchange in exchanges if exchange.response),
        status=exchanges[-1].status,
        attempts=sum(exchange.attempts for exchange in exchanges),
        seconds=sum(exchange.seconds for exchange in exchanges),
    )
