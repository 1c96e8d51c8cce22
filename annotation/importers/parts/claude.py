"""Content blocks of Anthropic's Messages API as messages: shared by its own format and by Claude Code."""

from __future__ import annotations

from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.importers.conversion import Conversation

from .content_blocks import as_json, without
from .conversation_builder import ConversationBuilder, Response

__all__ = ["ENCRYPTED", "TOOL_BLOCKS", "add_response", "add_user", "tools_of"]

ENCRYPTED = translatable("encrypted reasoning, which nobody can read")
TOOL_BLOCKS: Final = frozenset(
    {"tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking"}
)
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def add_response(
    thread: ConversationBuilder, content: Any, address: str, key: str = "", *, usage: Any = None
) -> Response:
    """The blocks of an assistant message, as one response or as a further piece of the response `key`."""
    response = thread.respond(address, key)
    response.spend(usage)
    for block in content if isinstance(content, list) else [content]:
        _add_block(thread, response, block)
    return response


def _add_block(thread: ConversationBuilder, response: Response, block: Any) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        response.say(block)
    elif kind == "thinking" and block.get("thinking"):
        response.think(block["thinking"])
    elif kind in ("thinking", "redacted_thinking"):
        thread.conversation.notes[ENCRYPTED] += 1
    elif kind in _CALLS:
        response.call(block.get("id"), block.get("name"), block.get("input", {}))
    elif kind.endswith("tool_result"):  # of a tool that the provider ran itself
        _add_result(thread, block)
    else:
        response.say(block)


def _add_result(thread: ConversationBuilder, block: dict[str, Any]) -> None:
    content = block.get("content")
    failed = block.get("is_error") is True
    if isinstance(content, dict):
        failed = failed or as_json(content.get("type")).endswith("_error")
        content = as_json(without(content))
    thread.result(block.get("tool_use_id"), content, failed=failed)


def add_user(thread: ConversationBuilder, content: Any) -> None:
    """A user message: its tool results as messages of their own, then what else it says."""
    if not isinstance(content, list):
        thread.add("user", content)
        return
    content_blocks: list[Any] = []
    for block in content:
        if isinstance(block, dict) and as_json(block.get("type")).endswith("tool_result"):
            _add_result(thread, block)
        else:
            content_blocks.append(block)
    if content_blocks or not content:
        thread.add("user", content_blocks)


def tools_of(value: Any, conversation: Conversation) -> None:
    """Tools as OpenAI writes them; a tool that is only named has no more than its name."""
    for tool in value if isinstance(value, list) else []:
        if isinstance(tool, str):
            conversation.tools.append({"type": "function", "function": {"name": tool}})
        elif isinstance(tool, dict) and isinstance(tool.get("input_schema"), dict):
            function = {key: tool[key] for key in ("name", "description") if key in tool}
            function["parameters"] = tool["input_schema"]
            conversation.tools.append({"type": "function", "function": function})
        else:
            conversation.tools.append(tool)
