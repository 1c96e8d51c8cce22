"""OpenHands: lists of events (the app up to 1.x), `output.jsonl` of its evaluations, and events of its SDK.

Several actions may come from one response of the model. In the first kind the whole response stands in
`tool_call_metadata`; in the SDK's, actions of one `llm_response_id` are put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation, SourceLabel
from ..drafts import read_conversations
from ..parts.content_blocks import as_json, part_of
from ..parts.conversation_builder import ConversationBuilder, Response
from ..parts.folder_layouts import is_one_event
from ..parts.sessions import sessions
from ..parts.sniffing import samples
from ..records import RecordProblems
from .openhands_sdk import is_sdk_event, sdk_conversation

CONVERTER: Final = 1
COMPACTIONS: Final = translatable("compactions")
QUIET: Final = frozenset(
    {"agent_state_changed", "change_agent_state", "null", "recall", "start", "system", "condensation_request"}
)

ONE_EVENT: Final = translatable(
    "holds one event of a conversation; put the whole folder “events” into a zip archive, and import that"
)
Event = dict[str, Any]


class OpenHands:
    """See the module; `Importer` states what each member promises."""

    name = "openhands"
    title = translatable("OpenHands events (JSON or JSON Lines)")
    recognised_by = translatable("events with “id”, “source” and “action”, “observation” or “kind”")

    def sniff(self, head: bytes) -> float:
        return max((_certainty(record) for record in samples(head)), default=0.0)

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        if is_one_event(context.filename):
            yield RecordError(context.filename, 0, "", ONE_EVENT)
            return
        groups = sessions(stream, context, _session_of)
        yield from read_conversations(groups, context, _convert, format=self.name, converter=CONVERTER)


def _certainty(record: Event) -> float:
    if _is_event(record) or is_sdk_event(record):
        return 0.95
    metadata = record.get("metadata")
    if "instance_id" in record and isinstance(metadata, dict) and "llm_config" in metadata:
        return 0.9
    history = record.get("history")
    events = history if isinstance(history, list) else []
    return 0.95 if any(isinstance(event, dict) and _is_event(event) for event in events[:40]) else 0.0


def _is_event(record: Event) -> bool:
    typed = isinstance(record.get("action"), str) or isinstance(record.get("observation"), str)
    return typed and {"id", "source"} <= record.keys() and ("timestamp" in record or "message" in record)


def _session_of(record: Event) -> str | None:
    return "" if _is_event(record) or is_sdk_event(record) else None


def _convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
    value = piece.value
    about: Event = {}
    if isinstance(value, dict) and isinstance(value.get("history"), list):
        about, value = value, value["history"]
    if not isinstance(value, list):
        problems.add("", translatable("is not a list of events"))
        return
    events = [event for event in value if isinstance(event, dict)]
    if any(is_sdk_event(event) for event in events):
        conversation = sdk_conversation(events)
    else:
        conversation = event_conversation(events)
    _add_about(conversation, about)
    yield conversation


def _add_about(conversation: Conversation, about: Event) -> None:
    """Task, model and other facts of an evaluation's line, beside its events."""
    if not about:
        return
    conversation.task_key = as_json(about.get("instance_id"))
    metadata = about.get("metadata")
    config = metadata.get("llm_config") if isinstance(metadata, dict) else None
    model = config.get("model") if isinstance(config, dict) else None
    conversation.policy_model = conversation.policy_model or (model if isinstance(model, str) else "")
    if about.get("test_result") not in (None, {}):
        conversation.labels.append(SourceLabel(None, "test_result", about["test_result"]))
    if about.get("error"):
        conversation.hints["error"] = about["error"]


def event_conversation(events: list[Event]) -> Conversation:
    """The events of one session as a conversation."""
    conversation = Conversation()
    thread = ConversationBuilder(conversation)
    reasoned: set[str] = set()
    for number, event in enumerate(events):
        if isinstance(event.get("action"), str):
            _add_action(thread, event, event["action"], number, reasoned)
        elif isinstance(event.get("observation"), str):
            _add_observation(thread, event, event["observation"])
    return conversation


