"""Columns of exported tables, as data, and the cells of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from annotation.core.jsonio.plain_text import json_text

Row = dict[str, Any]

_INT64: Final = range(-(2**63), 2**63)
_LONE: Final = dict.fromkeys(range(55296, 57344), "�")


class CellKind(StrEnum):
    """The kind of a cell's content; lists may hold nulls. `JSON` is text that holds one JSON value."""

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
        return self in (CellKind.TEXTS, CellKind.INTEGERS, CellKind.LABELS, CellKind.BOOLEANS)


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One column."""

    name: str
    kind: CellKind
    says: str


RECORD_ID: Final = ExportColumn(
    "record_id", CellKind.TEXT, "the identity of the trajectory within its subset"
)
SUBSET: Final = ExportColumn("subset", CellKind.TEXT, "the subset")
TASK_KEY: Final = ExportColumn("task_key", CellKind.TEXT, "the task; its trajectories belong together")
POLICY_MODEL: Final = ExportColumn("policy_model", CellKind.TEXT, "the model whose run this is")
STEP_INDEXES: Final = ExportColumn(
    "step_indexes", CellKind.INTEGERS, "the index in messages of each labelled step"
)
FINAL_LABEL: Final = ExportColumn("final_label", CellKind.LABEL, "the outcome: −1, 0 or +1")
MESSAGES: Final = ExportColumn(
    "messages", CellKind.JSON, "the whole trajectory, as a JSON list of chat messages"
)
TOOLS: Final = ExportColumn("tools", CellKind.JSON, "the tools that the agent had, as a JSON list")
OTHER: Final = ExportColumn(
    "other", CellKind.JSON, "what has no column, and exact values that a column cannot hold"
)


class Cells:
    """The cells of one row, as a column can hold them; `exact` collects what none can."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record = record
        self.exact: dict[str, Any] = {}

    def text(self, name: str) -> str | None:
        """A text, in which U+FFFD stands for lone surrogates, or None for what is no text."""
        value = self.record.get(name)
        if value is None:
            return None
        clean = well_formed(value) if isinstance(value, str) else None
        if clean != value:
            self.exact[name] = value
        return clean

    def integer(self, name: str) -> int | None:
        """An integer of 64 bits, or None for anything else."""
        value = self.record.get(name)
        if value is None or (type(value) is int and value in _INT64):
            return value
        self.exact[name] = value
        return None

    def json(self, name: str) -> str:
        """The JSON of any value."""
        return json_text(self.record.get(name))

    def texts(self, *names: str) -> dict[str, str | None]:
        """Several texts by name."""
        return {name: self.text(name) for name in names}


def well_formed(text: str) -> str:
    """`text` with U+FFFD for lone surrogates, which UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_LONE)
    return text
