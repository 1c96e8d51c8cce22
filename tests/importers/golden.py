"""The golden files, and what they are to be read as.

After a change of format that is meant, `python -m tests.importers.golden` writes the expectations anew:
read the difference before committing it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.core.trajectories.trajectory import (
    TrajectoryDraft,
    content_digest,
    normalise,
    pair_results,
    step_indexes,
)
from annotation.importers import FORMATS, ReadContext

GOLDEN = Path(__file__).parent.parent.parent / "fixtures" / "golden"


def describe(draft: TrajectoryDraft) -> dict[str, Any]:
    """The relevant parts of a draft, as JSON."""
    messages = normalise(draft.messages)
    return {
        "record_id": draft.record_id,
        "task_key": draft.task_key,
        "question": draft.question,
        "policy_model": draft.policy_model,
        "answer_text": draft.answer_text,
        "reference_answer": draft.reference_answer,
        "hints": sorted(draft.hints),
        "labels": None if draft.labels is None else [draft.labels.step_labels, draft.labels.final_label],
        "content_digest": content_digest(draft),
        **_foreign(draft),
        "line": draft.line,
        "steps": step_indexes(draft.messages),
        "results": {str(result): list(place) for result, place in sorted(pair_results(messages).items())},
        "messages": [
            {
                "role": message.role,
                "parts": [[part.kind, part.text, part.media_type] for part in message.parts],
                "calls": [
                    [call.origin, call.id, call.name, call.parsed, call.arguments_raw]
                    for call in message.tool_calls
                ],
            }
            for message in messages
        ],
    }


def _foreign(draft: TrajectoryDraft) -> dict[str, Any]:
    """The parts that only formats of other programs have."""
    labels = [[label.message, label.name, label.value, label.reason] for label in draft.source_labels]
    if "source_steps" not in draft.hints:
        return {"source_labels": labels} if labels else {}
    return {
        "source": draft.hints["source"],
        "source_steps": draft.hints["source_steps"],
        "source_labels": labels,
        "reasoning": [message.get("reasoning_content") for message in draft.messages],
    }


def files() -> list[Path]:
    """The golden files: `<format>.<ending>`, and `<format>-<trap>.<ending>` for what is particular."""
    found = (path for path in GOLDEN.iterdir() if not path.name.endswith(".expected.json"))
    return sorted(path for path in found if format_of(path) in FORMATS)


def format_of(path: Path) -> str:
    """The name of the format that a golden file is of."""
    return path.name.split(".")[0].split("-")[0]


def expectation(path: Path) -> Path:
    """The file with the expected reading of a golden file."""
    return GOLDEN / f"{path.name.split('.')[0]}.expected.json"


def read(path: Path) -> str:
    """The golden file as read, in the form in which the expectation is kept."""
    context = ReadContext(path.name, {2: "demo-model-c"})
    with path.open("rb") as stream:
        found = list(FORMATS[format_of(path)].read(stream, context))
    described: list[Any] = [
        describe(item) if isinstance(item, TrajectoryDraft) else str(item) for item in found
    ]
    if context.notes or context.left_out:
        described.append({"notes": dict(context.notes), "left_out": sorted(context.left_out)})
    return json.dumps(described, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    for golden in files():
        expectation(golden).write_text(read(golden), "ascii")
