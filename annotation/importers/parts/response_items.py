"""Items of OpenAI's Responses API as messages: shared by its own format and by Codex.

A flat list of items does not say where one response ends and the next begins. A step is the longest run of
items that the model made: reasoning, messages of the assistant, calls. What a tool answers, or somebody else
says, ends it.
"""

from __future__ import annotations

from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import BadJson, parse_text
from annotation.importers.conversion import Conversation

from .claude import ENCRYPTED
from .content_blocks import as_json, data_uri, without
from .conversation_builder import ConversationBuilder, Response

__all__ = ["CALLS", "COMPACTIONS", "ITEM_TYPES", "OUTPUTS", "add_item", "chat_tools", "kind_of"]

COMPACTIONS = translatable("compactions")
REFERENCES = translatable("items by reference, which are not in the file")
APPROVALS = translatable("requests for approval, which repeat a call")
UNKNOWN = translatable("items of another kind, left out")

CALLS: Final = frozenset(
    {
        "apply_patch_call",
        "code_interpreter_call",
        "computer_call",
        "custom_tool_call",
        "file_search_call",
        "function_call",
        "image_generation_call",
        "local_shell_call",
        "mcp_call",
        "program",
        "shell_call",
        "tool_call",
        "tool_search_call",
        "web_search_call",
    }
)
OUTPUTS: Final = frozenset(
    {
        "apply_patch_call_output",
        "computer_call_output",
        "custom_tool_call_output",
        "function_call_output",
        "local_shell_call_output",
        "program_output",
        "shell_call_output",
        "tool_result",
        "tool_search_output",
    }
)
ITEM_TYPES: Final = (CALLS | OUTPUTS | {"item_reference", "mcp_list_tools", "reasoning"}) - {
    "tool_result",
    "program",
}
_ARGUMENTS: Final = ("arguments", "input", "action", "operation", "queries", "code", "query")
_ANSWERS: Final = ("output", "result", "results", "tools")
_QUIET: Final = frozenset({"ghost_snapshot", "mcp_list_tools"})


def kind_of(item: dict[str, Any]) -> str:
    """The type of an item; a message may be without."""
    kind = item.get("type")
    return kind if isinstance(kind, str) else "message" if isinstance(item.get("role"), str) else ""


def add_item(
    thread: ConversationBuilder, item: dict[str, Any], place: str, key: str = "", speaker: str = ""
) -> None:
    """One item. `place` is its address where it has no `id`; `key` names its response where that is known."""
    kind = kind_of(item)
    if kind == "message" and item.get("role") != "assistant":
        thread.add(as_json(item.get("role")) or "user", item.get("content"))
    elif kind in CALLS or kind in ("message", "reasoning"):
        response = thread.respond(as_json(item.get("id")) or place, key)
        if speaker:
            response.keep("name", speaker)
        _add_made(thread, response, kind, item)
    elif kind in OUTPUTS:
        _add_output(thread, item)
    elif kind == "agent_message":
        _add_agent_message(thread, item)
    else:
        _count(thread.conversation, kind)


def _count(conversation: Conversation, kind: str) -> None:
    if kind in ("compaction", "context_compaction"):
        conversation.notes[COMPACTIONS] += 1
    elif kind == "item_reference":
        conversation.left_out.add(REFERENCES)
    elif kind.startswith("mcp_approval_"):
        conversation.left_out.add(APPROVALS)
    elif kind not in _QUIET:
        conversation.notes[UNKNOWN] += 1


def _add_made(thread: ConversationBuilder, response: Response, kind: str, item: dict[str, Any]) -> None:
    """Add an item that the model made: a message, reasoning, or a call."""
    if kind == "message":
        response.say(item.get("content"))
    elif kind == "reasoning":
        _think(thread, response, item)
    elif kind == "image_generation_call" and isinstance(item.get("result"), str):
        prompt = {"prompt": item["revised_prompt"]} if item.get("revised_prompt") else {}
        response.call(item.get("call_id") or item.get("id"), "image_generation", prompt)
        response.add_block({"type": "image_url", "image_url": data_uri("image/png", item["result"])})
    else:
        call_id = item.get("call_id") or item.get("id")
        response.call(call_id, _name(kind, item), _arguments(item))
        _add_own_result(thread, kind, item, call_id)


