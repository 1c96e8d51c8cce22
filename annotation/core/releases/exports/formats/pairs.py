"""Rows of decisions: one for each pair of a better and a worse option of an item that is fit for use.

An option is better than another if its label is higher; an item is fit if its outcome is +1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.plain_text import json_text
from annotation.core.kinds import Feature
from annotation.core.trajectories.messages import as_in_chat, normalise
from annotation.core.trajectories.trajectory import step_indexes

from ..split import TRAIN
from .base import ExportFormat, ExportOptions, ExportTable, dataset_snippets, load_snippet
from .columns import OTHER, RECORD_ID, SUBSET, TASK_KEY, TOOLS, CellKind, Cells, ExportColumn, Row

_TASK: Final = ExportColumn("task", CellKind.TEXT, "the task; its pairs belong together")
QUESTION: Final = ExportColumn("question", CellKind.TEXT, "what was asked")
CATEGORY: Final = ExportColumn("category", CellKind.TEXT, "the category, of a decision that has one")
HISTORY: Final = ExportColumn("history", CellKind.JSON, "the messages before the action")

PAIR_COLUMNS: Final = (
    RECORD_ID,
    SUBSET,
    TASK_KEY,
    CATEGORY,
    QUESTION,
    HISTORY,
    TOOLS,
    *(
        column
        for side, what in (("chosen", "better"), ("rejected", "worse"))
        for column in (
            ExportColumn(side, CellKind.JSON, f"the {what} action, as a chat message"),
            ExportColumn(f"{side}_index", CellKind.INTEGER, "its index among the messages of the decision"),
            ExportColumn(f"{side}_label", CellKind.LABEL, "its label: −1, 0 or +1"),
            ExportColumn(f"{side}_kind", CellKind.TEXT, "how that was reached"),
            ExportColumn(f"{side}_origin", CellKind.TEXT, "where it is from: a step, a person, a file"),
        )
    ),
    OTHER,
)
"""The columns of `pair_rows`."""


def pair_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """A row for each pair, with where each side is from and how its label was reached."""
    details = record.get("decision") or {}
    origins = details.get("options") or {}
    history = json_text(history_of(record))
    for pair in better_and_worse(record):
        cells = Cells(record)
        row = {
            **cells.texts("record_id", "subset", "task_key", "question"),
            "category": details.get("category") or None,
            "history": history,
            "tools": cells.json("tools"),
        }
        for side, index in zip(("chosen", "rejected"), pair, strict=True):
            key = str(index)
            row |= {
                side: json_text(record["messages"][index]),
                f"{side}_index": index,
                f"{side}_label": record["step_labels"][key],
                f"{side}_kind": record["step_kinds"][key],
                f"{side}_origin": (origins.get(key) or {}).get("origin"),
            }
        yield row | {"other": json_text(cells.exact)}


def better_and_worse(record: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The message indexes of each better and worse option of a record; none of an item that is not fit."""
    if record["final_label"] != 1:
        return []
    labels = sorted((int(index), value) for index, value in record["step_labels"].items())
    return [(better, worse) for better, high in labels for worse, low in labels if high > low]


