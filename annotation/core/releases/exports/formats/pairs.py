"""Rows of decisions: one for each pair of a better and a worse option of an item that is fit for use.

An option is better than another if its label is higher; an item is fit if its outcome is +1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.core.trajectories.messages import as_in_chat, normalise
from annotation.core.trajectories.trajectory import step_indexes

Row = dict[str, Any]


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


def toolprmbench_rows(record: Mapping[str, Any]) -> Iterator[Row]:
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


def trl_rows(record: Mapping[str, Any]) -> Iterator[Row]:
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
