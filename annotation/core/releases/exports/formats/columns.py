"""The columns of exported tables, as data: name, kind of value and what stands in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What a cell holds; lists may hold nulls. `JSON` is text that holds one JSON value."""

    TEXT = "text"
    JSON = "json"
    INTEGER = "integer"
    LABEL = "label"
    TEXTS = "list of texts"
    INTEGERS = "list of integers"
    LABELS = "list of labels"
    BOOLEANS = "list of booleans"

    @property
    def repeated(self) -> bool:
        """Whether a cell is a list."""
        return self in (Kind.TEXTS, Kind.INTEGERS, Kind.LABELS, Kind.BOOLEANS)


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    name: str
    kind: Kind
    says: str


_RECORD_ID: Final = Column("record_id", Kind.TEXT, "the identity of the trajectory within its subset")
_SUBSET: Final = Column("subset", Kind.TEXT, "the subset")
_TASK_KEY: Final = Column("task_key", Kind.TEXT, "the task; its trajectories belong together")
_POLICY_MODEL: Final = Column("policy_model", Kind.TEXT, "the model whose run this is")
_STEP_INDEXES: Final = Column("step_indexes", Kind.INTEGERS, "the index in messages of each labelled step")
_FINAL_LABEL: Final = Column("final_label", Kind.LABEL, "the outcome: −1, 0 or +1")
_MESSAGES: Final = Column("messages", Kind.JSON, "the whole trajectory, as a JSON list of chat messages")
_TOOLS: Final = Column("tools", Kind.JSON, "the tools that the agent had, as a JSON list")
_OTHER: Final = Column("other", Kind.JSON, "what has no column, and exact values that a column cannot hold")

TRAJECTORY_COLUMNS: Final = (
    _RECORD_ID,
    _SUBSET,
    _TASK_KEY,
    Column("data_source", Kind.TEXT, "the data set that the task comes from"),
    _POLICY_MODEL,
    Column("total_index", Kind.INTEGER, "the index in the whole benchmark"),
    Column("query_index", Kind.INTEGER, "the index of the task"),
    Column("sample_index", Kind.INTEGER, "the index of the trajectory among those of its task"),
    Column("question", Kind.TEXT, "what was asked"),
    Column("ground_truth", Kind.JSON, "the reference answer, as JSON"),
    Column("answer_text", Kind.TEXT, "the answer that was given, or null"),
    _MESSAGES,
    _TOOLS,
    _STEP_INDEXES,
    Column("step_labels", Kind.LABELS, "the label of each of these steps: −1, 0, +1, or null"),
    Column("step_kinds", Kind.TEXTS, "how each label was reached"),
    Column("step_roots", Kind.INTEGERS, "the index of the step where the error of a −1 began, or null"),
    Column("step_reasons", Kind.TEXTS, "the code of the reason for each label, or null"),
    _FINAL_LABEL,
    Column("final_kind", Kind.TEXT, "how the outcome was reached"),
    Column("final_reason", Kind.TEXT, "the code of the reason for the outcome, or null"),
    _OTHER,
)

BLIND_COLUMNS: Final = (
    _RECORD_ID,
    _SUBSET,
    _TASK_KEY,
    Column("annotator", Kind.TEXT, "a pseudonym, which one person has throughout the release"),
    _STEP_INDEXES,
    Column(
        "step_labels", Kind.LABELS, "what this annotator said of each of these steps, before seeing others"
    ),
    Column("final_label", Kind.LABEL, "what this annotator said of the outcome, or null"),
)

TRAINING_COLUMNS: Final = (
    Column("prompt", Kind.TEXT, "what comes before the first step"),
    Column("completions", Kind.TEXTS, "the steps, each with the results of its tool calls"),
    Column("labels", Kind.BOOLEANS, "whether each of these steps is right"),
    _RECORD_ID,
    _SUBSET,
    _TASK_KEY,
    _POLICY_MODEL,
    Column("step_indexes", Kind.INTEGERS, "the index in messages of the step that each label is of"),
    _FINAL_LABEL,
    _MESSAGES,
    _TOOLS,
    _OTHER,
)