def history_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The history of a decision in the roles of a chat."""
    messages = record["messages"]
    return as_in_chat(messages[: min(step_indexes(messages), default=len(messages))])


def pair_snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """Ways to load a configuration of `pair_rows`."""
    yield (
        "datasets",
        "import json\n" + load_snippet("pairs", config, split) + 'history = json.loads(pairs[0]["history"])\n'
        'chosen, rejected = json.loads(pairs[0]["chosen"]), json.loads(pairs[0]["rejected"])',
    )
    yield from dataset_snippets(config, split)


def toolprmbench_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """Rows in the layout of ToolPRMBench, which come in again as the same decisions.

    An action is text, or one call as `{name, arguments}`; anything more is a message.
    """
    about = {"task": record["task_key"], "question": record["question"]}
    if record["data_source"] != record["subset"]:  # a release names the subset where the file named none
        about["data_source"] = record["data_source"]
    if category := (record.get("decision") or {}).get("category"):
        about["category"] = category
    for better, worse in better_and_worse(record):
        yield {
            **about,
            "history": history_of(record),
            "action_chosen": _action(record["messages"][better]),
            "action_rejected": _action(record["messages"][worse]),
            "functions": record["tools"],
        }


def _action(message: Mapping[str, Any]) -> Any:
    content, calls = message.get("content"), message.get("tool_calls")
    if message.keys() <= {"role", "content"} and isinstance(content, str) and content:
        return content
    if message.keys() <= {"role", "content", "tool_calls"} and not content and isinstance(calls, list):
        functions = [call.get("function") for call in calls if isinstance(call, dict)]
        if len(functions) == len(calls) == 1 and _plain(functions[0]):
            return functions[0]
    return dict(message)


def _plain(function: Any) -> bool:
    """Whether a call says nothing but its name and arguments."""
    return (
        isinstance(function, dict) and function.keys() <= {"name", "arguments"} and bool(function.get("name"))
    )


def trl_rows(record: Mapping[str, Any], _options: ExportOptions) -> Iterator[Row]:
    """Rows of preferences in TRL's conversational shape with an explicit prompt, and the tools as JSON
    schemas (https://huggingface.co/docs/trl/dataset_formats#preference, "Tool Calling")."""
    prompt = _for_trl(history_of(record))
    tools = [_schema(tool) for tool in record["tools"]]
    for better, worse in better_and_worse(record):
        chosen, rejected = _for_trl([record["messages"][better]]), _for_trl([record["messages"][worse]])
        yield {"prompt": prompt, "chosen": chosen, "rejected": rejected, "tools": tools}


def _for_trl(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages with role and text, and calls whose arguments are objects wherever they parse."""
    written = []
    for raw, message in zip(messages, normalise(messages), strict=True):
        name = {"name": message.name} if message.name else {}
        content = raw.get("content")
        row: Row = {
            "role": message.role,
            **name,
            "content": content if isinstance(content, str) else message.content,
        }
        calls = [
            {
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments if call.parsed else call.arguments_raw,
                },
            }
            for call in message.tool_calls
            if call.origin == "tool_calls"
        ]
        written.append(row | {"tool_calls": calls} if calls else row)
    return written


def _schema(tool: Any) -> Any:
    wrapped = not isinstance(tool, dict) or "function" in tool
    return tool if wrapped else {"type": "function", "function": tool}


def _snippets(config: str, split: str) -> Iterator[tuple[str, str]]:
    """Ways to load a configuration of JSON Lines."""
    yield (
        "datasets",
        load_snippet("pairs", config, split).rstrip(),
    )
    yield "json", lines_snippet("pairs", config, split)


def lines_snippet(name: str, config: str, split: str) -> str:
    """Code that reads JSON Lines into `name` without any library."""
    return (
        "import json\n\n"
        f'with open("data/{config}/{split}.jsonl", encoding="utf-8") as lines:\n'
        f"    {name} = [json.loads(line) for line in lines]"
    )


def _about(_options: ExportOptions, left_out: int) -> Iterator[str]:
    """A section on what makes a row."""
    yield "## Pairs"
    yield ""
    yield (
        "A row is a pair of options of one decision that is fit for use (its outcome is +1): one whose "
        "label is higher, and one whose label is lower. Decisions without such a pair, which are left out: "
        f"{left_out}."
    )
    yield ""


def _format(name: str, title: str, table: ExportTable, *tags: str) -> ExportFormat:
    return ExportFormat(
        name=name,
        title=title,
        contents="pairs of a better and a worse next action",
        options=("split", "seed"),
        tables=(table,),
        whole=TRAIN,
        needs=Feature.PAIRS,
        labels=(),
        tags=tags,
        about=_about,
        snippets=_snippets,
    )


TOOLPRMBENCH: Final = _format(
    "toolprmbench",
    translatable("Pairs as ToolPRMBench has them"),
    ExportTable(
        "data",
        (
            _TASK,
            QUESTION,
            CATEGORY,
            HISTORY,
            ExportColumn("action_chosen", CellKind.JSON, "the better action: text, a call, or a message"),
            ExportColumn("action_rejected", CellKind.JSON, "the worse action"),
            ExportColumn("functions", CellKind.JSON, "the tools that the agent had"),
        ),
        toolprmbench_rows,
        labels="",
        lines=True,
    ),
)
TRL_PREFERENCE: Final = _format(
    "trl_preference",
    translatable("Preferences for TRL"),
    ExportTable(
        "data",
        (
            ExportColumn("prompt", CellKind.JSON, "the messages before the action"),
            ExportColumn("chosen", CellKind.JSON, "the better action, as a list of one message"),
            ExportColumn("rejected", CellKind.JSON, "the worse action, as a list of one message"),
            ExportColumn("tools", CellKind.JSON, "the tools that the agent had, as JSON schemas"),
        ),
        trl_rows,
        labels="",
        lines=True,
    ),
    "trl",
)
