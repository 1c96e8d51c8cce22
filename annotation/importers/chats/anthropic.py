"""Anthropic's Messages API (requests, with or without the response) and the Claude Agent SDK's messages.

A record of the first is `{system?, messages, tools?, model?, …}`, a bare list of such messages, or a pair of
`request` and `response`. The second is a list or JSON Lines of `system`, `assistant`, `user` and `result`
messages; what a sub-agent said (`parent_tool_use_id`) is a trajectory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation
from ..drafts import read_conversations
from ..parts.claude import TOOL_BLOCKS, add_response, add_user, tools_of
from ..parts.content_blocks import as_json
from ..parts.conversation_builder import ConversationBuilder
from ..parts.sessions import sessions
from ..parts.sniffing import messages_in, samples, strings
from ..parts.unknown_fields import keep_rest
from ..records import RecordProblems

CONVERTER: Final = 2
COMPACTIONS = translatable("compactions")
PARTIAL = translatable("partial messages of a stream, left out")
SUB_AGENTS = translatable("sub-agents, as trajectories of their own")

_REQUEST_FIELDS: Final = frozenset({"id", "messages", "model", "request", "response", "system", "tools"})
_OUTCOME: Final = ("is_error", "subtype", "num_turns", "total_cost_usd", "stop_reason")


class Anthropic:
    """See the module; `Importer` states what each member promises."""

    name = "anthropic"
    title = translatable("Anthropic Messages and Claude Agent SDK (JSON or JSON Lines)")
    recognised_by = translatable(
        "blocks such as “tool_use” in “messages”, or messages of the Agent SDK with a “session_id”"
    )

    def sniff(self, head: bytes) -> float:
        return max((_certainty(record) for record in samples(head)), default=0.0)

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        groups = sessions(stream, context, _session_of)
        return read_conversations(groups, context, _convert, format=self.name, converter=CONVERTER)


def _certainty(record: dict[str, Any]) -> float:
    if _is_event(record):
        return 0.95
    request = record["request"] if isinstance(record.get("request"), dict) else record
    messages = messages_in(request) or ([record] if isinstance(record.get("role"), str) else [])
    for message in messages:
        content = message.get("content")
        if isinstance(content, list) and (TOOL_BLOCKS & _kinds(content) or any(map(_has_source, content))):
            return 0.9
    tools = request.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return 0.9 if messages else 0.0
    roles = strings(message.get("role") for message in messages)
    own = "system" in request and bool({"max_tokens", "anthropic_version"} & request.keys())
    return 0.7 if own and roles and roles <= {"user", "assistant"} else 0.0


def _has_source(block: Any) -> bool:
    """Whether this is an image or a document as only Anthropic writes it."""
    return isinstance(block, dict) and block.get("type") in ("image", "document") and "source" in block


def _kinds(content: list[Any]) -> set[str]:
    return strings(block.get("type") for block in content if isinstance(block, dict))


def _is_event(record: dict[str, Any]) -> bool:
    """Whether this is a message of the Agent SDK; Claude Code's own lines have a `sessionId`."""
    kind = record.get("type")
    if kind not in ("assistant", "user", "system", "result", "stream_event") or "sessionId" in record:
        return False
    if kind in ("assistant", "user"):
        return isinstance(record.get("message"), dict) and "parentUuid" not in record
    if kind == "result":
        return "is_error" in record and "num_turns" in record
    return isinstance(record.get("session_id"), str)


def _session_of(record: dict[str, Any]) -> str | None:
    return as_json(record.get("session_id")) if _is_event(record) else None


def _convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
    value = piece.value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, dict) and _is_event(item) for item in value)
    ):
        yield from agent_sdk(value)
        return
    if isinstance(value, dict) and value.get("role") == "assistant" and "messages" not in value:
        value = {"response": value, "messages": []}
    conversation = messages_request({"messages": value} if isinstance(value, list) else value, problems)
    if conversation is not None:
        yield conversation


