"""The rows of exported tables: one a trajectory, or one a trajectory and annotator."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .protocols import step_values

Row = dict[str, Any]

_INT64: Final = range(-(2**63), 2**63)
_LONE: Final = dict.fromkeys(range(55296, 57344), "�")


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
        found = well_formed(value) if isinstance(value, str) else None
        if found != value:
            self.exact[name] = value
        return found

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


def json_text(value: Any) -> str:
    """`value` as JSON that UTF-8 can hold: a value with lone surrogates is escaped to ASCII."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), check_circular=False)
    return text


def trajectory_row(record: Mapping[str, Any], protocol: str) -> Row:
    """The row of a record (columns.TRAJECTORY_COLUMNS). Nothing that the record says is lost: see `other`."""
    cells = Cells(record)
    steps = step_values(record, protocol)
    keys = [str(index) for index in steps]
    roots, reasons = record.get("step_roots") or {}, record.get("step_reasons") or {}
    row = {
        **cells.texts("record_id", "subset", "task_key", "data_source", "policy_model"),
        **{name: cells.integer(name) for name in ("total_index", "query_index", "sample_index")},
        **cells.texts("question", "answer_text"),
        **{name: cells.json(name) for name in ("ground_truth", "messages", "tools")},
        "step_indexes": list(steps),
        "step_labels": list(steps.values()),
        "step_kinds": [record["step_kinds"][key] for key in keys],
        "step_roots": [roots.get(key) for key in keys],
        "step_reasons": [reasons.get(key) for key in keys],
        "final_label": record["final_label"],
        "final_kind": record["final_kind"],
        "final_reason": record.get("final_reason") or None,
    }
    named = ("task_description", "tool_metrics", "hints")
    other = {name: record[name] for name in named if record.get(name) not in (None, {})}
    return row | {"other": json_text(other | cells.exact)}


def blind_rows(record: Mapping[str, Any]) -> Iterator[Row]:
    """A row for each annotator who labelled a trajectory blind (columns.BLIND_COLUMNS)."""
    cells = Cells(record)
    for one in record.get("blind_labels") or ():
        steps = sorted((int(index), value) for index, value in one["step_labels"].items())
        yield {
            **cells.texts("record_id", "subset", "task_key"),
            "annotator": one["annotator"],
            "step_indexes": [index for index, _ in steps],
            "step_labels": [value for _, value in steps],
            "final_label": one["final_label"],
        }
