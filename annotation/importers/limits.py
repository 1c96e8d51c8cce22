"""Trajectories are held against the limits, whatever format they come from: after their reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.images import SHOWN_TYPES, sniff_data_uri
from annotation.core.trajectories.limits import variable
from annotation.core.trajectories.messages import TEXT_CALL_OPEN, normalise
from annotation.core.trajectories.trajectory import TrajectoryDraft

from .base import Importer, ReadContext
from .drafts import SOURCE, SOURCE_STEPS
from .options import ReadOptions, apply_options
from .records import RecordProblems

_REASONS: Final = {
    "messages": translatable("has {n} messages; this server takes at most {limit} ({variable} raises it)"),
    "message_characters": translatable(
        "has {n} characters; this server takes at most {limit} in one message ({variable} raises it)"
    ),
    "message_values": translatable(
        "has {n} keys and values; this server takes at most {limit} in one message ({variable} raises it)"
    ),
    "tool_calls": translatable(
        "has {n} tool calls; this server takes at most {limit} in one message ({variable} raises it)"
    ),
    "tools": translatable("has {n} tools; this server takes at most {limit} ({variable} raises it)"),
    "beside_values": translatable(
        "has {n} keys and values beside the messages; this server takes at most {limit}"
        " ({variable} raises it)"
    ),
    "beside_depth": translatable(
        "nests {n} levels deep beside the messages; this server takes at most {limit} ({variable} raises it)"
    ),
    "record_bytes": translatable("has {n} bytes; this server takes at most {limit} ({variable} raises it)"),
}


@dataclass(slots=True)
class Weight:
    """The size of a JSON value: characters of keys and texts, keys and values, levels of lists and
    objects."""

    characters: int = 0
    values: int = 0
    depth: int = 0


def weigh(value: Any) -> Weight:
    """The weight of a JSON value, found without recursion. The bytes of pictures in it weigh nothing."""
    weight = Weight()
    level = [value]
    while level:
        inner: list[Any] = []
        weight.values += len(level)
        for one in level:
            if isinstance(one, str):
                weight.characters += 0 if _is_picture(one) else len(one)
            elif isinstance(one, dict):
                weight.values += len(one)
                weight.characters += sum(map(len, one))
                inner.extend(held for key, held in one.items() if not (key == "data" and _is_base64(one)))
            elif isinstance(one, list):
                inner.extend(one)
        weight.depth += any(isinstance(one, dict | list) for one in level)
        level = inner
    return weight


def _is_picture(text: str) -> bool:
    return text[:5].lower() == "data:" and sniff_data_uri(text) in SHOWN_TYPES


def _is_base64(source: dict[str, Any]) -> bool:
    """Whether an object is a picture as Anthropic's API writes it."""
    return source.get("type") == "base64" and source.get("media_type") in SHOWN_TYPES


def read_within_limits(
    importer: Importer, stream: BinaryIO, context: ReadContext, options: ReadOptions
) -> Iterator[TrajectoryDraft | RecordError]:
    """Every trajectory of a file, read as `options` want it; one beyond a limit is an error that names it."""
    for item in apply_options(importer.read(stream, context), options, context):
        if isinstance(item, RecordError):
            yield item
            continue
        findings = _Findings(context, RecordProblems(context.filename, item.line))
        _check(item, findings)
        if findings.problems:
            yield from findings.problems.errors()
        else:
            yield item


@dataclass(slots=True)
class _Findings:
    context: ReadContext
    problems: RecordProblems

    def hold(self, limit: str, count: int, field: str = "") -> bool:
        """Whether a count keeps to a limit; noted as a problem of `field` when it does not."""
        context = self.context
        most = context.max_record_bytes if limit == "record_bytes" else getattr(context.limits, limit)
        if count > most:
            values = {"n": f"{count:,}", "limit": f"{most:,}", "variable": variable(limit)}
            self.problems.add(field, translatable(_REASONS[limit], **values))
        return count <= most


def _check(draft: TrajectoryDraft, findings: _Findings) -> None:
    if not findings.hold("messages", len(draft.messages), "messages"):
        return
    characters = sum(_check_message(index, message, findings) for index, message in enumerate(draft.messages))
    findings.hold("tools", len(draft.tools), "tools")
    # what a converter notes of each step is not the record's
    hints = {key: value for key, value in draft.hints.items() if key not in (SOURCE, SOURCE_STEPS)}
    beside = weigh([draft.task_description, draft.reference_answer, draft.tools, hints])
    findings.hold("beside_values", beside.values - 5)  # the list that is weighed here, and its four
    findings.hold("beside_depth", beside.depth - 1)
    characters += beside.characters + len(draft.question) + len(draft.answer_text or "")
    findings.hold("record_bytes", characters)


def _check_message(index: int, message: dict[str, Any], findings: _Findings) -> int:
    """Hold one message against the limits; its characters."""
    field = f"messages[{index}]"
    weight = weigh(message)
    findings.hold("message_characters", weight.characters, field)
    if findings.hold("message_values", weight.values, field):
        findings.hold("tool_calls", _calls(message), field)
    return weight.characters


def _calls(message: dict[str, Any]) -> int:
    """The tool calls of a message, those that stand in its text among them."""
    calls, content = message.get("tool_calls"), message.get("content")
    if isinstance(calls, list) and calls:
        return len(calls)
    in_text = isinstance(content, str) and TEXT_CALL_OPEN in content
    return len(normalise([message])[0].tool_calls) if in_text else 0
