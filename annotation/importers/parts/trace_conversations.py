"""The conversations in a trace: which spans are calls of the model, which are tools, and whose they are."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from annotation.core.i18n import translatable
from annotation.importers.conversion import Conversation

from .model_calls import ModelCall, ToolRun, stitch
from .span_costs import span_cost
from .span_tree import Span, SpanTree

__all__ = ["OF_NO_STEP", "TIMES", "SpanKind", "SpanReader", "conversations_of"]

SUB_AGENTS: Final = translatable("sub-agents, read as trajectories of their own")
WRAPPED: Final = translatable("model calls that only wrap another, left out")
INNER_RUNS: Final = translatable("tool runs inside other tools, left out")
TIMES: Final = translatable("times, but for how long each call took")
OF_NO_STEP: Final = translatable("labels of spans that are no steps, left out")
NO_CALL: Final = translatable("has no call of a model")
NOTHING_SAID: Final = translatable(
    "has calls of a model ({n}), but not what was said: the program did not record contents"
)


class SpanKind(enum.Enum):
    """The role of a span in a trace."""

    MODEL = enum.auto()
    TOOL = enum.auto()
    AGENT = enum.auto()
    OTHER = enum.auto()


@dataclass(frozen=True, slots=True)
class SpanReader:
    """Functions that read a format's spans. `call` is asked of spans of the kind `MODEL`, `run` of `TOOL`."""

    kind: Callable[[Span], SpanKind]
    call: Callable[[Span], ModelCall]
    run: Callable[[Span], ToolRun]


def conversations_of(tree: SpanTree, reader: SpanReader, record_id: str) -> list[Conversation]:
    """The conversation of a trace, and one for each sub-agent in it.

    The spans of a sub-agent are those below an agent or a tool that itself works for an agent with calls of
    its own. Agents side by side are one conversation: they hand over to one another. A call of the model that
    contains another is a wrapper of it, and the inner one counts. Record ids: `record_id`, of a sub-agent
    `record_id:span`.
    """
    kinds = {span: reader.kind(span) for span in tree.spans}
    calls = _calls(tree, kinds, reader)
    owner = tree.nearest(lambda span: kinds[span] in (SpanKind.AGENT, SpanKind.TOOL))
    busy = {owner[span] for span in calls}
    home = _homes(tree, owner, busy, kinds)
    by_home: dict[Span | None, tuple[list[ModelCall], list[ToolRun]]] = {None: ([], [])}
    inner_runs = 0
    for span in tree.spans:
        above = owner[span]
        at = home[above] if above is not None else None
        if span in calls:
            by_home.setdefault(at, ([], []))[0].append(calls[span])
        elif kinds[span] is SpanKind.TOOL:
            if above is not None and kinds[above] is SpanKind.TOOL and above not in busy:
                inner_runs += 1
            else:
                by_home.setdefault(at, ([], []))[1].append(reader.run(span))
    conversations = []
    for at, (model_calls, runs) in by_home.items():
        conversation = stitch(model_calls, runs)
        conversation.record_id = record_id
        if at is None:
            conversation.notes.update(tree.notes)
            conversation.notes.update(_counted(kinds, calls, inner_runs))
            conversation.why_empty = _why_empty(kinds)
        elif model_calls:
            conversation.record_id = f"{record_id}:{at.span_id}"
            conversation.hints = {"sub_agent_of": record_id, "agent": at.name}
            conversation.notes[SUB_AGENTS] += 1
        if at is None or model_calls:
            conversations.append(conversation)
    return conversations


def _calls(tree: SpanTree, kinds: dict[Span, SpanKind], reader: SpanReader) -> dict[Span, ModelCall]:
    """The calls of the model that count, by their spans: not those that wrap another with a response."""
    calls = {span: reader.call(span) for span in tree.spans if kinds[span] is SpanKind.MODEL}
    for span, call in calls.items():
        call.cost = span_cost(span)
    above = tree.nearest(lambda span: kinds[span] is not SpanKind.OTHER)
    told_within: set[Span] = set()
    for span in reversed(list(tree.walk())):
        if span not in calls:
            continue
        wrapper = above[span]
        tells = bool(calls[span].output) or span in told_within
        if wrapper is not None and wrapper in calls:
            if tells:
                told_within.add(wrapper)
            elif calls[wrapper].output:
                del calls[span]
                continue
        if span in told_within:
            del calls[span]
    return calls


def _homes(
    tree: SpanTree, owner: dict[Span, Span | None], busy: set[Span | None], kinds: dict[Span, SpanKind]
) -> dict[Span, Span | None]:
    """For each agent and tool whose trajectory it belongs to: that of a sub-agent, or `None` for the main."""
    home: dict[Span, Span | None] = {}
    under_busy: dict[Span, bool] = {}
    for span in tree.walk():
        if kinds[span] not in (SpanKind.AGENT, SpanKind.TOOL):
            continue
        above = owner[span]
        under_busy[span] = above is not None and (above in busy or under_busy[above])
        if span in busy and under_busy[span]:
            home[span] = span
        else:
            home[span] = home[above] if above is not None else None
    return home


def _counted(kinds: dict[Span, SpanKind], calls: dict[Span, ModelCall], inner_runs: int) -> dict[str, int]:
    models = sum(1 for kind in kinds.values() if kind is SpanKind.MODEL)
    counts = {WRAPPED: models - len(calls), INNER_RUNS: inner_runs}
    return {name: count for name, count in counts.items() if count}


def _why_empty(kinds: dict[Span, SpanKind]) -> str:
    models = sum(1 for kind in kinds.values() if kind is SpanKind.MODEL)
    return translatable(NOTHING_SAID, n=models) if models else NO_CALL