def messages_request(value: Any, problems: RecordProblems) -> Conversation | None:
    """One request of the Messages API, with the response when it is there, as a conversation."""
    if not isinstance(value, dict):
        problems.add("", translatable("is not a JSON object"))
        return None
    request = value["request"] if isinstance(value.get("request"), dict) else value
    messages = request.get("messages")
    if not isinstance(messages, list):
        problems.add("messages", translatable("must be a list of messages"))
        return None
    conversation = Conversation(record_id=as_json(value.get("id")))
    thread = ConversationBuilder(conversation)
    if request.get("system"):
        thread.add("system", request["system"])
    for index, message in enumerate(messages):
        _add_message(thread, message, f"messages[{index}]", problems)
    response = value.get("response")
    if isinstance(response, dict) and "content" in response:
        add_response(thread, response["content"], as_json(response.get("id")), usage=response.get("usage"))
    models = [held.get("model") for held in (response, request) if isinstance(held, dict)]
    conversation.policy_model = next((model for model in models if isinstance(model, str)), "")
    tools_of(request.get("tools"), conversation)
    keep_rest(conversation, value, _REQUEST_FIELDS)
    return conversation


def _add_message(thread: ConversationBuilder, message: Any, place: str, problems: RecordProblems) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role == "assistant":
        thread.close()
        address = as_json(message.get("id")) or place
        add_response(thread, message.get("content"), address, usage=message.get("usage"))
    elif role == "user":
        add_user(thread, message.get("content"))
    elif isinstance(role, str) and role:
        thread.add(role, message.get("content"))
    else:
        problems.add(f"{place}.role", translatable("must be a word such as user"))


def agent_sdk(events: list[dict[str, Any]]) -> Iterator[Conversation]:
    """The messages of one session of the Agent SDK: the agent's own conversation, then its sub-agents'."""
    threads: dict[str, ConversationBuilder] = {}
    about = _about(events)
    for number, event in enumerate(events):
        agent = as_json(event.get("parent_tool_use_id"))
        if agent not in threads:
            threads[agent] = ConversationBuilder(_conversation(about, agent))
        _add_event(threads[agent], event, f"[{number}]")
    if "" in threads and len(threads) > 1:
        threads[""].conversation.notes[SUB_AGENTS] += len(threads) - 1
    yield from (threads[name].conversation for name in sorted(threads, key=bool))


def _about(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Facts of the session: from its first and its last message, and the first model it names."""
    about: dict[str, Any] = {"session_id": ""}
    for event in events:
        if isinstance(event.get("session_id"), str) and not about["session_id"]:
            about["session_id"] = event["session_id"]
        if event["type"] == "system" and event.get("subtype") == "init":
            about.setdefault("init", event)
        if event["type"] == "result":
            about["result"] = event
    return about


def _conversation(about: dict[str, Any], agent: str) -> Conversation:
    init, result = about.get("init", {}), about.get("result", {})
    session = about["session_id"]
    conversation = Conversation(
        record_id=f"{session}:{agent}" if agent and session else session,
        format_version=as_json(init.get("claude_code_version")),
    )
    if agent:
        conversation.hints["sub_agent_of"] = {"session": session, "call": agent}
        return conversation
    model = init.get("model")
    conversation.policy_model = model if isinstance(model, str) else ""
    tools_of(init.get("tools"), conversation)
    if isinstance(result.get("result"), str):
        conversation.answer_text = result["result"]
    outcome = {key: result[key] for key in _OUTCOME if key in result}
    if outcome:
        conversation.hints["result"] = outcome
    if isinstance(init.get("cwd"), str):
        conversation.hints["cwd"] = init["cwd"]
    return conversation


def _add_event(thread: ConversationBuilder, event: dict[str, Any], place: str) -> None:
    kind, message = event["type"], event.get("message")
    conversation = thread.conversation
    if kind == "stream_event":
        conversation.notes[PARTIAL] += 1
    elif kind == "system" and event.get("subtype") == "compact_boundary":
        conversation.notes[COMPACTIONS] += 1
    elif kind == "user" and isinstance(message, dict):
        add_user(thread, message.get("content"))
    elif kind == "assistant" and isinstance(message, dict):
        key = as_json(message.get("id"))
        if not key:
            thread.close()
        address = key or as_json(event.get("uuid")) or place
        add_response(thread, message.get("content"), address, key, usage=message.get("usage"))
        if not conversation.policy_model and isinstance(message.get("model"), str):
            conversation.policy_model = message["model"]