def _add_action(
    thread: ConversationBuilder, event: Event, action: str, number: int, reasoned: set[str]
) -> None:
    args = event["args"] if isinstance(event.get("args"), dict) else {}
    conversation = thread.conversation
    if action == "condensation":
        conversation.notes[COMPACTIONS] += 1
        if args.get("summary"):
            thread.note("system", args["summary"])
    elif action == "system" and args.get("content"):
        thread.add("system", args["content"])
        tools = args.get("tools")
        conversation.tools = tools if isinstance(tools, list) else []
    elif action in QUIET:
        return
    elif event.get("source") == "agent":
        _add_response(thread, event, action, args, number, reasoned)
    elif event.get("source") == "user":
        content = [args.get("content", event.get("message"))]
        thread.add("user", [*content, *_images(args)])


def _images(args: Event) -> list[Any]:
    urls = args.get("image_urls")
    return [{"type": "image_url", "image_url": url} for url in (urls if isinstance(urls, list) else [])]


def _add_response(
    thread: ConversationBuilder, event: Event, action: str, args: Event, number: int, reasoned: set[str]
) -> None:
    """An action of the agent: its whole response, which comes with the first of its actions."""
    metadata = event["tool_call_metadata"] if isinstance(event.get("tool_call_metadata"), dict) else {}
    whole = metadata.get("model_response")
    whole = whole if isinstance(whole, dict) else {}
    response_id = as_json(whole.get("id"))
    if response_id in reasoned:
        return
    reasoned.update({response_id} - {""})
    if not response_id:
        thread.close()
    response = thread.respond(as_json(event.get("id", number)), response_id)
    message = _message(whole)
    if message is not None:
        response.say(message.get("content"))
        response.think(message.get("reasoning_content"))
        for call in message["tool_calls"] if isinstance(message.get("tool_calls"), list) else []:
            _add_call(response, call)
    else:
        _add_told(response, event, action, args, metadata)
    model = whole.get("model")
    if isinstance(model, str) and not thread.conversation.policy_model:
        thread.conversation.policy_model = model


def _message(whole: Event) -> Event | None:
    choices = whole.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else None


def _add_call(response: Response, call: Any) -> None:
    function = call.get("function") if isinstance(call, dict) else None
    if isinstance(function, dict):
        response.call(call.get("id"), function.get("name"), function.get("arguments"))
    else:
        response.call(None, "", call)


def _add_told(response: Response, event: Event, action: str, args: Event, metadata: Event) -> None:
    """An action without the response that it came from: a message, or what it says of itself as a call."""
    if action == "message":
        response.say([args.get("content", event.get("message")), *_images(args)])
        return
    response.say(args.get("thought"))
    arguments = {key: value for key, value in args.items() if key != "thought"}
    response.call(metadata.get("tool_call_id"), metadata.get("function_name") or action, arguments)


def _add_observation(thread: ConversationBuilder, event: Event, observation: str) -> None:
    if observation in QUIET or event.get("cause") is None:
        return
    metadata = event["tool_call_metadata"] if isinstance(event.get("tool_call_metadata"), dict) else {}
    extras = event["extras"] if isinstance(event.get("extras"), dict) else {}
    about = extras.get("metadata")
    code = about.get("exit_code") if isinstance(about, dict) else extras.get("exit_code")
    failed = (
        observation == "error" or (type(code) is int and code not in (0, -1)) or event.get("success") is False
    )
    content = [event.get("content") or event.get("message")]
    if isinstance(extras.get("screenshot"), str) and extras["screenshot"]:
        content.append(part_of({"type": "image", "data": extras["screenshot"], "mime_type": "image/png"}))
    name = metadata.get("function_name") or observation
    thread.result(metadata.get("tool_call_id"), content, name=name, failed=failed)
