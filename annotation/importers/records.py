"""Checks that the formats share: messages, tools, labels in the file, identities seen twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from annotation.core.bounds import MAX_INT
from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import Record, RecordError, read_records
from annotation.core.label_files import excerpt, read_step_labels, read_value
from annotation.core.text import escape
from annotation.core.trajectories.messages import message_text
from annotation.core.trajectories.trajectory import FileLabels, TrajectoryDraft

from .base import ReadContext

MAX_PROBLEMS_PER_RECORD: Final = 20
LABEL_KEYS: Final = frozenset({"step_labels", "final_label", "explanations"})


class RecordProblems:
    """Problems of one record: the first ones, and how many more there are."""

    def __init__(self, filename: str, line: int) -> None:
        self.filename = filename
        self.line = line
        self.found: list[tuple[str, str]] = []

    def add(self, name: str, reason: str) -> None:
        """Note that the field `name` (a path within the record) is wrong."""
        self.found.append((name, reason))

    def __bool__(self) -> bool:
        return bool(self.found)

    def errors(self) -> Iterator[RecordError]:
        """The findings, as errors of the file."""
        for name, reason in self.found[:MAX_PROBLEMS_PER_RECORD]:
            yield RecordError(self.filename, self.line, name, reason)
        if (more := len(self.found) - MAX_PROBLEMS_PER_RECORD) > 0:
            yield RecordError(
                self.filename, self.line, "", translatable("has {n} more errors like these", n=f"{more:,}")
            )


class RecordIdentities:
    """The identities met in a file, eight bytes each, so that memory stays small for any file."""

    def __init__(self) -> None:
        self._lines: dict[int, int] = {}

    def check(self, record_id: str, line: int, name: str, problems: RecordProblems) -> None:
        """Note `record_id`; a problem of field `name` if an earlier line has the same."""
        digest = hashlib.blake2b(record_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        key = int.from_bytes(digest, "big")
        first = self._lines.get(key)
        if first is None:
            self._lines[key] = line
        else:
            problems.add(
                name,
                translatable(
                    "{record} occurs twice in this file, in lines {first} and {line}",
                    record=excerpt(record_id),
                    first=first,
                    line=line,
                )
                if first != line
                else translatable(
                    "{record} occurs twice in this file, in line {line}", record=excerpt(record_id), line=line
                ),
            )


def read_drafts(
    stream: BinaryIO,
    context: ReadContext,
    draft_of: Callable[[Record, RecordProblems], TrajectoryDraft | None],
) -> Iterator[TrajectoryDraft | RecordError]:
    """Every record of a file as `draft_of` reads it, or the problems that it has noted, as errors."""
    records = read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)
    for record in records:
        if isinstance(record, RecordError):
            yield record
            continue
        problems = RecordProblems(context.filename, record.line)
        draft = draft_of(record, problems)
        if problems or draft is None:
            yield from problems.errors()
        else:
            yield draft


def messages_of(value: Any, problems: RecordProblems) -> list[dict[str, Any]]:
    """`value` as messages: objects with a role, at least one of them the assistant's."""
    if not isinstance(value, list):
        problems.add(
            "messages",
            translatable("is missing") if value is None else translatable("must be a list of messages"),
        )
        return []
    if not value:
        problems.add("messages", translatable("is empty"))
        return []
    assistant = False
    for index, message in enumerate(value):
        if not isinstance(message, dict):
            problems.add(f"messages[{index}]", translatable("must be an object with a role"))
            continue
        role = message.get("role")
        if not isinstance(role, str) or not role:
            missing = role is None
            problems.add(
                f"messages[{index}].role",
                translatable("is missing") if missing else translatable("must be a word such as user"),
            )
        elif role == "assistant":
            assistant = True
    if not assistant:
        problems.add("messages", translatable("has no assistant message, so there is no step to label"))
    return value


def tools_of(value: Any, problems: RecordProblems) -> list[Any]:
    """`value` as a list of tool schemas; null counts as an empty list."""
    if value is None:
        return []
    if not isinstance(value, list):
        problems.add("tools", translatable("must be a list"))
        return []
    return value


def labels_of(
    record: dict[str, Any], messages: list[dict[str, Any]], problems: RecordProblems
) -> FileLabels | None:
    """The labels that stand in a trajectory record, checked against its messages, or `None`."""
    source = record.get("step_labels")
    final = record.get("final_label")
    if source is None and final is None:
        return None
    if not isinstance(source, dict | None):
        problems.add("step_labels", translatable("must be an object of message index and label"))
        return None
    step_labels = read_step_labels(source or {}, problems.found)
    for index in step_labels:
        message = messages[index] if index < len(messages) else None
        if message is None:
            last = len(messages) - 1
            problems.add(
                f"step_labels.{index}",
                translatable("there is no such message; the last one is {last}", last=last),
            )
        elif not isinstance(message, dict) or message.get("role") != "assistant":
            problems.add(
                f"step_labels.{index}", translatable("is not a step: that message is not the assistant’s")
            )
    return FileLabels(step_labels, read_value(final, "final_label", problems.found))


def index_of(record: dict[str, Any], key: str, problems: RecordProblems) -> int:
    """A required index: a whole number from 0 to 2³¹ − 1."""
    value = record.get(key)
    if type(value) is int and 0 <= value <= MAX_INT:
        return value
    problems.add(
        key,
        translatable("is missing")
        if value is None
        else translatable("must be a whole number from 0, not {value}", value=excerpt(value)),
    )
    return 0


def short_text(value: str, name: str, limit: int, problems: RecordProblems) -> str:
    """`value`, which must fit a column of `limit` characters once escaped."""
    if len(escape(value)) > limit:
        problems.add(name, translatable("is longer than {limit} characters", limit=limit))
    return value


def first_text(messages: list[dict[str, Any]], role: str) -> str:
    """All the text of the first message of `role`, or `""`."""
    for message in messages:
        if isinstance(message, dict) and message.get("role") == role:
            return message_text(message)
    return ""


def as_text(value: Any) -> str:
    """A string as it is, nothing as `""`, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
