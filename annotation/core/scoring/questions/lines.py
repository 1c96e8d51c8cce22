"""A line of predictions about a question: `uuid` or `record_id`, and `output` or `pred`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError

OUTPUTS: Final = ("output", "pred")
UUID: Final = "uuid"
_LABELS: Final = ("labels", "step_labels", "scores", "choices")
NO_ID: Final = translatable("is missing: a line names its question by record_id or uuid")
NO_OUTPUT: Final = translatable("is missing: a line about a question has output, or pred")
BOTH: Final = translatable("stands beside output: a line has one of both")
NO_TEXT: Final = translatable("must be text; a number is written in quotes")
LABELS_TOO: Final = translatable("stands beside an output: a line has one of both")
NO_QUESTION: Final = translatable(
    "is about no question: this decision is answered by labels, scores or choices"
)
ASKS_LETTER: Final = translatable("is about a question, which is answered by output, pred or labels")
ASKS_TEXT: Final = translatable(
    "is about a question that asks for a text, which is answered by output or pred"
)
OTHER_QUESTION: Final = translatable("names another question than record_id")


@dataclass(frozen=True, slots=True)
class OutputLine:
    """The output in a line: the `name` of its field, and what was said."""

    name: str
    output: str


def is_output(line: Mapping[str, Any]) -> bool:
    """Whether a line is about a question and not about the labels of options."""
    named = [name for name in (*OUTPUTS, UUID) if name in line]
    return bool(named) or all(line.get(name) is None for name in _LABELS)


def read_output(line: Mapping[str, Any], filename: str, number: int) -> OutputLine | RecordError | None:
    """The output in a line that is one, or why there is none; None where labels stand in its place."""
    given = [name for name in OUTPUTS if name in line]
    labels = [name for name in _LABELS if line.get(name) is not None]
    problem: tuple[str, str] | None = None
    if not given and labels:
        return None
    if not given:
        problem = OUTPUTS[0], NO_OUTPUT
    elif len(given) > 1:
        problem = given[1], BOTH
    elif labels:
        problem = labels[0], LABELS_TOO
    elif not isinstance(line[given[0]], str):
        problem = given[0], NO_TEXT
    if problem is not None:
        return RecordError(filename, number, *problem)
    return OutputLine(given[0], line[given[0]])
