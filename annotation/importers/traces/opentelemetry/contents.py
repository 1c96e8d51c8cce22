"""Contents of a span of OpenTelemetry: its kind, the messages of a call of the model, the run of a tool.

One reader for all conventions, because a trace may mix them: OpenTelemetry's GenAI conventions (messages as
attributes since 1.37, as events from 1.28, as `gen_ai.prompt` and `gen_ai.completion` before), OpenInference,
OpenLLMetry's indexed attributes, and Vercel's AI SDK.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from annotation.importers.parts.dialects import is_cut_off, parse_json, read_messages, read_tools
from annotation.importers.parts.message_parts import as_text
from annotation.importers.parts.model_calls import ModelCall, ToolRun, short_model
from annotation.importers.parts.span_records import unindexed
from annotation.importers.parts.span_tree import Span
from annotation.importers.parts.trace_conversations import SpanKind, SpanReader
from annotation.importers.traces.opentelemetry.incremental_inputs import GrowingInput

__all__ = ["reader"]

_KINDS: Final = {
    "LLM": SpanKind.MODEL,
    "TOOL": SpanKind.TOOL,
    "AGENT": SpanKind.AGENT,
    "chat": SpanKind.MODEL,
    "text_completion": SpanKind.MODEL,
    "generate_content": SpanKind.MODEL,
    "execute_tool": SpanKind.TOOL,
    "invoke_agent": SpanKind.AGENT,
    "create_agent": SpanKind.AGENT,
    "ai.toolCall": SpanKind.TOOL,
    "tool": SpanKind.TOOL,
    "agent": SpanKind.AGENT,
    "completion": SpanKind.MODEL,
}
_SAYING: Final = ("openinference.span.kind", "gen_ai.operation.name", "ai.operationId", "traceloop.span.kind")
_INPUTS: Final = ("gen_ai.input.messages", "ai.prompt.messages", "gen_ai.prompt")
_ROLE_OF_EVENT: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def kind_of(span: Span) -> SpanKind:
    """The kind of a span, by the first convention that names it."""
    attributes = span.attributes
    for key in _SAYING:
        kind = attributes.get(key)
        if isinstance(kind, str):
            if kind.endswith((".doGenerate", ".doStream")):
                return SpanKind.MODEL
            if kind in _KINDS:
                return _KINDS[kind]
            if key == "openinference.span.kind" and kind:
                return SpanKind.OTHER
    if attributes.get("llm.request.type") in ("chat", "completion"):
        return SpanKind.MODEL
    if any(key.startswith(("gen_ai.completion", "llm.output_messages.")) for key in attributes):
        return SpanKind.MODEL
    return SpanKind.OTHER


def call_of(span: Span, inputs: GrowingInput) -> ModelCall:
    """The call of the model that a span records; `inputs` has read those of the same trace before it."""
    held = span.attributes
    messages = _input(span, inputs)
    system = read_messages(_contents(held.get("gen_ai.system_instructions")), "system")
    if system and not any(message.get("role") == "system" for message in messages):
        messages = [{**message, "role": "system"} for message in system] + messages
    return ModelCall(
        address=span.span_id or as_text(held.get("gen_ai.response.id")),
        start=(span.start, span.order),
        end=span.end,
        input=messages,
        output=[message for message in _output(span) if message.get("role") == "assistant"],
        model=_model(held),
        tools=_tools(held),
        error=span.error,
        cut_off=any(is_cut_off(held.get(key)) for key in _INPUTS if not inputs.was_list(held.get(key))),
    )


def _model(held: dict[str, Any]) -> str:
    keys = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id")
    return short_model(next((as_text(held[key]) for key in keys if held.get(key)), ""))


def _contents(value: Any) -> Any:
    """System instructions are a list of parts: as the contents of one message."""
    value = parse_json(value)
    return {"role": "system", "parts": value} if isinstance(value, list) and value else value


def _input(span: Span, inputs: GrowingInput) -> list[dict[str, Any]]:
    held = span.attributes
    for key in _INPUTS:
        if held.get(key) not in (None, "", []):
            return inputs.read(held[key])
    for prefix in ("llm.input_messages", "gen_ai.prompt"):
        if listed := unindexed(held, prefix):
            return read_messages([_plain(item) for item in listed], "user")
    messages = [
        _event_message(name, attributes) for name, attributes in span.events if name in _ROLE_OF_EVENT
    ]
    if messages:
        return read_messages(messages, "user")
    for _, attributes in span.events:
        if attributes.get("gen_ai.input.messages"):
            return read_messages(attributes["gen_ai.input.messages"], "user")
    return _first_told(held, "user", "input.value", "traceloop.entity.input", "ai.prompt", "input")


def _output(span: Span) -> list[dict[str, Any]]:
    held = span.attributes
    if held.get("gen_ai.output.messages") not in (None, "", []):
        return read_messages(held["gen_ai.output.messages"], "assistant")
    if "ai.response.text" in held or "ai.response.toolCalls" in held or "ai.response.object" in held:
        return _vercel_output(held)
    for prefix in ("llm.output_messages", "gen_ai.completion"):
        if listed := unindexed(held, prefix):
            return read_messages([_plain(item) for item in listed], "assistant")
    if held.get("gen_ai.completion") not in (None, ""):
        return read_messages(held["gen_ai.completion"], "assistant")
    for name, attributes in span.events:
        if name == "gen_ai.choice":
            return read_messages(_event_message(name, attributes), "assistant")
        if attributes.get("gen_ai.output.messages"):
            return read_messages(attributes["gen_ai.output.messages"], "assistant")
    return _first_told(held, "assistant", "output.value", "traceloop.entity.output", "output")


def _first_told(held: dict[str, Any], role: str, *keys: str) -> list[dict[str, Any]]:
    return next((read_messages(held[key], role) for key in keys if held.get(key) not in (None, "")), [])


def _vercel_output(held: dict[str, Any]) -> list[dict[str, Any]]:
    text = held.get("ai.response.text") or held.get("ai.response.object") or ""
    message: dict[str, Any] = {"role": "assistant", "content": as_text(text)}
    if held.get("ai.response.reasoning"):
        message["reasoning_content"] = as_text(held["ai.response.reasoning"])
    calls = parse_json(held.get("ai.response.toolCalls"))
    if isinstance(calls, list) and calls:
        message["tool_calls"] = calls
    return read_messages([message], "assistant") if text or calls else []


def _event_message(name: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """The message in an event, whose body stands in one attribute or is spread over several."""
    body = parse_json(attributes.get("gen_ai.event.content", attributes.get("body")))
    held = {**attributes, **body} if isinstance(body, dict) else {**attributes}
    inner = parse_json(held.get("message"))
    if isinstance(inner, dict):
        held = {**held, **inner}
    message = {"role": _ROLE_OF_EVENT.get(name, "assistant"), "content": held.get("content")}
    calls = parse_json(held.get("tool_calls"))
    if isinstance(calls, list):
        message["tool_calls"] = calls
    if name == "gen_ai.tool.message" and held.get("id"):
        message["tool_call_id"] = held["id"]
    return message


def _plain(item: Any) -> Any:
    """A message of OpenInference or OpenLLMetry without the levels that only name what follows."""
    if not isinstance(item, dict):
        return item
    held = item["message"] if isinstance(item.get("message"), dict) else item
    message = dict(held)
    for key, inside in (("contents", "message_content"), ("tool_calls", "tool_call")):
        if isinstance(held.get(key), list):
            message[key] = [_inside(item, inside) for item in held[key]]
    if isinstance(message.get("contents"), list):
        message["content"] = [_image_of(part) for part in message.pop("contents")]
    if "role" not in message and "content" not in message and "tool_calls" not in message:
        return held
    return message


def _inside(item: Any, key: str) -> Any:
    return item[key] if isinstance(item, dict) and isinstance(item.get(key), dict) else item


def _image_of(part: Any) -> Any:
    """OpenInference writes an image as `image.image.url`."""
    image = part.get("image") if isinstance(part, dict) else None
    inner = image.get("image") if isinstance(image, dict) else None
    if isinstance(inner, dict) and isinstance(inner.get("url"), str):
        return {"type": "image_url", "image_url": {"url": inner["url"]}}
    return part


def _tools(held: dict[str, Any]) -> list[Any]:
    for key in ("gen_ai.tool.definitions", "ai.prompt.tools"):
        if held.get(key) not in (None, "", []):
            return read_tools(held[key])
    if listed := unindexed(held, "llm.tools"):
        return read_tools([_schema(item) for item in listed])
    return read_tools(unindexed(held, "llm.request.functions"))


def _schema(item: Any) -> Any:
    tool = _inside(item, "tool")
    return tool.get("json_schema", tool) if isinstance(tool, dict) else tool


def run_of(span: Span) -> ToolRun:
    """The run of a tool that a span records."""
    held = span.attributes

    def first(*keys: str) -> Any:
        return next((held[key] for key in keys if held.get(key) not in (None, "")), None)

    name = first("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
    call_id = first("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
    return ToolRun(
        address=span.span_id,
        start=(span.start, span.order),
        name=as_text(name or span.name),
        call_id=as_text(call_id),
        arguments=first(
            "gen_ai.tool.call.arguments", "ai.toolCall.args", "input.value", "traceloop.entity.input", "input"
        ),
        result=first(
            "gen_ai.tool.call.result",
            "ai.toolCall.result",
            "output.value",
            "traceloop.entity.output",
            "output",
        ),
        error=span.error,
    )


def reader() -> SpanReader:
    """A reader of one trace's spans; it remembers what the trace has said so far."""
    return SpanReader(kind_of, partial(call_of, inputs=GrowingInput()), run_of)
