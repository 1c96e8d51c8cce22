"""A record's content besides labels, held against a trajectory's content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..jsonio.canonical import canonical_json

# What a judge may have been shown; hints and indexes are not told.
_TOLD: Final = (
    *("answer_text", "messages", "question", "reference_answer", "task_description"),
    "tools",
)


def content_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record (core.releases.record_format.release_record) as the content of its trajectory
    (core.trajectories.trajectory.TrajectoryDraft.content), without its identity."""
    return {
        "answer_text": record.get("answer_text"),
        "hints": record.get("hints") or {},
        "messages": record["messages"],
        "question": record.get("question"),
        "reference_answer": record.get("ground_truth"),
        "task_description": record.get("task_description"),
        "tools": record.get("tools") or [],
    }


def same_content(record: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Whether a record holds what this content holds: messages, tools, question, reference answer."""
    frozen = content_of(record)
    return _told(frozen) == _told({**content, "tools": content.get("tools") or []})


def _told(content: Mapping[str, Any]) -> bytes:
    # as canonical bytes: to Python, true is 1 and 1 is 1.0
    return canonical_json({name: content.get(name) for name in _TOLD})
