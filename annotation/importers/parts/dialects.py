"""Messages in the shapes that tracing tools record, as messages in OpenAI's shape.

What a span holds as its input and output is whatever the program handed to its model library: OpenAI's
messages, Anthropic's content blocks, Gemini's contents, OpenTelemetry's parts, the AI SDK's parts,
LangChain's messages, a wrapper with `messages` or `choices` around any of them, or plain text.
`read_messages` takes all of them; what it does not know stays in the message as it is. Nothing here raises on
account of content.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from annotation.core.jsonio.jsonlines import BadJson, parse_text

from .message_parts import MessageParts, as_one, as_text

__all__ = ["is_cut_off", "parse_json", "read_list", "read_messages", "read_tools", "read_value"]

Converter = Callable[[Any, str, int], list[dict[str, Any]]]

_ROLES: Final = {
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "human": "user",
    "humanmessage": "user",
    "model": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
    "function": "tool",
}
_LISTS: Final = ("messages", "contents", "generations", "candidates", "choices", "input", "output")
_WRAPPERS: Final = (
    "message",
    "prompt",
    "query",
    "question",
    "text",
    "result",
    "response",
    "completion",
    "args",
)
MAX_LEVELS: Final = 12
MAX_LITERAL: Final = 200_000
_LITERALS: Final = frozenset({"[{", "{'"})
_BLOCKS: Final = frozenset({"text", "tool_use", "tool_call", "tool-call", "thinking", "image"})
MODEL_ITEMS: Final = frozenset({"function_call", "reasoning", "custom_tool_call"})
"""Items of OpenAI's Responses that are pieces of one response and have no role."""


def parse_json(value: Any) -> Any:
    """The value that a string of JSON holds; anything else, broken JSON too, as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return parse_text(value)
    except BadJson:
        return value


def is_cut_off(value: Any) -> bool:
    """Whether a text begins as JSON and is none: attributes of spans are limited in length."""
    return isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and isinstance(parse_json(value), str)


def read_messages(value: Any, role: str) -> list[dict[str, Any]]:
    """`value` as messages; `role` is that of text whose speaker is not said."""
    return read_value(parse_literal(value), role, 0)


def parse_literal(value: Any) -> Any:
    """The value of a string that holds JSON or, as some exporters write it, a Python literal."""
    parsed = parse_json(value)
    if not isinstance(parsed, str) or len(parsed) > MAX_LITERAL or parsed.lstrip()[:2] not in _LITERALS:
        return parsed
    try:
        return ast.literal_eval(parsed)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return parsed


def read_value(value: Any, role: str, level: int) -> list[dict[str, Any]]:
    """A parsed value as messages; `level` says how many values it stands within."""
    if value is None or value == "" or value == [] or value == {}:
        return []
    if level > MAX_LEVELS or not isinstance(value, dict | list):
        return [{"role": role, "content": as_text(value)}]
    return read_list(value, role, level) if isinstance(value, list) else _read_object(value, role, level)


def read_list(
    value: list[Any], role: str, level: int = 0, convert: Converter | None = None
) -> list[dict[str, Any]]:
    """A list that is not empty, as messages. `convert(item, role, level)` reads a member; it may remember."""
    if _is_content(value):
        return _message({"role": role, "content": value}, role)
    read_member = convert or read_value
    messages: list[dict[str, Any]] = []
    for item in value:
        read = read_member(item, role, level + 1)
        loose = isinstance(item, dict) and as_text(item.get("type")) in MODEL_ITEMS and messages
        if loose and read and messages[-1]["role"] == read[0]["role"] == "assistant":
            messages[-1] = as_one([messages[-1], read[0]])
        else:
            messages.extend(read)
    return messages


def _read_object(value: dict[str, Any], role: str, level: int) -> list[dict[str, Any]]:
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):  # LangChain's dumps
        inner = {"type": as_text(value["id"][-1]) if value["id"] else "", **value["kwargs"]}
        return _message({**inner, "role": _role(as_text(value["id"][-1]) if value["id"] else "", role)}, role)
    if (
        isinstance(value.get("data"), dict)
        and isinstance(value.get("type"), str)
        and "content" in value["data"]
    ):
        return _message({**value["data"], "role": _role(value["type"], role)}, role)
    if _is_message(value):
        return _message(value, role)
    for key in _LISTS:
        held = value.get(key)
        if isinstance(held, list) or (isinstance(held, str | dict) and held and key in ("contents", "input")):
            answers = key in ("generations", "candidates", "choices")
            if answers and isinstance(held, list):
                held = held[:1]  # further choices are other answers to the same question
            side = "assistant" if answers or key == "output" else role
            return [*_system_of(value), *read_value(parse_json(held), side, level + 1)]
    for key in _WRAPPERS:
        if value.get(key) not in (None, "", [], {}):
            return [*_system_of(value), *read_value(parse_json(value[key]), role, level + 1)]
    if isinstance(value.get("content"), dict):  # a Gemini candidate, an ADK event
        return read_value(value["content"], role, level + 1)
    if "toolCallId" in value or "type" in value:
        side = "assistant" if as_text(value.get("type")) in MODEL_ITEMS else role
        return _message({"role": side, "content": [value]}, side)
    return [{"role": role, "content": as_text(value)}]


def _is_message(value: dict[str, Any]) -> bool:
    if isinstance(value.get("content"), dict):
        return False
    if value.get("type") in ("ai", "human", "AIMessageChunk") and "content" in value:
        return True
    named = isinstance(value.get("role"), str)
    return (
        named
        or "parts" in value
        or "tool_calls" in value
        or (isinstance(value.get("content"), list | str) and "type" not in value)
    )


def _is_content(value: list[Any]) -> bool:
    """Whether a list is the content of one message rather than a list of messages."""
    return all(
        isinstance(item, dict)
        and "role" not in item
        and ("toolCallId" in item or as_text(item.get("type")) in _BLOCKS)
        for item in value
    )


def _system_of(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The system prompt that stands beside the messages (Anthropic, the AI SDK, Gemini)."""
    config = value.get("config")
    system = value.get("system") or value.get("instructions") or value.get("system_instruction")
    if not system and isinstance(config, dict):
        system = config.get("system_instruction") or config.get("systemInstruction")
    if not system:
        return []
    return [
        {"role": "system", "content": message["content"]}
        for message in read_value(system, "system", MAX_LEVELS - 2)
    ]


