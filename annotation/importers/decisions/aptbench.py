"""Questions as APTBench publishes them: JSON Lines, each with a history and lettered choices, or a reference.

Which task a line belongs to shows in its fields. Every field is kept, so that a release writes the lines
back. A choice whose answer is none of its letters comes in without a key; the file is not refused for it, nor
for two equal options that are both wrong, which some published lines have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, BinaryIO, Final

from annotation.core.decisions.lettered import MAX_LETTERS, split_lettered
from annotation.core.decisions.record import Asked, Decision, Option, shown_message
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.releases.exports.formats.decisions import LETTER
from annotation.core.trajectories.trajectory import SourceLabel, TrajectoryDraft
from annotation.core.vocabulary import Ability, DecisionKind

from ..base import ReadContext
from ..parts.message_parts import as_object
from ..records import RecordProblems, as_text, first_text
from .reading import MAX_TASK_KEY, read_decisions

CHOICES: Final = "choices"
ANSWER: Final = "answer"
COMMAND: Final = "target_cmd"
_LANGUAGE: Final = re.compile(r"_(en|zh)(?![a-z])")
_TOOL: Final = re.compile(r"\s*\(\d+\)\s*(\{.*\})\s*")

Messages = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Task:
    """A task of APTBench: the fields that tell its lines, what they ask for, the field of the key, and how
    their history reads."""

    fields: frozenset[str]
    kind: DecisionKind
    ability: Ability
    key: str
    history: Callable[[dict[str, Any], RecordProblems], Messages]


class AptBench:
    """See the module; `Importer` states what each member promises."""

    name = "aptbench"
    title = translatable("APTBench (questions)")
    recognised_by = translatable(
        "“choices” with “(A)” and “answer”, or “target_cmd” or a “trajectory” with “answer”"
    )
    kind = "decisions"

    def sniff(self, head: bytes) -> float:
        return 1.0 if _task_of(json_head(head).keys) is not None else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        named = _LANGUAGE.search(PurePath(context.filename).name)
        language = named[1] if named else "en"
        return read_decisions(stream, context, lambda value, problems: _convert(value, language, problems))


def _task_of(keys: frozenset[str] | set[str]) -> _Task | None:
    return next((task for task in _TASKS if task.fields <= keys), None)


def _convert(value: dict[str, Any], language: str, problems: RecordProblems) -> Decision | None:
    task = _task_of(value.keys() | {ANSWER})
    if task is None:
        problems.add("", translatable("has not the fields of any task of APTBench"))
        return None
    for name in sorted(task.fields):
        if not isinstance(value.get(name), str):
            missing = value.get(name) is None
            problems.add(name, translatable("is missing") if missing else translatable("must be text"))
    if problems:
        return None
    if not value[task.key].strip():
        problems.add(task.key, translatable("is empty"))
    history = task.history(value, problems)
    options = _options(value, task, problems)
    if problems:
        return None
    tools, described = _tools(as_text(value.get("tool_set")))
    question = as_text(value.get("query") or value.get("issue_title")) or first_text(history, "user")
    uuid = as_text(value.get("uuid"))
    keyed = any(option.key == 1 for option in options)
    return Decision(
        question=question,
        tools=tools,
        history=[*described, *history],
        options=options if keyed else [Option(one.message, source=one.source) for one in options],
        task_key=_short(as_text(value.get("query")) or uuid),
        about=value,
        asked=Asked(task.kind, task.ability, language),
        identity=sha256_hex(f"{uuid}\n{sha256_hex(canonical_json(value))}".encode("utf-8", "surrogatepass")),
        # whoever made the file meant something by it
        source_labels=() if keyed else (SourceLabel(None, ANSWER, value[task.key]),),
    )


def _short(task: str) -> str:
    return task if 0 < len(task) <= MAX_TASK_KEY // 4 else sha256_hex(task.encode("utf-8", "surrogatepass"))


def _options(value: dict[str, Any], task: _Task, problems: RecordProblems) -> list[Option]:
    """The lettered choices of a line, those of its answer as the key; or its reference as the only one."""
    if task.kind is DecisionKind.COMPLETION:
        return [Option(shown_message({"content": value[task.key]}), 1)]
    lettered = split_lettered(value[CHOICES])
    if len(lettered) < 2:
        problems.add(CHOICES, translatable("must hold two options or more, as “(A) … (B) …”"))
    if len(lettered) == MAX_LETTERS and re.search(r"\s\(AA\)", value[CHOICES]):
        problems.add(CHOICES, translatable("has more than {n} options", n=MAX_LETTERS))
    answer = {letter.strip() for letter in value[task.key].split(",")}
    met: dict[str, str] = {}
    for letter, text in lettered.items():
        first = met.setdefault(text.strip(), letter)
        if (first in answer) != (letter in answer):
            problems.add(
                CHOICES,
                translatable(
                    "options {one} and {other} are the same, and one of them alone is the answer",
                    one=f"({first})",
                    other=f"({letter})",
                ),
            )
        if not text.strip():
            problems.add(CHOICES, translatable("option {letter} is empty", letter=f"({letter})"))
    return [
        Option(
            shown_message({"content": text.strip()}), 1 if letter in answer else -1, source={LETTER: letter}
        )
        for letter, text in lettered.items()
    ]


def _tools(text: str) -> tuple[list[Any], Messages]:
    """The tools that a text lists as "(1) {…}", one a line; as a message where they cannot be read."""
    tools = []
    for line in text.splitlines():
        if line.strip():
            listed = _TOOL.fullmatch(line)
            try:
                tools.append(json.loads(listed[1] if listed else ""))
            except ValueError:
                return [], [{"role": "system", "content": text}]
    return tools, []


def _run(value: dict[str, Any], problems: RecordProblems) -> Messages:
    """The question and the steps so far, which stand as JSON in a text."""
    messages: Messages = [{"role": "user", "content": value["query"]}]
    try:
        steps = json.loads(value["trajectory"])
    except (ValueError, RecursionError):
        steps = None
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        problems.add("trajectory", translatable("must be a JSON list of steps, as text"))
        return messages
    for step in steps:
        call = as_object(step.get("execution"))
        message: dict[str, Any] = {"role": "assistant", "content": as_text(step.get("planning"))}
        if isinstance(call.get("name"), str):
            function = {"name": call["name"], "arguments": call.get("args", {})}
            message["tool_calls"] = [{"type": "function", "function": function}]
        messages += [message, {"role": "tool", "content": as_text(step.get("observation"))}]
    return messages


def _commands(value: dict[str, Any], _problems: RecordProblems) -> Messages:
    """The plan, and the commands that were run."""
    run = value["executed_cmds"].replace(";", "\n")
    return [{"role": "user", "content": text} for text in (value["execution_plan"], run) if text.strip()]


def _texts(*names: str) -> Callable[[dict[str, Any], RecordProblems], Messages]:
    """These fields, each as a message of the user."""
    return lambda value, _problems: [
        {"role": "user", "content": value[name]} for name in names if value[name].strip()
    ]


_TASKS: Final = (
    _Task(
        frozenset({"uuid", "query", "trajectory", "tool_set", CHOICES, ANSWER}),
        DecisionKind.CHOICE,
        Ability.PLANNING,
        ANSWER,
        _run,
    ),
    _Task(
        frozenset({"uuid", "query", "trajectory", ANSWER}),
        DecisionKind.COMPLETION,
        Ability.ACTION,
        ANSWER,
        _run,
    ),
    _Task(
        frozenset({"uuid", "execution_plan", "executed_cmds", COMMAND}),
        DecisionKind.COMPLETION,
        Ability.ACTION,
        COMMAND,
        _commands,
    ),
    _Task(
        frozenset({"uuid", "setup_instruct", "issue_title", "issue_body", CHOICES, ANSWER}),
        DecisionKind.CHOICE,
        Ability.ATOMIC,
        ANSWER,
        _texts("setup_instruct", "issue_title", "issue_body"),
    ),
    _Task(
        frozenset({"uuid", "issue_statement", CHOICES, ANSWER}),
        DecisionKind.CHOICE,
        Ability.ATOMIC,
        ANSWER,
        _texts("issue_statement"),
    ),
)
