"""Read a file of decisions: each once, without its key where the file contradicts itself, and counted.

The file is read twice, because a later line may contradict an earlier one: first for the identity and the key
of each decision, of which some hundred bytes are kept, then for the decisions.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Final

from annotation.core.decisions.equality import history_digest
from annotation.core.decisions.record import (
    Decision,
    Option,
    decision_draft,
    item_digest,
    option_digest,
)
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.jsonio.jsonlines import Record, RecordError, read_records
from annotation.core.releases.exports.formats.decisions import LETTER
from annotation.core.text import escape
from annotation.core.trajectories.messages import RESPONSES
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..records import RecordProblems

MAX_TASK_KEY: Final = 255

COUNTS: Final = {
    "histories": translatable("different histories"),
    "items": translatable("decisions"),
    "tasks": translatable("tasks"),
    "pairs": translatable("pairs of a better and a worse option"),
    "left_out": translatable("lines left out, because the runs part at something that the agent does not do"),
    "repeats": translatable("lines that repeat a decision, left out"),
    "contradictory": translatable("decisions with opposite keys, which come in without a key"),
    "without_key": translatable("decisions without a key"),
}
"""The counts of a file of decisions: their names in JSON, and their words in the import's report."""


def counts_json(notes: Mapping[str, int]) -> dict[str, int]:
    """The counts of a file of decisions by their names, from the notes of its import; nothing for another
    file."""
    if not notes.get(COUNTS["items"]):
        return {}
    return {name: notes.get(words, 0) for name, words in COUNTS.items()}


@dataclass(slots=True)
class _Identities:
    """The decisions of a file: by identity the key, and whether another line has another one. All hashed."""

    keys: dict[int, int] = field(default_factory=dict)
    contradictory: set[int] = field(default_factory=set)

    def add(self, identity: int, key: int) -> None:
        if self.keys.setdefault(identity, key) != key:
            self.contradictory.add(identity)


Convert = Callable[[dict[str, Any], RecordProblems], Decision | None]


def read_decisions(
    stream: BinaryIO, context: ReadContext, convert: Convert
) -> Iterator[TrajectoryDraft | RecordError]:
    """Every decision of a file as `convert` reads it from an object, or its problems.

    `convert` gives options that differ, and None without noting a problem for a line that holds no decision,
    which is counted. Of lines with the same history and the same options the first comes in; if their keys
    differ, it has none and is marked as contradictory.
    """
    start = stream.tell()
    identities = _identities(stream, context, convert, start)
    stream.seek(start)
    counts: Counter[str] = Counter()
    histories, tasks, met = set[int](), set[int](), set[int]()
    failed = False
    for record in _records(stream, context):
        if isinstance(record, RecordError):
            failed = True
            yield record
            continue
        problems = RecordProblems(context.filename, record.line)
        decision = _converted(record, convert, problems)
        if problems:
            failed = True
            yield from problems.errors()
            continue
        if decision is None:
            counts["left_out"] += 1
            continue
        history, identity, _ = _identity(decision)
        if identity in met:
            counts["repeats"] += 1
            continue
        met.add(identity)
        if identity in identities.contradictory:
            decision = _without_key(decision)
        counts["contradictory"] += decision.contradictory
        histories.add(history)
        tasks.add(_hashed(decision.task_key.encode("utf-8", "surrogatepass")))
        counts["items"] += 1
        counts["without_key"] += not decision.keyed
        counts["pairs"] += pairs_of_key(decision)
        yield decision_draft(_with_source(decision, record, context), line=record.line)
    if not met and not failed:
        yield RecordError(context.filename, 0, "", translatable("the file contains no decision"))
    counts |= Counter(histories=len(histories), tasks=len(tasks))
    context.notes.update({COUNTS[name]: count for name, count in counts.items()})


def pairs_of_key(decision: Decision) -> int:
    """The number of pairs of a better and a worse option, by the key."""
    keys = [option.key for option in decision.options if option.key is not None]
    return sum(better > worse for better in keys for worse in keys)


