"""Rows of questions as APTBench has them: the published lines, with the answer that people agreed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.trajectories.messages import RESPONSES, message_text, normalise
from annotation.core.vocabulary import DecisionKind

from ..split import TEST
from .base import ExportFormat, ExportOptions, ExportTable, load_snippet
from .columns import CellKind, ExportColumn, Row, json_text
from .pairs import history_of

_KEYS: Final = ("target_cmd", "answer")


def aptbench_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """The line of a question that is fit for use and has an answer: the one that it came as, or one of the
    same fields.

    An answer that people have changed is written in place of the published one, which else stays as it was
    written.
    """
    details = record.get("decision") or {}
    right = sorted(int(index) for index, value in record["step_labels"].items() if value == 1)
    if "asked" not in details or record["final_label"] != 1 or not right:
        return
    line = details["about"]
    key = next((name for name in _KEYS if name in line), None)
    if key is None:
        line, letters = _line_of(record, details["asked"]["kind"])
        key = _KEYS[-1]
    else:
        letters = details["letters"]
    if len(letters) > len(ascii_uppercase):
        return
    if letters:
        found = {letters[str(index)] for index in right}
        as_published = {letter.strip() for letter in line[key].split(",")} == found
        answer = line[key] if as_published else ",".join(sorted(found))
    else:
        texts = [message_text(record["messages"][index]) for index in right]
        answer = line[key] if line[key] in texts else texts[0]
    yield {**line, key: answer}


def _line_of(record: Mapping[str, Any], kind: str) -> tuple[Row, dict[str, str]]:
    """A line for a question that did not come as one, without its answer yet, and the letters of its
    options."""
    *before, last = history_of(record)
    instruction = last.get("role") == "user" and bool(before)
    line = {
        "uuid": record["record_id"],
        "query": record["question"],
        "trajectory": json_text(list(_steps(before if instruction else [*before, last]))),
        _KEYS[-1]: "",
    }
    if instruction:
        line["question_instruct"] = message_text(last)
    if kind == DecisionKind.COMPLETION:
        return line, {}
    indexes = sorted(map(int, record["step_labels"]))
    letters = {str(index): letter for index, letter in zip(indexes, ascii_uppercase, strict=False)}
    line["tool_set"] = "\n".join(f"({at}) {json_text(tool)}" for at, tool in enumerate(record["tools"], 1))
    line["choices"] = "\n".join(
        f"({letter}) {_action(record['messages'][int(index)])}" for index, letter in letters.items()
    )
    return line, letters


def _steps(history: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The steps of a history after its question: what was planned and called, and what was seen after it."""
    step: dict[str, Any] | None = None
    for message in history:
        if message.get("role") in RESPONSES:
            if step is not None:
                yield step
            step = {**_planned(message), "observation": ""}
        elif step is not None:
            step["observation"] = "\n".join(filter(None, (step["observation"], message_text(message))))
    if step is not None:
        yield step


def _planned(message: Mapping[str, Any]) -> dict[str, Any]:
    (read,) = normalise([message])
    calls = [
        {"name": call.name, "args": call.arguments if call.parsed else call.arguments_raw}
        for call in read.tool_calls
    ]
    return {"planning": read.content, "execution": calls[0] if len(calls) == 1 else calls}


def _action(message: Mapping[str, Any]) -> str:
    """An option as text: what it says, or as JSON what it plans and calls."""
    planned = _planned(message)
    return json_text(planned) if planned["execution"] else message_text(message)


def _snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """Ways to load a configuration."""
    yield "datasets", load_snippet("questions", config, split).rstrip()


def _about(_options: ExportOptions, left_out: int) -> Iterator[str]:
    """A section on what makes a row."""
    yield "## Questions"
    yield ""
    yield (
        "A row is a question that is fit for use (its outcome is +1) and has an answer (an option whose "
        "label is +1), with every field of the line that it came as, if it came as one. Other records, which "
        f"are left out: {left_out}."
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
