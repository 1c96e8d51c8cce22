"""Events of OpenHands' agent SDK as a conversation."""

from __future__ import annotations

from typing import Any, Final

from annotation.core.i18n import translatable

from ..conversion import Conversation
from ..parts.content_blocks import as_json, parts_of, text_of
from ..parts.conversation_builder import ConversationBuilder

__all__ = ["is_sdk_event", "sdk_conversation"]

COMPACTIONS: Final = translatable("compactions")
ORPHANS: Final = translatable("results whose call is not in the file")

_KINDS: Final = frozenset(
    {
        "ActionEvent",
        "AgentErrorEvent",
        "Condensation",
        "CondensationRequest",
        "CondensationSummaryEvent",
        "ConversationErrorEvent",
        "ConversationStateUpdateEvent",
        "LLMCompletionLogEvent",
        "MessageEvent",
        "ObservationEvent",
        "PauseEvent",
        "SystemPromptEvent",
        "TokenEvent",
        "UserRejectObservation",
    }
)

Event = dict[str, Any]


def is_sdk_event(record: Event) -> bool:
    """Whether this is an event of the SDK."""
    kind = record.get("kind")
    return isinstance(kind, str) and kind in _KINDS and "source" in record


def sdk_conversation(events: list[Event]) -> Conversation:
    """The events of one conversation of the SDK. A result whose action is not there stands alone."""
    conversation = Conversation()
    thread = ConversationBuilder(conversation)
    actions: set[str] = set()
    for number, event in enumerate(events):
        kind = event.get("kind")
        if kind == "ActionEvent":
            actions.add(as_json(event.get("id")))
            _add_action(thread, event, number)
        elif kind == "MessageEvent":
            _add_message(thread, event, number)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            answers_action = as_json(event.get("action_id")) in actions
            conversation.notes[ORPHANS] += kind == "ObservationEvent" and not answers_action
            _add_result(thread, event)
        elif kind == "SystemPromptEvent":
            _add_prompt(thread, event)
        elif kind == "Condensation":
            conversation.notes[COMPACTIONS] += 1
            if event.get("summary"):
                thread.note("system", event["summary"])
        elif kind == "ConversationStateUpdateEvent":
            conversation.policy_model = conversation.policy_model or _model(event)
    conversation.notes = +conversation.notes
    return conversation


def _add_action(thread: ConversationBuilder, event: Event, number: int) -> None:
    """One call of a response; what the response said and thought comes with its first action."""
    key = as_json(event.get("llm_response_id"))
    if not key:
        thread.close()
    messages = thread.conversation.messages
    before = len(messages)
    response = thread.respond(key or as_json(event.get("id", number)), key)
    reasoning = _reasoning(event)
    if len(messages) > before:
        response.think(reasoning)
        text = text_of(parts_of(event.get("thought")))
        response.say(_without_thought(text, reasoning))
    call = event["tool_call"] if isinstance(event.get("tool_call"), dict) else {}
    arguments = call.get("arguments", event.get("action"))
    call_id = call.get("id") or event.get("tool_call_id")
    response.call(call_id, call.get("name") or event.get("tool_name"), arguments)


def _reasoning(event: Event) -> str:
    content = event.get("reasoning_content")
    if isinstance(content, str):
        return content
    blocks = event.get("thinking_blocks")
    texts = [
        as_json(block.get("thinking"))
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict)
    ]
    return "\n".join(text for text in texts if text)


def _without_thought(text: str, reasoning: str) -> str:
    """The text without the reasoning that some models also write into it, between `<think>` tags."""
    head, tag, rest = text.partition("</think>")
    if reasoning and tag and head.removeprefix("<think>").strip() == reasoning.strip():
        return rest.strip()
    return text


def _add_message(thread: ConversationBuilder, event: Event, number: int) -> None:
    message = event["llm_message"] if isinstance(event.get("llm_message"), dict) else event
    content = message.get("content")
    if event.get("source") == "agent":
        thread.close()
        response = thread.respond(as_json(event.get("llm_response_id") or event.get("id", number)))
        response.think(_reasoning(message))
        response.say(_without_thought(content, _reasoning(message)) if isinstance(content, str) else content)
    else:
        thread.add("user", content)


def _add_result(thread: ConversationBuilder, event: Event) -> None:
    observation = event.get("observation")
    call_id, name = event.get("tool_call_id"), event.get("tool_name")
    if event.get("kind") == "AgentErrorEvent":
        thread.result(call_id, event.get("error"), name=name, failed=True)
    elif event.get("kind") == "UserRejectObservation":
        thread.result(call_id, event.get("rejection_reason"), name=name, failed=True)
    elif isinstance(observation, dict):
        content = observation.get("content", observation.get("output"))
        content = content if isinstance(content, list | str) else as_json(observation)
        thread.result(call_id, content, name=name, failed=observation.get("is_error") is True)
    else:
        thread.result(call_id, observation, name=name)


def _add_prompt(thread: ConversationBuilder, event: Event) -> None:
    prompt = event.get("system_prompt")
    thread.add("system", [prompt] if isinstance(prompt, dict) else prompt)
    for tool in event["tools"] if isinstance(event.get("tools"), list) else []:
        if isinstance(tool, dict) and "function" not in tool:
            parameters = tool.get("parameters") or tool.get("input_schema") or tool.get("inputSchema")
            function = {"name": tool.get("name") or tool.get("title"), "description": tool.get("description")}
            tool = {
                "type": "function",
                "function": {**function, **({"parameters": parameters} if parameters else {})},
            }
        thread.conversation.tools.append(tool)


def _model(event: Event) -> str:
    """The model of the agent, which the statistics of the conversation name."""
    value = event.get("value") if event.get("key") == "stats" else None
    for key in ("usage_to_metrics", "default", "model_name"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
