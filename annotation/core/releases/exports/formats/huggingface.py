"""Labelled trajectories as a data set: a row a trajectory, or a trajectory and annotator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.plain_text import json_text
from annotation.core.kinds import Feature

from .base import LABELS, ExportFormat, ExportOptions, ExportTable, dataset_snippets, load_snippet
from .columns import (
    FINAL_LABEL,
    MESSAGES,
    OTHER,
    POLICY_MODEL,
    RECORD_ID,
    STEP_INDEXES,
    SUBSET,
    TASK_KEY,
    TOOLS,
    CellKind,
    Cells,
    ExportColumn,
    Row,
)
from .pairs import PAIR_COLUMNS, pair_rows, pair_snippets
from .protocols import step_values

_COLUMNS: Final = (
    RECORD_ID,
    SUBSET,
    TASK_KEY,
    ExportColumn("data_source", CellKind.TEXT, "the data set that the task comes from"),
    POLICY_MODEL,
    ExportColumn("total_index", CellKind.INTEGER, "the index in the whole benchmark"),
    ExportColumn("query_index", CellKind.INTEGER, "the index of the task"),
    ExportColumn("sample_index", CellKind.INTEGER, "the index of the trajectory among those of its task"),
    ExportColumn("question", CellKind.TEXT, "what was asked"),
    ExportColumn("ground_truth", CellKind.JSON, "the reference answer, as JSON"),
    ExportColumn("answer_text", CellKind.TEXT, "the answer that was given, or null"),
    MESSAGES,
    TOOLS,
    STEP_INDEXES,
    ExportColumn("step_labels", CellKind.LABELS, "the label of each of these steps: −1, 0, +1, or null"),
    ExportColumn("step_kinds", CellKind.TEXTS, "how each label was reached"),
    ExportColumn(
        "step_roots", CellKind.INTEGERS, "the index of the step where the error of a −1 began, or null"
    ),
    ExportColumn("step_reasons", CellKind.TEXTS, "the code of the reason for each label, or null"),
    FINAL_LABEL,
    ExportColumn("final_kind", CellKind.TEXT, "how the outcome was reached"),
    ExportColumn("final_reason", CellKind.TEXT, "the code of the reason for the outcome, or null"),
    OTHER,
)

_BLIND_COLUMNS: Final = (
    RECORD_ID,
    SUBSET,
    TASK_KEY,
    ExportColumn("annotator", CellKind.TEXT, "a pseudonym, which one person has throughout the release"),
    STEP_INDEXES,
    ExportColumn(
        "step_labels",
        CellKind.LABELS,
        "what this annotator said of each of these steps, before seeing others",
    ),
    ExportColumn("final_label", CellKind.LABEL, "what this annotator said of the outcome, or null"),
)


def trajectory_rows(record: Mapping[str, Any], options: ExportOptions) -> Iterator[Row]:
    """The row of a record. Nothing that the record says is lost: see `other`."""
    cells = Cells(record)
    steps = step_values(record, options.protocol)
    keys = [str(index) for index in steps]
    roots, reasons = record["step_roots"], record["step_reasons"]
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
        "final_reason": record["final_reason"] or None,
    }
    named = ("task_description", "tool_metrics", "hints")
    other = {name: record[name] for name in named if record.get(name) not in (None, {})}
    yield row | {"other": json_text(other | cells.exact)}


def blind_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """A row for each annotator who labelled a trajectory blind."""
    cells = Cells(record)
    for one in record["blind_labels"]:
        steps = sorted((int(index), value) for index, value in one["step_labels"].items())
        yield {
            **cells.texts("record_id", "subset", "task_key"),
            "annotator": one["annotator"],
            "step_indexes": [index for index, _ in steps],
            "step_labels": [value for _, value in steps],
            "final_label": one["final_label"],
        }


def snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """Ways to load a configuration."""
    yield (
        "datasets",
        "import json\n" + load_snippet("trajectories", config, split) + "row = trajectories[0]\n"
        'messages = json.loads(row["messages"])\n'
        'labels = dict(zip(row["step_indexes"], row["step_labels"]))',
    )
    yield from dataset_snippets(config, split)


HUGGINGFACE: Final = ExportFormat(
    name="huggingface",
    aliases=("parquet",),
    title=translatable("Hugging Face data set"),
    options=("split", "seed", "protocol", "blind_labels"),
    tables=(
        ExportTable("data", _COLUMNS, trajectory_rows, needs=Feature.RUNS),
        ExportTable("data", PAIR_COLUMNS, pair_rows, labels="", needs=Feature.PAIRS, snippets=pair_snippets),
        ExportTable("blind_labels", _BLIND_COLUMNS, blind_rows, blind=True),
    ),
    labels=(*LABELS, ("no label", None)),
    snippets=snippets,
)
