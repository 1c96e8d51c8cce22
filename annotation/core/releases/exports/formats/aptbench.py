"""Rows of questions as APTBench has them: the published lines, with the answer that people agreed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.plain_text import json_text
from annotation.core.kinds import Feature
from annotation.core.trajectories.messages import RESPONSES, message_text

from ..asked import ANSWER_KEY, COMMAND_KEY, AskedOption, AskedQuestion, NotAsked, asked_question, planned
from ..split import TEST
from .base import ExportFormat, ExportOptions, ExportTable, load_snippet
from .columns import CellKind, ExportColumn, Row
from .pairs import history_of

_KEYS: Final = (COMMAND_KEY, ANSWER_KEY)
_CHOICES: Final = "choices"


def aptbench_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """The line of a question that is fit for use and has an answer: the one that it came as, or one of the
    same fields.

    An answer that people have changed is written in place of the published one, which else stays as it was
    written. So do the choices, unless options are left out of them, taken out, changed or added: then those
    that are asked are written, each with its letter, so that letters may be missing between them.
    """
    asked = asked_question(record)
    if isinstance(asked, NotAsked):
        return
    line = record["decision"]["about"]
    key = next((name for name in _KEYS if name in line), None)
    if key is None:
        line, key = _line_of(record, asked), ANSWER_KEY
    if asked.options:
        if not _holds(line.get(_CHOICES, ""), asked.options):
            line = {**line, _CHOICES: _choices(asked.options)}
        as_published = {letter.strip() for letter in line[key].split(",")} == set(asked.keys)
        answer = line[key] if as_published else ",".join(asked.keys)
    else:
        answer = line[key] if line[key] in asked.keys else asked.keys[0]
    yield {**line, key: answer}


def _line_of(record: Mapping[str, Any], asked: AskedQuestion) -> Row:
    """A line for a question that did not come as one, without its answer yet."""
    *before, last = history_of(record)
    instruction = last.get("role") == "user" and bool(before)
    line = {
        "uuid": asked.uuid,
        "query": record["question"],
        "trajectory": json_text(list(_steps(before if instruction else [*before, last]))),
        ANSWER_KEY: "",
    }
    if instruction:
        line["question_instruct"] = message_text(last)
    if asked.options:
        line["tool_set"] = "\n".join(
            f"({at}) {json_text(tool)}" for at, tool in enumerate(record["tools"], 1)
        )
        line[_CHOICES] = _choices(asked.options)
    return line


def _choices(options: Sequence[AskedOption]) -> str:
    return "\n".join(f"({option.letter}) {option.text}" for option in options)


def _holds(choices: str, options: Sequence[AskedOption]) -> bool:
    """Whether a text holds these options and no other, whatever blanks stand between them, and whatever
    stands before the first."""
    _before, mark, rest = "".join(choices.split()).partition("(A)")
    return f"{mark}{rest}" == "".join(_choices(options).split())


def _steps(history: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The steps of a history after its question: what was planned and called, and what was seen after it."""
    step: dict[str, Any] | None = None
    for message in history:
        if message.get("role") in RESPONSES:
            if step is not None:
                yield step
            step = {**planned(message), "observation": ""}
        elif step is not None:
            step["observation"] = "\n".join(filter(None, (step["observation"], message_text(message))))
    if step is not None:
        yield step


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
        f"are left out: {left_out}. An option whose label is 0 is left out of `choices`; the others keep "
        "their letters."
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
