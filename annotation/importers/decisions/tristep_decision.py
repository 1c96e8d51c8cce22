"""Decisions as Tristep itself writes them: what was derived from a release, or kept as the original of one.

A record is what `core.decisions.record` makes: its options, two or more, may have any key and any origin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.decisions.record import (
    MAX_OPTIONS,
    Asked,
    Decision,
    Option,
    OptionOrigin,
    shown_message,
)
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import excerpt, read_value
from annotation.core.releases.exports.formats.decisions import FORMAT
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.core.vocabulary import Ability, DecisionKind

from ..base import ReadContext
from ..parts.message_parts import as_object
from ..records import RecordProblems, as_text, first_text, short_text, tools_of
from .reading import check_history, read_decisions, task_of
from .toolprmbench import MAX_DATA_SOURCE

_ORIGINS: Final = frozenset(OptionOrigin)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_KINDS: Final = frozenset(DecisionKind)
_ABILITIES: Final = frozenset({*Ability, ""})


class TristepDecision:
    """See the module; `Importer` states what each member promises."""

    name = "tristep_decision"
    title = translatable("Decisions of Tristep")
    recognised_by = translatable("“format” with “tristep-decision/1”")
    kind = "decisions"

    def sniff(self, head: bytes) -> float:
        return 1.0 if {"format", "history", "options"} <= json_head(head).keys else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        return read_decisions(stream, context, _convert)


def _convert(value: dict[str, Any], problems: RecordProblems) -> Decision | None:
    if value.get("format") != FORMAT:
        problems.add("format", translatable("must be the text {format}", format=FORMAT))
    history = check_history(value.get("history"), "history", problems)
    asked = _asked(value.get("decision"), problems)
    options = _options(value.get("options"), asked, problems)
    tools = tools_of(value.get("tools"), problems)
    task = task_of(value, ("task_key",), problems)
    data_source = short_text(as_text(value.get("data_source")), "data_source", MAX_DATA_SOURCE, problems)
    if problems:
        return None
    question = as_text(value.get("question")) or first_text(history, "user")
    return Decision(
        question=question,
        tools=tools,
        history=history,
        options=options,
        task_key=task or sha256_hex(question.encode("utf-8", "surrogatepass")),
        data_source=data_source,
        category=as_text(value.get("category")),
        contradictory=value.get("contradictory") is True,
        about=as_object(value.get("about")),
        asked=asked,
        identity=_identity(value.get("record_id")) if asked.kind is not DecisionKind.PAIR else "",
    )


def _identity(value: Any) -> str:
    """The identity that a question brings along: a digest, else none."""
    return value if isinstance(value, str) and _DIGEST.fullmatch(value) else ""


def _asked(value: Any, problems: RecordProblems) -> Asked:
    """The request of a decision: the better option where it says nothing."""
    if value is None:
        return Asked()
    held = as_object(value)
    kind, ability = as_text(held.get("kind")), as_text(held.get("ability"))
    for name, stated, known in (("kind", kind, _KINDS), ("ability", ability, _ABILITIES)):
        if stated not in known:
            problems.add(f"decision.{name}", translatable("is unknown: {found}", found=excerpt(stated)))
    if problems:
        return Asked()
    return Asked(DecisionKind(kind), Ability(ability) if ability else None, as_text(held.get("language")))


def _options(value: Any, asked: Asked, problems: RecordProblems) -> list[Option]:
    fewest, pair = asked.fewest_options, asked.kind is DecisionKind.PAIR
    if not isinstance(value, list) or not fewest <= len(value) <= MAX_OPTIONS:
        reason = (
            translatable("is missing")
            if value is None
            else translatable(
                "must be a list of at least {fewest} and at most {n} options", fewest=fewest, n=MAX_OPTIONS
            )
        )
        problems.add("options", reason)
        return []
    options: list[Option] = []
    met: dict[bytes, int] = {}
    for index, item in enumerate(value):
        where = f"options[{index}]"
        message = item.get("message") if isinstance(item, dict) else None
        if not isinstance(message, dict) or not (message.get("content") or message.get("tool_calls")):
            problems.add(f"{where}.message", translatable("must be a response with text or calls"))
            continue
        shown = shown_message(message)
        first = met.setdefault(canonical_json(shown), index)
        if first != index and (pair or value[first].get("key") != item.get("key")):
            problems.add(where, translatable("is the same action as {other}", other=f"options[{first}]"))
        origin = item.get("origin", OptionOrigin.FILE)
        if not isinstance(origin, str) or origin not in _ORIGINS:
            problems.add(f"{where}.origin", translatable("is unknown: {found}", found=excerpt(origin)))
            continue
        key = read_value(item.get("key"), f"{where}.key", problems.found)
        why = as_text(item.get("reason"))
        options.append(Option(shown, key, OptionOrigin(origin), as_object(item.get("source")), why))
    return options
