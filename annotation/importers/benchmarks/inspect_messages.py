"""One sample of an Inspect log as a conversation in OpenAI's roles."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.trajectories.trajectory import SourceLabel

from ..conversion import Conversation
from ..records import RecordProblems, as_text, first_text

MAX_EXPANSION: Final = 64 * 1024 * 1024
ATTACHMENT: Final = "attachment://"

_EVENTS: Final = translatable("events: retried model calls, branches and sub-agents")
_STORE: Final = translatable("the store")
_USAGE: Final = translatable("token usage and times")
_COMPACTIONS: Final = translatable("compactions; earlier steps are not among the messages")
_ELSEWHERE: Final = translatable("model calls that are not among the messages")
_REDACTED: Final = translatable("redacted reasoning")
_MISSING: Final = translatable("attachments that are not in the file")
_UNPARSED: Final = translatable("tool calls whose arguments Inspect could not parse")


class _Attachments:
    """Texts that a sample keeps apart, put back where they are referred to, up to a total size."""

    def __init__(self, texts: Any, problems: RecordProblems, notes: Counter[str]) -> None:
        self._texts = texts if isinstance(texts, dict) else {}
        self._left = MAX_EXPANSION
        self._problems = problems
        self._notes = notes

    def resolve(self, value: Any) -> Any:
        """`value`, or the attachment that it names."""
        if not isinstance(value, str) or not value.startswith(ATTACHMENT):
            return value
        text = self._texts.get(value.removeprefix(ATTACHMENT))
        if not isinstance(text, str):
            self._notes[_MISSING] += 1
            return value
        if self._left < 0:
            return value
        self._left -= len(text)
        if self._left < 0:
            self._problems.add("attachments", translatable("expand to more than {limit} MB", limit=64))
            return value
        return text

    def resolve_within(self, value: Any) -> Any:
        """`value` with every attachment that it names, however deep."""
        if isinstance(value, dict):
            return {key: self.resolve_within(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolve_within(item) for item in value]
        return self.resolve(value)


def conversation_of(sample: Any, header: dict[str, Any], problems: RecordProblems) -> Iterator[Conversation]:
    """The conversation of one sample; `header` has the log's `version`, `status` and `eval`."""
    if not isinstance(sample, dict):
        problems.add("", translatable("is not a JSON object"))
        return
    evaluation = header["eval"]
    task = as_text(evaluation.get("task"))
    sample_id, epoch = as_text(sample.get("id")), as_text(sample.get("epoch") or 1)
    run = as_text(evaluation.get("eval_id") or evaluation.get("run_id"))
    conversation = Conversation(
        format_version=_version(header),
        record_id=":".join(part for part in (task, sample_id, epoch, run) if part) if sample_id else "",
        task_key=f"{task}:{sample_id}" if sample_id else "",
        data_source=task,
        policy_model=as_text(evaluation.get("model")),
        reference_answer=sample.get("target"),
        task_description={"choices": sample["choices"]} if sample.get("choices") else None,
        labels=list(_labels(sample.get("scores"))),
    )
    texts = _Attachments(sample.get("attachments"), problems, conversation.notes)
    for index, message in enumerate(_list(sample.get("messages"))):
        conversation.messages.append(_message(message, texts, conversation.notes))
        if conversation.messages[-1].get("role") == "assistant":
            address = message.get("id")
            conversation.source_steps[index] = address if isinstance(address, str) else f"messages/{index}"
    conversation.question = _question(sample.get("input"), texts)
    events = _events(sample)
    conversation.tools = list(_tools(events, texts))
    conversation.hints = {key: sample[key] for key in ("metadata", "error", "limit") if sample.get(key)}
    if header.get("status") not in (None, "success"):
        conversation.hints["status"] = header["status"]
    _report(conversation, sample, events)
    yield conversation


def _version(header: dict[str, Any]) -> str:
    packages = header["eval"].get("packages")
    written = as_text(packages.get("inspect_ai")) if isinstance(packages, dict) else ""
    return f"{header.get('version')} (inspect_ai {written})" if written else str(header.get("version"))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _message(message: Any, texts: _Attachments, notes: Counter[str]) -> dict[str, Any]:
    if not isinstance(message, dict):
        return {"role": "", "content": message}
    role = as_text(message.get("role"))
    content, reasoning = _content(message.get("content"), texts, notes)
    converted: dict[str, Any] = {"role": role, "content": content}
    if reasoning:
        converted["reasoning_content"] = "\n".join(reasoning)
    calls = [_call(call, texts, notes) for call in _list(message.get("tool_calls"))]
    if calls:
        converted["tool_calls"] = calls
    if role == "tool":
        converted["tool_call_id"] = as_text(message.get("tool_call_id"))
        if isinstance(message.get("function"), str):
            converted["name"] = message["function"]
        _add_error(converted, message.get("error"), texts)
    return converted


