"""Put a conversation together piece by piece, so that what one response was split into is one step again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.core.trajectories.step_costs import cost_in
from annotation.importers.conversion import Conversation

from .content_blocks import as_json, call_of, content_of, part_of, parts_of

__all__ = ["ConversationBuilder", "Response"]


class Response:
    """One response of the model: an assistant message that grows as its pieces come.

    `reasoning_content` holds what the model thought, as OpenAI-compatible servers write it.
    """

    def __init__(self, message: dict[str, Any]) -> None:
        self._message = message
        self._parts: list[dict[str, Any]] = []

    def say(self, content: Any) -> None:
        """Text, an image, or whatever else the response holds."""
        self._parts.extend(part for part in parts_of(content) if part != {"type": "text", "text": ""})
        self._message["content"] = content_of(self._parts)

    def add_block(self, block: Any) -> None:
        """One block that is neither reasoning nor a call."""
        self._parts.append(part_of(block))
        self._message["content"] = content_of(self._parts)

    def think(self, text: Any) -> None:
        """Reasoning that can be read."""
        if text not in (None, ""):
            before = self._message.get("reasoning_content")
            self._message["reasoning_content"] = f"{before}\n\n{as_json(text)}" if before else as_json(text)

    def call(self, call_id: Any, name: Any, arguments: Any) -> None:
        """A tool call."""
        self._message.setdefault("tool_calls", []).append(call_of(call_id, name, arguments))

    def keep(self, key: str, value: Any) -> None:
        """A further key of the message, such as the `name` of the agent that speaks."""
        self._message[key] = value

    def spend(self, usage: Any) -> None:
        """Note the cost of the response by the source; of a response in pieces, the last says it all."""
        if isinstance(usage, Mapping) and (cost := cost_in(usage)):
            self.keep("usage", cost.as_json())


class ConversationBuilder:
    """The messages of a conversation in the order they came.

    A response stays open for further pieces with the same `key` until somebody else speaks: results of tools
    may come between its pieces, because some programs write a result before the response is over.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._open: Response | None = None
        self._key = ""
        self._answered = False

    def respond(self, address: str, key: str = "") -> Response:
        """The response for a piece at `address`: the open one if `key` is its own, else a new one.

        An empty `key` continues the open response unless a result has come since.
        """
        if self._open is not None and (key == self._key if key else not self._answered and not self._key):
            return self._open
        messages = self.conversation.messages
        if address:
            self.conversation.source_steps[len(messages)] = address
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        messages.append(message)
        self._open, self._key, self._answered = Response(message), key, False
        return self._open

    def close(self) -> None:
        """Close the response: the next piece begins another one."""
        self._open = None

    def add(self, role: str, content: Any, **more: Any) -> None:
        """A message of somebody else, which ends the response."""
        self.close()
        self.note(role, content, **more)

    def note(self, role: str, content: Any, **more: Any) -> None:
        """A message that stands between the pieces of a response without ending it."""
        self.conversation.messages.append({"role": role, "content": content_of(parts_of(content)), **more})

    def result(
        self, call_id: Any, content: Any, *, name: Any = None, failed: bool = False, inside: bool = False
    ) -> None:
        """Add the answer of a tool. `failed` is the source's own mark, kept as `is_error`. `failed` is what
        the source says of it, kept as `is_error`.

        `inside`: the provider ran the tool itself, and the response goes on.
        """
        message: dict[str, Any] = {"role": "tool", "content": content_of(parts_of(content))}
        if call_id not in (None, ""):
            message["tool_call_id"] = as_json(call_id)
        if isinstance(name, str) and name:
            message["name"] = name
        if failed:
            message["is_error"] = True
        self.conversation.messages.append(message)
        self._answered = self._answered or not inside
