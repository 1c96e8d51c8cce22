"""Rows for training a process reward model, in TRL's shape of stepwise supervision.

`prompt` is text, `completions` a list of texts, `labels` a list of booleans of the same length
(https://huggingface.co/docs/trl/dataset_formats#stepwise-supervision). A completion is one step with the
results of its own tool calls, because that is what its label was given on; what comes between (a user's next
turn, a system's) stands at the head of the next completion, so that no label is learnt with hindsight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.plain_text import json_text
from annotation.core.kinds import Feature
from annotation.core.trajectories.messages import RESULT_ROLES, Message, message_text, normalise

from ..split import TRAIN
from .base import (
    ZERO_CUT,
    ZERO_FALSE,
    ZERO_MERGE,
    ZERO_TRUE,
    ExportFormat,
    ExportOptions,
    ExportTable,
    dataset_snippets,
    load_snippet,
)
from .columns import (
    FINAL_LABEL,
    MESSAGES,
    OTHER,
    POLICY_MODEL,
    RECORD_ID,
    SUBSET,
    TASK_KEY,
    TOOLS,
    CellKind,
    Cells,
    ExportColumn,
    Row,
    well_formed,
)
from .protocols import step_values

BETWEEN: Final = "\n\n"

_ZEROS: Final = {
    ZERO_TRUE: "counts as **true**: the step is no error, though it may not have helped",
    ZERO_FALSE: "counts as **false**: only correct and effective steps are rewarded",
    ZERO_MERGE: (
        "is **left out without leaving out the step**: the step has no label of its own, and its text stands "
        "before that of the next labelled step; after the last labelled step it is dropped"
    ),
    ZERO_CUT: "**ends the trajectory**: the step and everything after it is left out",
}

_COLUMNS: Final = (
    ExportColumn("prompt", CellKind.TEXT, "what comes before the first step"),
    ExportColumn("completions", CellKind.TEXTS, "the steps, each with the results of its tool calls"),
    ExportColumn("labels", CellKind.BOOLEANS, "whether each of these steps is right"),
    RECORD_ID,
    SUBSET,
    TASK_KEY,
    POLICY_MODEL,
    ExportColumn(
        "step_indexes", CellKind.INTEGERS, "the index in messages of the step that each label is of"
    ),
    FINAL_LABEL,
    MESSAGES,
    TOOLS,
    OTHER,
)


def training_rows(record: Mapping[str, Any], options: ExportOptions) -> Iterator[Row]:
    """The row of a record, none when no step of it has a label.

    `options.zero` says what becomes of the label 0: `true`, `false`, `merge` (no label of its own: the step
    stands before the next labelled one) or `cut` (the trajectory ends before it). A step without a label is
    merged.
    """
    messages = normalise(record["messages"])
    steps = step_values(record, options.protocol)
    prompt, parts = _parts(messages, list(steps))
    completions: list[str] = []
    labels: list[bool] = []
    indexes: list[int] = []
    waiting: list[str] = []
    for (index, value), part in zip(steps.items(), parts, strict=True):
        if value == 0 and options.zero == ZERO_CUT:
            break
        waiting.append(part)
        if value is None or (value == 0 and options.zero == ZERO_MERGE):
            continue
        completions.append(BETWEEN.join(waiting))
        labels.append(value == 1 or (value == 0 and options.zero == ZERO_TRUE))
        indexes.append(index)
        waiting = []
    if not completions:
        return
    cells = Cells(record)
    yield {
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
            arguments_text = json_text({"name": call.name, "arguments": arguments})
            lines.append(f"<tool_call>\n{arguments_text}\n</tool_call>")
    return "\n".join(lines)


def about(options: ExportOptions, left_out: int) -> Iterator[str]:
    """A section on how a trajectory became prompt, completions and labels."""
    yield "## Step rewards"
    yield ""
    yield (
        "The shape is that of stepwise supervision in TRL (`prompt`: text, `completions`: list of texts, "
        "`labels`: list of booleans, one a completion). +1 is true, −1 is false, and the label 0 "
        f"{_ZEROS[options.zero]}. A step is never dropped from the middle: what follows was said after it."
    )
    yield ""
    yield (
        "`prompt` holds the messages before the first step. A completion is a step with the results of its "
        "own tool calls; what a user or the system says afterwards stands at the head of the next "
        "completion, so that no label is learnt with hindsight. What stands after the last step’s results is "
        "left out. Each message is written as its role in brackets (`[user]`, `[tool NAME]`), its text, and "
        "each tool call as JSON between `<tool_call>` and `</tool_call>`; messages are parted by an empty "
        "line. That is for reading and training and cannot be turned back: `messages` and "
        "`tools` hold the exact originals."
    )
    yield ""
    yield f"Trajectories without any labelled step, which are left out: {left_out}."
    yield ""


def snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """Ways to load a configuration."""
    yield (
        "datasets",
        load_snippet("rewards", config, split)
        + 'steps = rewards.select_columns(["prompt", "completions", "labels"])  # for trl.PRMTrainer',
    )
    yield from dataset_snippets(config, split)


TRAINING: Final = ExportFormat(
    name="training",
    title=translatable("Step rewards for training"),
    contents="step rewards",
    options=("split", "seed", "protocol", "zero"),
    tables=(ExportTable("data", _COLUMNS, training_rows, labels="labels"),),
    whole=TRAIN,
    needs=Feature.STEP_REWARDS,
    labels=(("true", True), ("false", False)),
    tags=("trl",),
    about=about,
    snippets=snippets,
)