def _content(value: Any, texts: _Attachments, notes: Counter[str]) -> tuple[Any, list[str]]:
    """Content with its attachments, and the reasoning that stood in it."""
    if not isinstance(value, list):
        return texts.resolve(value), []
    parts: list[Any] = []
    reasoning: list[str] = []
    for part in value:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text":
            parts.append({"type": "text", "text": as_text(texts.resolve(part.get("text")))})
        elif kind == "reasoning":
            notes[_REDACTED] += bool(part.get("redacted"))
            text = part.get("summary") if part.get("redacted") else part.get("reasoning")
            if text:
                reasoning.append(as_text(texts.resolve(text)))
        elif kind == "image":
            parts.append({"type": "image_url", "image_url": {"url": texts.resolve(part.get("image"))}})
        elif isinstance(part, dict):
            parts.append({key: texts.resolve(item) for key, item in part.items()})
        else:
            parts.append(texts.resolve(part))
    if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].get("type") == "text":
        return parts[0]["text"], reasoning
    return parts or "", reasoning


def _call(call: Any, texts: _Attachments, notes: Counter[str]) -> Any:
    """A call in OpenAI's shape: in Inspect's, `function` is the name."""
    if not isinstance(call, dict):
        return call
    args = call.get("arguments")
    if isinstance(args, dict):
        args = {key: texts.resolve(item) for key, item in args.items()}
    function = call.get("function")
    name = function.get("name") if isinstance(function, dict) else function
    converted: dict[str, Any] = {
        "id": as_text(call.get("id")),
        "type": "function",
        "function": {
            "name": as_text(name),
            "arguments": args if isinstance(args, str) else json.dumps(args, ensure_ascii=False),
        },
    }
    if call.get("parse_error"):
        notes[_UNPARSED] += 1
        converted["parse_error"] = call["parse_error"]
    return converted


def _add_error(converted: dict[str, Any], error: Any, texts: _Attachments) -> None:
    """Show the error of a tool, unless its text says the same already."""
    if not error:
        return
    converted["is_error"] = True
    converted["error"] = error
    kind, reason = (error.get("type"), error.get("message")) if isinstance(error, dict) else ("", error)
    reason = as_text(texts.resolve(reason))
    content = converted["content"]
    if isinstance(content, str) and reason and reason in content:
        return
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []
    line = f"[error: {as_text(kind)}] {reason}" if kind else f"[error] {reason}"
    converted["content"] = [*parts, {"type": "text", "text": line}]


def _question(source: Any, texts: _Attachments) -> str:
    if isinstance(source, list):
        users = [_message(message, texts, Counter()) for message in source]
        return first_text(users, "user")
    return as_text(texts.resolve(source))


def _events(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The events; logs of 2024 have them in `transcript`."""
    events = sample.get("events")
    if events is None and isinstance(sample.get("transcript"), dict):
        events = sample["transcript"].get("events")
    return [event for event in _list(events) if isinstance(event, dict)]


def _tools(events: list[dict[str, Any]], texts: _Attachments) -> Iterator[dict[str, Any]]:
    """The tools that the model was offered, each name once. They stand only in the events."""
    seen = set()
    for event in events:
        for tool in _list(event.get("tools")) if event.get("event") == "model" else []:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and name not in seen:
                seen.add(name)
                kept = {
                    key: texts.resolve_within(tool.get(key)) for key in ("name", "description", "parameters")
                }
                yield {"type": "function", "function": kept}


def _labels(scores: Any) -> Iterator[SourceLabel]:
    for name, score in (scores if isinstance(scores, dict) else {}).items():
        if isinstance(score, dict):
            yield SourceLabel(None, name, score.get("value"), as_text(score.get("explanation")))
        else:
            yield SourceLabel(None, name, score)


def _report(conversation: Conversation, sample: dict[str, Any], events: list[dict[str, Any]]) -> None:
    kinds = Counter(as_text(event.get("event")) for event in events)
    elsewhere = kinds["model"] - len(conversation.source_steps)
    conversation.notes.update(
        {
            key: count
            for key, count in ((_COMPACTIONS, kinds["compaction"]), (_ELSEWHERE, elsewhere))
            if count > 0
        }
    )
    conversation.notes = +conversation.notes
    if events:
        conversation.left_out.add(_EVENTS)
    if sample.get("store"):
        conversation.left_out.add(_STORE)
    if sample.get("model_usage") or sample.get("total_time"):
        conversation.left_out.add(_USAGE)
