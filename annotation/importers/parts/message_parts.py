"""One message put together from pieces of whichever dialect: text, images, reasoning, calls, results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from annotation.core.jsonio.jsonlines import BadJson, parse_text

from .content_blocks import as_json as as_text
from .content_blocks import call_of, data_uri, part_of

__all__ = ["MessageParts", "as_object", "as_one", "as_text"]

_TEXT: Final = frozenset({"text", "input_text", "output_text"})
_REASONING: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALLS: Final = frozenset({"tool_call", "tool-call", "tool_use", "function_call", "server_tool_use"})
_RESULTS: Final = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "function_call_output", "tool_response"}
)
_IMAGES: Final = frozenset({"image", "image_url", "input_image", "blob", "file", "media"})


def as_object(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


class MessageParts:
    """The pieces of one message in the order they came. What is not understood stays as it is."""

    def __init__(self) -> None:
        self.content: list[dict[str, Any]] = []
        self.reasoning: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []

    def add(self, piece: Any) -> None:
        """A part of a message: a block, a Gemini part, a text."""
        if not isinstance(piece, dict):
            self.add_text(as_text(piece))
            return
        add = self._reader(piece)
        if add is None:
            self.content.append(part_of(piece))
        else:
            add(piece)

    def _reader(self, piece: dict[str, Any]) -> Callable[[dict[str, Any]], None] | None:
        kind = piece["type"] if isinstance(piece.get("type"), str) else None
        if kind in _REASONING or piece.get("thought") is True:
            return self._add_thought
        if kind in _CALLS:
            return self.add_call
        if kind in _RESULTS:
            return self._add_result
        if kind in _IMAGES:
            return self._add_image
        if kind is None and "toolName" in piece and "toolCallId" in piece:
            answered = piece.get("result") is not None or piece.get("output") is not None
            return self._add_result if answered else self.add_call
        if kind in _TEXT or (kind is None and isinstance(piece.get("text"), str)):
            return self._add_text_part
        for keys, reader in (
            (("function_call", "functionCall", "toolUse"), self._add_keyed_call),
            (("function_response", "functionResponse", "toolResult"), self._add_keyed_result),
            (("inline_data", "inlineData"), self._add_inline_data),
        ):
            if any(isinstance(piece.get(key), dict) for key in keys):
                return reader
        return None

    def add_text(self, text: str) -> None:
        """Text, if there is any."""
        if text:
            self.content.append({"type": "text", "text": text})

    def add_reasoning(self, text: str) -> None:
        """Add thoughts of the model before its answer."""
        if text:
            self.reasoning.append(text)

    def add_call(self, call: Any) -> None:
        """A tool call of any dialect."""
        if isinstance(call, str):
            try:
                call = parse_text(call)
            except BadJson:
                call = {"name": "", "arguments": call}
        if not isinstance(call, dict):
            call = {"name": "", "arguments": call}
        spec = call["function"] if isinstance(call.get("function"), dict) else call
        name = spec.get("name") or spec.get("toolName") or spec.get("tool_name")
        arguments: Any = next(
            (spec[key] for key in ("arguments", "args", "input", "parameters") if spec.get(key) is not None),
            {},
        )
        call_id = call.get("id") or call.get("toolCallId") or call.get("call_id") or call.get("toolUseId")
        self.calls.append(call_of(call_id, name, arguments))

    def _add_text_part(self, piece: dict[str, Any]) -> None:
        text = piece.get("text")
        self.add_text(as_text(text if text is not None else piece.get("content")))

    def _add_thought(self, piece: dict[str, Any]) -> None:
        text = next(
            (piece[key] for key in ("thinking", "reasoning", "text", "content") if piece.get(key)), None
        )
        if text is not None:
            self.add_reasoning(as_text(text))

    def _add_keyed_call(self, piece: dict[str, Any]) -> None:
        self.add_call(
            next(piece[key] for key in ("function_call", "functionCall", "toolUse") if key in piece)
        )

    def _add_keyed_result(self, piece: dict[str, Any]) -> None:
        keys = ("function_response", "functionResponse", "toolResult")
        self._add_result(next(piece[key] for key in keys if key in piece))

    def _add_result(self, piece: dict[str, Any]) -> None:
        keys = ("tool_use_id", "toolCallId", "tool_call_id", "toolUseId", "call_id", "id")
        call_id = next((piece[key] for key in keys if piece.get(key)), None)
        value = next(
            (piece[key] for key in ("response", "result", "output", "content") if piece.get(key) is not None),
            "",
        )
        if isinstance(value, dict) and value.get("type") in ("text", "json", "error-text", "content"):
            value = value.get("value", value)
        result: dict[str, Any] = {"role": "tool", "content": _result_content(value)}
        if call_id:
            result["tool_call_id"] = as_text(call_id)
        name = piece.get("name") or piece.get("toolName")
        if name:
            result["name"] = as_text(name)
        self.results.append(result)

    def _add_image(self, piece: dict[str, Any]) -> None:
        """An image of OpenTelemetry (`blob`) or of the AI SDK; other dialects are read as blocks."""
        media = piece.get("mime_type") or piece.get("mimeType") or piece.get("mediaType")
        data = next(
            (piece[key] for key in ("content", "data", "image") if isinstance(piece.get(key), str)), ""
        )
        if data and isinstance(media, str) and media.startswith("image/") and "://" not in data[:12]:
            self.content.append({"type": "image_url", "image_url": {"url": data_uri(media, data)}})
        elif data[:5] == "data:" or "://" in data[:12]:
            self.content.append({"type": "image_url", "image_url": {"url": data}})
        else:
            self.content.append(part_of(piece))

    def _add_inline_data(self, piece: dict[str, Any]) -> None:
        held = piece.get("inline_data") or piece.get("inlineData")
        media = held.get("mime_type") or held.get("mimeType") if isinstance(held, dict) else None
        if isinstance(held, dict) and isinstance(media, str) and isinstance(held.get("data"), str):
            uri = data_uri(media, held["data"])
            self.content.append({"type": "image_url", "image_url": {"url": uri}})
        else:
            self.content.append(piece)

    def messages(self, role: str, *, call_id: Any = None, name: Any = None) -> list[dict[str, Any]]:
        """The message in OpenAI's shape, after the results that stood in it as messages of their own."""
        empty = not (self.content or self.calls or self.reasoning)
        if self.results and (empty or role == "tool"):
            return self.results
        message: dict[str, Any] = {"role": role, "content": self._content()}
        if self.reasoning:
            message["reasoning_content"] = "\n\n".join(self.reasoning)
        if self.calls:
            message["tool_calls"] = self.calls
        if role == "tool" and call_id:
            message["tool_call_id"] = as_text(call_id)
        if name and isinstance(name, str):
            message["name"] = name
        return [*self.results, message]

    def _content(self) -> Any:
        if not self.content:
            return None if self.calls else ""
        if len(self.content) == 1 and self.content[0].get("type") == "text":
            return self.content[0]["text"]
        return self.content


def _result_content(value: Any) -> Any:
    """The content of a result: text, parts when all of it is parts, or its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(item, dict) and "type" in item for item in value):
        parts = MessageParts()
        for item in value:
            parts.add(item)
        if not (parts.calls or parts.results or parts.reasoning):
            return parts._content()
    return as_text(value)


def as_one(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Several messages of the assistant that are one response, as one message."""
    if len(messages) == 1:
        return messages[0]
    whole = MessageParts()
    for message in messages:
        content = message.get("content")
        for piece in content if isinstance(content, list) else [content] if content else []:
            whole.add(piece)
        whole.add_reasoning(as_text(message.get("reasoning_content")))
        whole.calls.extend(message.get("tool_calls") or [])
    return {**messages[0], **whole.messages("assistant")[-1]}
