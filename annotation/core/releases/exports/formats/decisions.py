"""Decisions as Tristep itself writes them, with the consensus as their key: they come in again alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.kinds import Feature

from ..split import TRAIN
from .base import ExportFormat, ExportOptions, ExportTable
from .columns import TASK_KEY, CellKind, ExportColumn, Row
from .pairs import CATEGORY, HISTORY, QUESTION, history_of, lines_snippet

FORMAT: Final = "tristep-decision/1"
LETTER: Final = "letter"
"""The key of its letter in the source of a question's option."""


def decision_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """The decision, if it is fit for use: its history, and each option with its label and its origin."""
    if record["final_label"] != 1:
        return
    details = record.get("decision") or {}
    origins = details.get("options") or {}
    letters = details.get("letters") or {}
    source = {"data_source": record["data_source"]} if record["data_source"] != record["subset"] else {}
    asked = {}
    if "asked" in details:  # a question, which brings its identity along
        asked = {
            "record_id": record["record_id"],
            "decision": details["asked"],
            "about": details["about"],
        }
    yield {
        "format": FORMAT,
        **asked,
        "task_key": record["task_key"],
        **source,
        "category": details.get("category") or "",
        "question": record["question"],
        "tools": record["tools"],
        "history": history_of(record),
        "options": [
            {
                "message": record["messages"][int(index)],
                "key": label,
                "origin": (origins.get(index) or {}).get("origin", "file"),
                "source": {
                    "steps": (origins.get(index) or {}).get("steps", []),
                    **({LETTER: letters[index]} if index in letters else {}),
                },
            }
            for index, label in sorted(record["step_labels"].items(), key=lambda one: int(one[0]))
        ],
    }


def _about(_options: ExportOptions, left_out: int) -> Iterator[str]:
    """A section on what makes a row."""
    yield "## Decisions"
    yield ""
    yield (
        "A row is one decision that is fit for use (its outcome is +1). The `key` of each option is its "
        f"label: +1, 0 or −1. Decisions that are not fit, which are left out: {left_out}."
    )
    yield ""


def _snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """The way to load a configuration of JSON Lines whose rows hold whatever the log held."""
    yield "json", lines_snippet("decisions", config, split)


TRISTEP_DECISION: Final = ExportFormat(
    name="tristep_decision",
    title=translatable("Decisions of Tristep"),
    contents="decisions with a label of each option",
    options=("split", "seed"),
    tables=(
        ExportTable(
            "data",
            (
                ExportColumn("format", CellKind.TEXT, f"always `{FORMAT}`"),
                TASK_KEY,
                CATEGORY,
                QUESTION,
                HISTORY,
                ExportColumn("tools", CellKind.JSON, "the tools that the agent had"),
                ExportColumn("options", CellKind.JSON, "the options: `message`, `key`, `origin`, `source`"),
            ),
            decision_rows,
            labels="",
            lines=True,
        ),
    ),
    whole=TRAIN,
    needs=Feature.PAIRS,
    labels=(),
    about=_about,
    snippets=_snippets,
)
