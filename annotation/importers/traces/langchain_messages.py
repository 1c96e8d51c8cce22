"""Messages of LangChain in its three shapes: `lc` constructors, `type` with `data`, and flat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from annotation.core.i18n import translatable

from ..parts.content_blocks import as_json
from ..parts.conversation_builder import ConversationBuilder, Response

__all__ = ["add_messages", "fields_of", "is_message", "models_of", "role_of"]

INVALID: Final = translatable("tool calls whose arguments could not be parsed")
CHUNKS: Final = translatable("pieces of a response put together")
REMOVED: Final = translatable("messages that were removed again")

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "function": "tool",
    "remove": "remove",
}
_CLASS_ENDINGS: Final = ("MessageChunk", "Message")
_CALL_BLOCKS: Final = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "function_call", "input_json_delta", "invalid_tool_call"}
)
_REASONING: Final = frozenset({"thinking", "reasoning", "redacted_thinking"})

Message = dict[str, Any]


def _kind(message: Message) -> str:
    """`human`, `ai`, `AIMessageChunk` …; `""` for what is no message of LangChain."""
    kind = message.get("type")
    if kind == "constructor":
        names = message.get("id")
        name = names[-1] if isinstance(names, list) and names else ""
        kind = fields_of(message).get("type") or name
        return name if isinstance(name, str) and name.endswith(_CLASS_ENDINGS) else ""
    return kind if isinstance(kind, str) else ""


def fields_of(message: Message) -> Message:
    """The fields of a message of any shape."""
    held = message.get("kwargs") if message.get("type") == "constructor" else message.get("data")
    return held if isinstance(held, dict) else message


def role_of(message: Message) -> str:
    """The role in OpenAI's words, `remove` for a removal, `""` for what is no message."""
    kind = _kind(message)
    plain = kind
    for ending in _CLASS_ENDINGS:
        plain = plain.removesuffix(ending)
    if plain.lower() == "chat":
        return as_json(fields_of(message).get("role"))
    if plain.lower() in _ROLES:
        return _ROLES[plain.lower()]
    role = message.get("role")
    return role if isinstance(role, str) and not kind else ""


def is_message(value: Any) -> bool:
    """Whether this is a message in one of LangChain's own shapes (not a mere `role` and `content`)."""
    if not isinstance(value, dict) or "role" in value or not role_of(value):
        return False
    return value.get("type") == "constructor" or isinstance(value.get("data"), dict) or "content" in value


def add_messages(thread: ConversationBuilder, messages: list[Any], place: str = "") -> None:
    """These messages, in order. What is no message becomes one of the user, as it stands."""
    for number, message in _whole(messages, thread):
        if isinstance(message, dict):
            _add(thread, message, f"{place}[{number}]")
        else:
            thread.add("user", message)


def _whole(messages: list[Any], thread: ConversationBuilder) -> Iterator[tuple[int, Any]]:
    """The messages with chunks of one id put together, and without those that were removed again."""
    gone = {
        fields_of(message).get("id") if isinstance(fields_of(message).get("id"), str) else None
        for message in messages
        if isinstance(message, dict) and role_of(message) == "remove"
    } - {None}
    chunks: list[Message] = []
    begun = 0
    for number, message in enumerate(messages):
        chunk = isinstance(message, dict) and _kind(message) == "AIMessageChunk"
        if chunks and not (chunk and _continues(chunks[0], message)):
            yield begun, _joined(chunks)
            chunks = []
        if isinstance(message, dict) and role_of(message) == "remove":
            continue
        if isinstance(message, dict) and gone and as_json(fields_of(message).get("id")) in gone:
            thread.conversation.notes[REMOVED] += 1
        elif chunk:
            thread.conversation.notes[CHUNKS] += bool(chunks)
            begun = begun if chunks else number
            chunks.append(message)
        else:
            yield number, message
    if chunks:
        yield begun, _joined(chunks)


def _continues(first: Message, other: Message) -> bool:
    own = fields_of(first).get("id")
    return own is not None and own == fields_of(other).get("id")


