"""OpenAI's Responses API: lists of items, requests with `input` and `output`, Response objects, and the
run states that the Agents SDK saves (`$schemaVersion`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation
from ..drafts import read_conversations
from ..parts.content_blocks import as_json
from ..parts.conversation_builder import ConversationBuilder
from ..parts.response_items import ITEM_TYPES, add_item, chat_tools, kind_of
from ..parts.sessions import sessions
from ..parts.sniffing import samples
from ..parts.unknown_fields import keep_rest
from ..records import RecordProblems

CONVERTER: Final = 1
MAJOR: Final = "1."
RUN_STATE: Final = "$schemaVersion"
APPROVAL: Final = "tool_approval_item"
REPEATED = translatable("items that occur twice, taken once")
CHAINED = translatable("earlier responses of a chain, which the file names only by their ids")

_BLOCKS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
_FIELDS: Final = frozenset({"id", "input", "instructions", "model", "output", "request", "response", "tools"})
_KEPT: Final = ("status", "error", "incomplete_details", "metadata", "created_at", "temperature")


class OpenAIResponses:
    """See the module; `Importer` states what each member promises."""

    name = "openai_responses"
    title = translatable("OpenAI Responses and Agents SDK (JSON or JSON Lines)")
    recognised_by = translatable(
        "items such as “function_call” and “reasoning”, a “response” object, or “$schemaVersion”"
    )

    def sniff(self, head: bytes) -> float:
        return max((_certainty(record) for record in samples(head)), default=0.0)

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        groups = sessions(stream, context, lambda record: "" if _is_item(record) else None)
        return read_conversations(groups, context, _convert, format=self.name, converter=CONVERTER)


def _certainty(record: dict[str, Any]) -> float:
    if isinstance(record.get(RUN_STATE), str):
        return 1.0
    if _is_response(record) or _is_response(record.get("response")):
        return 0.95
    if _has_marks(record):
        return 0.9
    lists = [record[key] for key in ("input", "output") if isinstance(record.get(key), list)]
    return 0.9 if any(_has_marks(item) for held in lists for item in held) else 0.0


def _is_response(value: Any) -> bool:
    return isinstance(value, dict) and value.get("object") == "response" and "model" in value


def _has_marks(item: Any) -> bool:
    """Whether this is an item that no other format writes."""
    if not isinstance(item, dict) or {"payload", "sessionId", "messages"} & item.keys():
        return False
    kind = kind_of(item)
    if kind == "reasoning":
        return isinstance(item.get("summary"), list)
    if kind in ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"):
        return "call_id" in item
    content = item.get("content")
    if kind == "message" and isinstance(content, list) and isinstance(item.get("role"), str):
        return any(isinstance(block, dict) and as_json(block.get("type")) in _BLOCKS for block in content)
    return kind in ITEM_TYPES and "id" in item


def _is_item(record: dict[str, Any]) -> bool:
    plain = kind_of(record) == "message" and isinstance(record.get("role"), str) and "messages" not in record
    return kind_of(record) in ITEM_TYPES or plain


def _convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
    value = piece.value
    if isinstance(value, list):
        conversation = Conversation()
        _add_items(ConversationBuilder(conversation), value, "")
        yield conversation
    elif not isinstance(value, dict):
        problems.add("", translatable("is neither an item nor a response"))
    elif RUN_STATE in value:
        yield from run_state(value, problems)
    else:
        yield from exchange(value, problems)


def _add_items(thread: ConversationBuilder, value: Any, place: str) -> None:
    """Items of an input or an output, which may be a mere text."""
    if isinstance(value, str):
        thread.add("user", value)
        return
    for number, item in enumerate(value if isinstance(value, list) else []):
        if isinstance(item, dict):
            add_item(thread, item, f"{place}[{number}]")
        else:
            thread.add("user", item)


def exchange(value: dict[str, Any], problems: RecordProblems) -> Iterator[Conversation]:
    """A Response object, or a request with its response, as a conversation."""
    response = value["response"] if isinstance(value.get("response"), dict) else value
    request = value["request"] if isinstance(value.get("request"), dict) else value
    prompt, output = request.get("input"), response.get("output")
    if not isinstance(prompt, list | str) and not isinstance(output, list):
        problems.add("output", translatable("must be a list of items"))
        return
    conversation = Conversation(record_id=as_json(response.get("id")))
    thread = ConversationBuilder(conversation)
    instructions = request.get("instructions") or response.get("instructions")
    if instructions:
        thread.add("system", instructions if isinstance(instructions, str) else as_json(instructions))
    _add_items(thread, prompt, "input")
    if prompt is not None:
        thread.close()
    _add_items(thread, output if isinstance(output, list) else [], "output")
    if response.get("previous_response_id") and prompt is None:
        conversation.left_out.add(CHAINED)
    model = response.get("model") or request.get("model")
    conversation.policy_model = model if isinstance(model, str) else ""
    conversation.tools = chat_tools(request.get("tools") or response.get("tools"))
    held = value if response is not value else {key: value[key] for key in _KEPT if value.get(key)}
    keep_rest(conversation, held, _FIELDS)
    yield conversation


def run_state(value: dict[str, Any], problems: RecordProblems) -> Iterator[Conversation]:
    """The saved state of a run: its input, then what it has generated so far."""
    version = as_json(value[RUN_STATE])
    if not version.startswith(MAJOR):
        problems.add(RUN_STATE, translatable("is {version}; Tristep reads 1.x", version=version[:20]))
        return
    conversation = Conversation(format_version=version)
    thread = ConversationBuilder(conversation)
    generated = value.get("generated_items")
    entries = [item for item in generated if isinstance(item, dict)] if isinstance(generated, list) else []
    owners = _responses_of(value.get("model_responses"))
    agents = {_agent(entry) for entry in entries}
    original = value.get("original_input")
    inputs = {canonical_json(item) for item in original} if isinstance(original, list) else set()
    _add_items(thread, original, "original_input")
    for number, entry in enumerate(entries):
        item = entry.get("raw_item")
        if entry.get("type") == APPROVAL or not isinstance(item, dict):
            continue
        if canonical_json(item) in inputs:
            conversation.notes[REPEATED] += 1
            continue
        speaker = _agent(entry) if len(agents) > 1 else ""
        key = owners.get(as_json(item.get("id")), "")
        add_item(thread, item, f"generated_items[{number}]", key, speaker)
    trace = value.get("trace")
    if isinstance(trace, dict) and isinstance(trace.get("trace_id"), str):
        conversation.record_id = trace["trace_id"]
    if agents - {""}:
        conversation.hints["agents"] = sorted(agents - {""})
    yield conversation


def _responses_of(responses: Any) -> dict[str, str]:
    """For the id of each item the response that it came with."""
    owners: dict[str, str] = {}
    for number, response in enumerate(responses if isinstance(responses, list) else []):
        output = response.get("output") if isinstance(response, dict) else None
        for item in output if isinstance(output, list) else []:
            if isinstance(item, dict) and isinstance(item.get("id"), str):
                owners[item["id"]] = as_json(response.get("response_id")) or f"model_responses[{number}]"
    return owners


def _agent(entry: dict[str, Any]) -> str:
    agent = entry.get("agent")
    return as_json(agent.get("name")) if isinstance(agent, dict) else ""
