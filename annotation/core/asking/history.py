"""The history of a question, as text: the tools, and then every message under its role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from annotation.core.jsonio.plain_text import json_text
from annotation.core.judging.trajectory_text import sendable
from annotation.core.releases.exports.formats.pairs import history_of
from annotation.core.trajectories.messages import RESULT_ROLES, Message, normalise

from .templates import CHINESE, ENGLISH

_WORDS: Final = {
    ENGLISH: {
        "tools": "Tools:",
        "task": "Task:",
        "system": "System:",
        "user": "User:",
        "assistant": "Agent:",
        "step": "Agent, step {n}:",
        "result": "Result:",
        "image": "[an image]",
        "cut": "\n[… {n:,} characters left out …]\n",
    },
    CHINESE: {
        "tools": "工具：",
        "task": "任务：",
        "system": "系统：",
        "user": "用户：",
        "assistant": "智能体：",
        "step": "智能体，第 {n} 步：",
        "result": "结果：",
        "image": "[图片]",
        "cut": "\n[…… 略去 {n:,} 个字符 ……]\n",
    },
}
_NUMBERED: Final = "first-error-step"
"""The recipe whose options name steps by their index."""


def cut_note(language: str, left_out: int) -> str:
    """The mark in place of what is left out of a history."""
    return _WORDS[language]["cut"].format(n=left_out)


def history_text(record: Mapping[str, Any], language: str) -> str:
    """The history of a released question, in the words of one of LANGUAGES; without what cannot be sent."""
    words = _WORDS[language]
    messages = normalise(history_of(record))
    numbered = record["decision"]["about"].get("recipe") == _NUMBERED
    blocks = [
        *_about(record, messages, words),
        *(_block(message, words, numbered=numbered) for message in messages),
    ]
    return sendable("\n\n".join(blocks))[0]


def _about(record: Mapping[str, Any], messages: Sequence[Message], words: Mapping[str, str]) -> Iterator[str]:
    tools = [tool if isinstance(tool, str) else json_text(tool) for tool in record["tools"] or ()]
    if tools:
        yield "\n".join([words["tools"], *tools])
    question = (record["question"] or "").strip()
    if question and not any(question in message.content for message in messages):
        yield f"{words['task']}\n{question}"


def _block(message: Message, words: Mapping[str, str], *, numbered: bool) -> str:
    if message.role in RESULT_ROLES:
        title = words["result"]
    elif numbered and message.role == "assistant":
        title = words["step"].format(n=message.index)
    else:
        title = words.get(message.role) or f"{message.role}:"
    parts = [words["image"] if part.kind == "image" else part.text for part in message.parts]
    calls = [f"→ {call.name} {call.arguments_raw}".rstrip() for call in message.tool_calls]
    return "\n".join([title, *parts, *calls])