def _joined(chunks: list[Message]) -> Message:
    """The chunks of a response as one."""
    if len(chunks) == 1:
        return chunks[0]
    held = [fields_of(chunk) for chunk in chunks]
    fields: Message = {}
    for chunk_fields in held:
        fields.update({key: value for key, value in chunk_fields.items() if value not in (None, [], {}, "")})
    fields["content"] = _joined_content([chunk.get("content") for chunk in held])
    fields["tool_call_chunks"] = _joined_calls(
        [piece for chunk in held for piece in _list(chunk.get("tool_call_chunks"))]
    )
    if not fields["tool_call_chunks"]:
        fields["tool_calls"] = [call for chunk in held for call in _list(chunk.get("tool_calls"))]
    return {"type": "AIMessageChunk", "data": fields}


def _joined_content(contents: list[Any]) -> Any:
    if all(isinstance(content, str) or content is None for content in contents):
        return "".join(content or "" for content in contents)
    return [part for held in contents for part in (held if isinstance(held, list) else [held]) if part]


def _joined_calls(pieces: list[Any]) -> list[Message]:
    calls: dict[str, Message] = {}
    arguments: dict[str, list[str]] = {}
    for piece in pieces:
        if not isinstance(piece, dict):
            continue
        index = as_json(piece.get("index"))
        call = calls.setdefault(index, {})
        arguments.setdefault(index, []).append(as_json(piece.get("args")))
        for key in ("id", "name"):
            if piece.get(key) is not None:
                call.setdefault(key, piece[key])
    return [{**call, "args": "".join(arguments[index])} for index, call in calls.items()]


def _add(thread: ConversationBuilder, message: Message, place: str) -> None:
    fields, role = fields_of(message), role_of(message)
    name = {"name": fields["name"]} if isinstance(fields.get("name"), str) and fields["name"] else {}
    content = fields.get("content")
    if role == "assistant":
        thread.close()
        response = thread.respond(as_json(fields.get("id")) or place)
        if name:
            response.keep("name", name["name"])
        response.spend(fields.get("usage_metadata"))
        _respond(thread, response, fields)
    elif role == "tool":
        failed = fields.get("status") == "error"
        thread.result(fields.get("tool_call_id"), content, name=fields.get("name"), failed=failed)
    else:
        thread.add(role or "user", content if role else message, **name)


def _respond(thread: ConversationBuilder, response: Response, fields: Message) -> None:
    extra = fields.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    response.think(extra.get("reasoning_content"))
    content = fields.get("content")
    blocks = content if isinstance(content, list) else [content]
    calls = _list(fields.get("tool_call_chunks")) or _list(fields.get("tool_calls"))
    invalid = _list(fields.get("invalid_tool_calls"))
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, dict) and isinstance(kind, str) and kind in _REASONING:
            response.think(block.get(kind) if isinstance(block.get(kind), str) else block.get("text"))
        elif isinstance(kind, str) and kind in _CALL_BLOCKS and (calls or invalid):
            continue
        else:
            response.say(block)
    for call in calls or _list(extra.get("tool_calls")):
        _call(response, call)
    for call in invalid if not fields.get("tool_call_chunks") else ():
        thread.conversation.notes[INVALID] += 1
        _call(response, call)


def _call(response: Response, call: Any) -> None:
    if not isinstance(call, dict):
        response.call(None, "", call)
        return
    function = call["function"] if isinstance(call.get("function"), dict) else call
    response.call(call.get("id"), function.get("name"), function.get("args", function.get("arguments")))


def models_of(messages: list[Any]) -> list[str]:
    """The models that the responses name, each once, in the order in which they come."""
    models: dict[str, None] = {}
    for message in messages:
        about = fields_of(message).get("response_metadata") if isinstance(message, dict) else None
        if isinstance(about, dict):
            name = about.get("model_name") or about.get("model")
            if isinstance(name, str):
                models.setdefault(name)
    return list(models)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
