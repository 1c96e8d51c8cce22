"""The whole run as a strip of steps to jump in: one mark a step, drawn by `lib/run_strip.js`.

A mark is a letter here and a stroke of a path there, so that a run of 5,000 messages costs some 15 kB and
seven elements, whichever of its parts is on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from annotation.models import Step
from annotation.reports.shared.transcripts import Transcript

LETTERS: Final = {1: "p", 0: "z", -1: "m", None: "n"}
"""The letter of a label; the script knows a fifth, of what is disputed."""


def run_strip(
    transcript: Transcript, steps: Sequence[Step], labels: Mapping[int, int | None] | None = None
) -> dict[str, Any]:
    """The data of a strip: how many messages each step is after the one before, which steps call tools (1),
    and their `labels` by message index, which is all that a strip tells of them. {} for a single step."""
    if len(steps) < 2:
        return {}
    indexes = [step.message_index for step in steps]
    values = labels or {}
    return {
        "steps": [index - before for before, index in zip((0, *indexes), indexes, strict=False)],
        "calls": "".join("1" if transcript.messages[index].tool_calls else "0" for index in indexes),
        "labels": "".join(LETTERS[values.get(index)] for index in indexes),
    }