def _role(role: Any, fallback: str) -> str:
    if not isinstance(role, str) or not role:
        return fallback
    return _ROLES.get(role.lower(), role)


def _message(value: dict[str, Any], fallback: str) -> list[dict[str, Any]]:
    """One message, with the results that stood inside it as messages of their own before it."""
    role = _role(value.get("role") or value.get("type"), fallback)
    parts = MessageParts()
    held = value.get("content") if value.get("content") is not None else value.get("parts")
    if value.get("content") in (None, "", []) and value.get("parts"):
        held = value["parts"]
    if isinstance(held, list):
        for item in held:
            parts.add(item)
    elif held is not None and held != "":
        parts.add_text(held if isinstance(held, str) else as_text(held))
    for key in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(value.get(key), str) and value[key]:
            parts.add_reasoning(value[key])
            break
    calls = value.get("tool_calls") or value.get("toolCalls") or _calls_as_text(held)
    if calls and isinstance(held, str) and calls == _calls_as_text(held):
        parts.content, role = [], "assistant"
    for call in calls if isinstance(calls, list) else [calls] if calls else []:
        parts.add_call(call)
    if isinstance(value.get("function_call"), dict) and not calls:
        parts.add_call(value["function_call"])
    call_id = (
        value.get("tool_call_id") or value.get("toolCallId") or (value.get("id") if role == "tool" else None)
    )
    return parts.messages(role, call_id=call_id, name=value.get("name"))


def _calls_as_text(content: Any) -> list[Any]:
    """The calls that a message consists of, when an exporter has written them as its text (Koog)."""
    calls = parse_json(content) if isinstance(content, str) and '"function"' in content else None
    if isinstance(calls, list) and all(
        isinstance(call, dict) and call.get("type") == "function" and isinstance(call.get("function"), dict)
        for call in calls
    ):
        return calls
    return []


def read_tools(value: Any) -> list[Any]:
    """Tool definitions in OpenAI's shape, of whichever dialect; JSON in strings is parsed."""
    value = parse_json(value)
    if isinstance(value, dict):
        held = value.get("function_declarations", value.get("functionDeclarations"))
        value = held if isinstance(held, list) else list(value.values()) if _all_objects(value) else [value]
    if not isinstance(value, list):
        return []
    tools: list[Any] = []
    for item in value:
        item = parse_json(item)
        if not isinstance(item, dict):
            continue
        nested = item.get("function_declarations", item.get("functionDeclarations"))
        if isinstance(nested, list):
            tools.extend(read_tools(nested))
            continue
        spec = item["function"] if isinstance(item.get("function"), dict) else item
        tools.append({"type": "function", "function": _specification(spec)})
    return tools


def _all_objects(value: dict[str, Any]) -> bool:
    return (
        bool(value)
        and "name" not in value
        and all(isinstance(parse_json(held), dict) for held in value.values())
    )


def _specification(spec: dict[str, Any]) -> dict[str, Any]:
    schema = next(
        (
            spec[key]
            for key in ("parameters", "input_schema", "inputSchema", "parameters_json_schema")
            if key in spec
        ),
        None,
    )
    plain: dict[str, Any] = {"name": as_text(spec.get("name"))}
    if spec.get("description"):
        plain["description"] = as_text(spec["description"])
    if schema is not None:
        plain["parameters"] = parse_json(schema)
    return plain