def _records(stream: BinaryIO, context: ReadContext) -> Iterator[Record | RecordError]:
    return read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)


def _identities(stream: BinaryIO, context: ReadContext, convert: Convert, start: int) -> _Identities:
    """The identities of a file; of one that is only looked at, those of its beginning."""
    identities = _Identities()
    for record in _records(stream, context):
        if context.gather_bytes is not None and stream.tell() - start > context.gather_bytes:
            break
        if isinstance(record, Record):
            problems = RecordProblems(context.filename, record.line)
            decision = _converted(record, convert, problems)
            if decision is not None and not problems:
                _, identity, key = _identity(decision)
                identities.add(identity, key)
    return identities


def _converted(record: Record, convert: Convert, problems: RecordProblems) -> Decision | None:
    if not isinstance(record.value, dict):
        problems.add("", translatable("is not a JSON object"))
        return None
    return convert(record.value, problems)


def _identity(decision: Decision) -> tuple[int, int, int]:
    """Hashes of the history, of the decision, and of its key."""
    history = history_digest(decision.question, decision.tools, decision.history)
    options = [option_digest(option.message) for option in decision.options]
    keys = sorted(
        f"{digest.hex()} {option.key}" for digest, option in zip(options, decision.options, strict=True)
    )
    return (
        _hashed(history),
        _hashed((decision.identity or item_digest(history, options)).encode()),
        _hashed("\n".join(keys).encode()),
    )


def _hashed(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def _without_key(decision: Decision) -> Decision:
    options: list[Option] = [replace(option, key=None, reason="") for option in decision.options]
    return replace(decision, options=options, contradictory=True)


def _with_source(decision: Decision, record: Record, context: ReadContext) -> Decision:
    """The decision with the place in the file of every option that says no source of its own."""
    place = {"file": context.filename, "line": record.line, "sha256": sha256_hex(record.raw)}
    options = [
        option if option.source.keys() - {LETTER} else replace(option, source={**option.source, **place})
        for option in decision.options
    ]
    return replace(decision, options=options)


def check_history(messages: Any, name: str, problems: RecordProblems) -> list[dict[str, Any]]:
    """`messages` as the history of a decision: objects with a role, of which the last is not the agent's."""
    if not isinstance(messages, list) or not messages:
        problems.add(
            name,
            translatable("is missing")
            if messages is None
            else translatable("is empty")
            if messages == []
            else translatable("must be a list of messages"),
        )
        return []
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            problems.add(f"{name}[{index}]", translatable("must be an object with a role"))
        elif not isinstance(message.get("role"), str) or not message["role"]:
            missing = message.get("role") is None
            problems.add(
                f"{name}[{index}].role",
                translatable("is missing") if missing else translatable("must be a word such as user"),
            )
    last = messages[-1]
    if isinstance(last, dict) and last.get("role") in RESPONSES:
        problems.add(name, translatable("ends with the agent, so that there is nothing to decide"))
    return messages


def task_of(value: Mapping[str, Any], names: tuple[str, ...], problems: RecordProblems) -> str:
    """The task of a record: the first of these fields that is there, a text or a whole number; "" without
    one."""
    name = next((name for name in names if value.get(name) is not None), None)
    if name is None:
        return ""
    task = value[name]
    if type(task) is int:
        return str(task)
    if not isinstance(task, str) or not task:
        problems.add(name, translatable("must be a non-empty string or a whole number"))
        return ""
    if len(escape(task)) > MAX_TASK_KEY:
        problems.add(name, translatable("is longer than {limit} characters", limit=MAX_TASK_KEY))
    return task


def category_of(value: Mapping[str, Any]) -> str:
    """The category that a record gives itself: `category`, else its dimension and scenario."""
    if isinstance(value.get("category"), str):
        return str(value["category"])
    parts = (value.get(name) for name in ("dimension", "scenario"))
    return "/".join(part for part in parts if isinstance(part, str) and part)
