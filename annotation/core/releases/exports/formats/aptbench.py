"""Rows of questions as APTBench has them: the published lines, with the answer that people agreed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.trajectories.messages import message_text

from ..split import TEST
from .base import ExportFormat, ExportOptions, ExportTable, load_snippet
from .columns import CellKind, ExportColumn, Row

_KEYS: Final = ("target_cmd", "answer")


def aptbench_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """The line that a question came as, if it is fit for use and has an answer.

    An answer that people have changed is written in place of the published one, which else stays as it was
    written.
    """
    details = record.get("decision") or {}
    line = details.get("about") or {}
    key = next((name for name in _KEYS if name in line), None)
    right = [int(index) for index, value in record["step_labels"].items() if value == 1]
    if "asked" not in details or key is None or record["final_label"] != 1 or not right:
        return
    letters = details["letters"]
    if letters:
        found = {letters[str(index)] for index in right}
        as_published = {letter.strip() for letter in line[key].split(",")} == found
        answer = line[key] if as_published else ",".join(sorted(found))
    else:
        texts = [message_text(record["messages"][index]) for index in sorted(right)]
        answer = line[key] if line[key] in texts else texts[0]
    yield {**line, key: answer}


def _snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """Ways to load a configuration."""
    yield "datasets", load_snippet("questions", config, split).rstrip()


def _about(_options: ExportOptions, left_out: int) -> Iterator[str]:
    """A section on what makes a row."""
    yield "## Questions"
    yield ""
    yield (
        "A row is a question that is fit for use (its outcome is +1) and has an answer (an option whose "
        "label is +1), with every field of the line that it came as. Other records, which are left out: "
        f"{left_out}."
    )
    yield ""


APTBENCH: Final = ExportFormat(
    name="aptbench",
    title=translatable("Questions as APTBench has them"),
    contents="questions with the answers that people agreed on",
    options=("split", "seed"),
    tables=(
        ExportTable(
            "data",
            (ExportColumn("uuid", CellKind.TEXT, "the identity of the published question"),),
            aptbench_rows,
            labels="",
            lines=True,
        ),
    ),
    whole=TEST,
    needs=Feature.PAIRS,
    labels=(),
    about=_about,
    snippets=_snippets,
)
