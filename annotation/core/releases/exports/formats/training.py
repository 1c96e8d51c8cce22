"""Rows for training a process reward model, in TRL's shape of stepwise supervision.

`prompt` is text, `completions` a list of texts, `labels` a list of booleans of the same length
(https://huggingface.co/docs/trl/dataset_formats#stepwise-supervision). A completion is one step with the
results of its own tool calls, because that is what its label was given on; what comes between (a user's next
turn, a system's) stands at the head of the next completion, so that no label is learnt with hindsight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from annotation.core.trajectories.messages import RESULT_ROLES, Message, message_text, normalise

from ..options import ZERO_CUT, ZERO_MERGE, ZERO_TRUE
from .huggingface import Cells, Row, json_text, well_formed
from .protocols import step_values

BETWEEN: Final = "\n\n"


def training_row(record: Mapping[str, Any], protocol: str, zero: str) -> Row | None:
    """The row of a record (columns.TRAINING_COLUMNS); None when no step of it has a label.

    `zero` says what becomes of the label 0: `true`, `false`, `merge` (no label of its own: the step stands
    before the next labelled one) or `cut` (the trajectory ends before it). A step without a label is merged.
    """
    messages = normalise(record["messages"])
    steps = step_values(record, protocol)
    prompt, parts = _parts(messages, list(steps))
    completions: list[str] = []
    labels: list[bool] = []
    indexes: list[int] = []
    waiting: list[str] = []
    for (index, value), part in zip(steps.items(), parts, strict=True):
        if value == 0 and zero == ZERO_CUT:
            break
        waiting.append(part)
        if value is None or (value == 0 and zero == ZERO_MERGE):
            continue
        completions.append(BETWEEN.join(waiting))
        labels.append(value == 1 or (value == 0 and zero == ZERO_TRUE))
        indexes.append(index)
        waiting = []
    if not completions:
        return None
    cells = Cells(record)
    return {
        "prompt": prompt,
        "completions": completions,
        "labels": labels,
        **cells.texts("record_id", "subset", "task_key", "policy_model"),
        "step_indexes": indexes,
        "final_label": record["final_label"],
        "messages": cells.json("messages"),
        "tools": cells.json("tools"),
        "other": json_text(cells.exact),
    }


def _parts(messages: Sequence[Message], steps: Sequence[int]) -> tuple[str, list[str]]:
    """The text before the first step, and that of each step."""
    first = steps[0] if steps else len(messages)
    prompt = _written(messages[:first])
    parts = []
    begin = first
    for step in steps:
        end = step + 1
        while end < len(messages) and messages[end].role in RESULT_ROLES:
            end += 1
        parts.append(_written(messages[begin:end]))
        begin = end
    return prompt, parts


def _written(messages: Sequence[Message]) -> str:
    return well_formed(BETWEEN.join(map(_message, messages)))


def _message(message: Message) -> str:
    """A message as text: its role in brackets, what it says, and its tool calls as JSON between tags."""
    name = f" {message.name}" if message.name and message.role in RESULT_ROLES else ""
    lines = [f"[{message.role}{name}]"]
    if text := message_text(message.raw) if message.raw else message.content:
        lines.append(text)
    for call in message.tool_calls:
        # a call in the text stands there already
        if call.origin == "tool_calls":
            arguments = call.arguments if call.parsed else call.arguments_raw
            said = json_text({"name": call.name, "arguments": arguments})
            lines.append(f"<tool_call>\n{said}\n</tool_call>")
    return "\n".join(lines)