def _arguments(item: dict[str, Any]) -> Any:
    """The arguments of a call; free text, such as a patch or code, as an argument by its field's name."""
    name = next((name for name in _ARGUMENTS if item.get(name) is not None), "")
    arguments = item.get(name, {})
    if name in ("", "arguments") or isinstance(arguments, dict) or _is_object(arguments):
        return arguments
    return {name: arguments}


def _is_object(value: Any) -> bool:
    try:
        return isinstance(value, str) and isinstance(parse_text(value), dict)
    except BadJson:
        return False


def _name(kind: str, item: dict[str, Any]) -> str:
    function = item.get("function")
    named = item.get("name") or (function.get("name") if isinstance(function, dict) else None)
    return as_json(named) or kind.removesuffix("_call")


def _think(thread: ConversationBuilder, response: Response, item: dict[str, Any]) -> None:
    texts = [
        block["text"]
        for field in ("summary", "content")
        for block in (item[field] if isinstance(item.get(field), list) else [])
        if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    for text in texts:
        response.think(text)
    if not texts and item.get("encrypted_content"):
        thread.conversation.notes[ENCRYPTED] += 1


def _add_own_result(thread: ConversationBuilder, kind: str, item: dict[str, Any], call_id: Any) -> None:
    """The result that stands in the call itself, of a tool that the provider ran."""
    if kind == "mcp_call" and (item.get("output") is not None or item.get("error")):
        failed = bool(item.get("error"))
        thread.result(
            call_id, as_json(item["error"] if failed else item["output"]), failed=failed, inside=True
        )
    for field in ("results", "outputs"):
        if kind in ("file_search_call", "code_interpreter_call") and item.get(field):
            thread.result(call_id, item[field], inside=True)


def _add_output(thread: ConversationBuilder, item: dict[str, Any]) -> None:
    output = next((item[name] for name in _ANSWERS if item.get(name) is not None), "")
    failed = item.get("status") in ("failed", "incomplete") or _tells_failure(output)
    thread.result(item.get("call_id"), _answer(output), name=item.get("name"), failed=failed)


def _answer(output: Any) -> Any:
    """A screenshot as an image; text and blocks as they are; other objects as their JSON."""
    if isinstance(output, dict) and output.get("type") == "computer_screenshot":
        return [{"type": "input_image", "image_url": output.get("image_url")}]
    if isinstance(output, dict) and "type" not in output:
        return as_json(output)
    if isinstance(output, list) and not all(isinstance(block, dict) and "type" in block for block in output):
        return as_json(output)
    return output


def _tells_failure(output: Any) -> bool:
    """Whether the exit code in the JSON of a shell's answer is not 0."""
    if isinstance(output, str):
        if not output.startswith("{") or '"exit_code"' not in output[-400:] + output[:400]:
            return False
        try:
            output = parse_text(output)
        except BadJson:
            return False
    if not isinstance(output, dict):
        return False
    about = output.get("metadata") if isinstance(output.get("metadata"), dict) else output
    code = about.get("exit_code", about.get("exitCode")) if isinstance(about, dict) else None
    return type(code) is int and code != 0


def _add_agent_message(thread: ConversationBuilder, item: dict[str, Any]) -> None:
    """Add a message from one agent to another: not the model's own, and no end of its response."""
    content = item.get("content")
    blocks = [
        without(block) if isinstance(block, dict) else block
        for block in (content if isinstance(content, list) else [content])
        if not (isinstance(block, dict) and block.get("type") == "encrypted_content")
    ]
    author = as_json(item.get("author"))
    thread.note("user", blocks, **({"name": author} if author else {}))


def chat_tools(value: Any) -> list[Any]:
    """Tools of the Responses API as those of chats: a function's fields stand in `function` there."""
    tools: list[Any] = []
    for tool in value if isinstance(value, list) else []:
        if isinstance(tool, dict) and tool.get("type") == "function" and "function" not in tool:
            function = {
                key: tool[key] for key in ("name", "description", "parameters", "strict") if key in tool
            }
            tools.append({"type": "function", "function": function})
        elif isinstance(tool, dict | str):
            tools.append(tool)
    return tools
