"""The golden files, and what they are to be read as.

After a change of format that is meant, `python -m tests.importers.golden` writes the expectations anew:
read the difference before committing it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.core.canonical import content_digest
from annotation.core.trajectory import TrajectoryDraft, normalise, pair_results, step_indexes
from annotation.importers import FORMATS, ReadContext

GOLDEN = Path(__file__).parent.parent.parent / "fixtures" / "golden"


def describe(draft: TrajectoryDraft) -> dict[str, Any]:
    """What matters about a draft, as JSON."""
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


def read(name: str) -> str:
    """The golden file of the format `name` as read, in the form in which the expectation is kept."""
    with (GOLDEN / f"{name}.jsonl").open("rb") as stream:
        found = list(FORMATS[name].read(stream, ReadContext(f"{name}.jsonl", {2: "demo-model-c"})))
    described = [describe(item) if isinstance(item, TrajectoryDraft) else str(item) for item in found]
    return json.dumps(described, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    for format_name in FORMATS:
        (GOLDEN / f"{format_name}.expected.json").write_text(read(format_name), "ascii")
