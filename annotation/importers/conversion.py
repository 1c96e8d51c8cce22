"""One trajectory of a foreign format as its converter returns it, before checks make a draft of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from annotation.core.trajectories.trajectory import SourceLabel

__all__ = ["Conversation", "SourceLabel"]


@dataclass(slots=True)
class Conversation:
    """One trajectory in OpenAI's roles, with the addresses that its steps have in the source.

    `messages` have OpenAI's shape (a tool call has `id`, `type`, `function: {name, arguments}`; a tool result
    has `tool_call_id`); every assistant message is one response of the model. `source_steps` holds, by the
    index of a message, the source's own address of it (span id, uuid, step id). `format_version` is what the
    file says of itself, or `""`. `record_id` and `task_key` are empty where the source has none. `hints` is
    what is kept and not understood here. `notes` counts what was met, by the words of the import's report
    ("compactions", "branches left out", "duplicate spans"); `left_out` says by name what the source had and
    the conversion has not. `raw` is what to keep as the original where a record holds several trajectories;
    else the bytes of the record are kept. `why_empty` ends a sentence: why there is no response in it.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    source_steps: dict[int, str] = field(default_factory=dict)
    format_version: str = ""
    record_id: str = ""
    task_key: str = ""
    question: str = ""
    data_source: str = ""
    policy_model: str = ""
    tools: list[Any] = field(default_factory=list)
    reference_answer: Any = None
    task_description: Any = None
    answer_text: str | None = None
    labels: list[SourceLabel] = field(default_factory=list)
    hints: dict[str, Any] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    left_out: set[str] = field(default_factory=set)
    raw: bytes | None = None
    why_empty: str = ""
