"""Traces of Langfuse: with their observations inside, or observations alone, as page and API write them.

A trajectory is a trace, its step an observation of the type `GENERATION`, the step's address its id. Inputs
and outputs are in the dialect of the traced library, as JSON text or as values. Scores are labels of the
file. Media tokens (`@@@langfuseMedia:…@@@`) stay as they are, because nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import BadJson, Record, RecordError, parse_bytes, read_records
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation, SourceLabel
from ..drafts import SourceRecord, read_conversations
from ..parts.dialects import parse_json, read_messages, read_tools
from ..parts.json_array_stream import records_at
from ..parts.message_parts import as_object, as_text
from ..parts.model_calls import ModelCall, ToolRun, short_model, text_of
from ..parts.peekable_stream import rewound
from ..parts.span_records import time_of
from ..parts.span_tree import Span, SpanTree
from ..parts.trace_conversations import OF_NO_STEP, TIMES, SpanKind, SpanReader, conversations_of
from ..parts.trace_spool import SpooledTrace, TraceSpool, too_large
from ..records import RecordProblems

CONVERTER: Final = 2

NO_OBSERVATIONS: Final = translatable(
    "is a trace without its observations; export the trace with them, or the observations themselves"
)
_KINDS: Final = {"GENERATION": SpanKind.MODEL, "TOOL": SpanKind.TOOL, "AGENT": SpanKind.AGENT}
_TYPES: Final = re.compile(
    rb'"type"\s*:\s*"(?:GENERATION|SPAN|EVENT|TOOL|AGENT|CHAIN|RETRIEVER|EMBEDDING|EVALUATOR|GUARDRAIL)"'
)
_JUNK: Final = {"content": "role"}
"""The input that LangSmith's exporter records for the Claude Agent SDK's later blocks."""


class Langfuse:
    """See the module; `Importer` states what each member promises."""

    name = "langfuse"
    title = translatable("Langfuse traces")
    recognised_by = translatable("“observations” of the types GENERATION, SPAN, TOOL and others")

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if "observations" in keys and ("trace" in keys or {"timestamp", "projectId"} & keys):
            return 0.9
        observed = b'"traceId"' in head and _TYPES.search(head) is not None
        if observed and ({"traceId", "type"} <= keys or "parentObservationId" in keys):
            return 0.9
        paged = "data" in keys and b'"parentObservationId"' in head
        return 0.9 if paged or (observed and "trace" in keys and b'"parentObservationId"' in head) else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        pieces = _traces(stream, context)
        return read_conversations(pieces, context, _convert, format=self.name, converter=CONVERTER)


def _traces(stream: BinaryIO, context: ReadContext) -> Iterator[SourceRecord | RecordError]:
    """Records that are traces as they come, then those that loose observations make up."""
    limit = context.max_record_bytes
    head, rest = rewound(stream)
    if "data" in json_head(head).keys:
        records: Iterator[Any] = records_at(
            rest, ("data",), filename=context.filename, max_record_bytes=limit
        )
    else:
        records = read_records(rest, filename=context.filename, max_record_bytes=limit)
    with TraceSpool(context) as spool:
        for record in records:
            value = {} if isinstance(record, RecordError) else as_object(record.value)
            if "observations" not in value and value.get("traceId"):
                spool.add(as_text(value["traceId"]), record.raw, 0, record.line)
                if spool.full():
                    break
            else:
                yield record
        for trace in spool.traces():
            yield too_large(trace, context) if trace.too_large else _gathered(trace, context)


def _gathered(trace: SpooledTrace, context: ReadContext) -> Record | RecordError:
    """Loose observations as the record of their trace, for which the limits of a record hold."""
    raw = b"[%s]" % b",".join(span for span, *_ in trace.spans)
    try:
        return Record({"observations": parse_bytes(raw)}, raw, trace.line)
    except BadJson as bad:
        return RecordError(context.filename, trace.line, "", bad.args[0])


def _convert(piece: SourceRecord, problems: RecordProblems) -> list[Conversation]:
    value = piece.value
    if not isinstance(value, dict):
        problems.add("", translatable("is not a JSON object"))
        return []
    held = value.get("trace")
    trace = held if isinstance(held, dict) else value
    observations = value.get("observations", trace.get("observations"))
    observations = [item for item in _listed(observations) if isinstance(item, dict)]
    if not observations:
        problems.add("", NO_OBSERVATIONS)
        return []
    tree = SpanTree(_span(observation, order) for order, observation in enumerate(observations))
    record_id = as_text(trace.get("id")) or next((span.trace_id for span in tree.spans if span.trace_id), "")
    conversations = conversations_of(tree, READER, record_id)
    main = conversations[0]
    _add_system(main, trace)
    for conversation in conversations:
        conversation.left_out |= {TIMES}
    for key in ("name", "sessionId", "tags"):
        if trace.get(key):
            main.hints[key] = trace[key]
    main.reference_answer = parse_json(trace.get("expectedOutput"))
    scores = [
        *_listed(trace.get("scores")),
        *(score for observation in observations for score in _listed(observation.get("scores"))),
    ]
    _take_scores(scores, main)
    return conversations


def _span(observation: dict[str, Any], order: int) -> Span:
    failed = as_text(observation.get("level")).upper() == "ERROR"
    error = as_text(observation.get("statusMessage")) or "the observation has the level ERROR"
    return Span(
        trace_id=as_text(observation.get("traceId")),
        span_id=as_text(observation.get("id")),
        parent_id=as_text(observation.get("parentObservationId")),
        name=as_text(observation.get("name")),
        start=time_of(observation.get("startTime")),
        end=time_of(observation.get("endTime")),
        attributes=observation,
        error=error if failed else "",
        order=order,
    )


def _kind(span: Span) -> SpanKind:
    return _KINDS.get(as_text(span.attributes.get("type")).upper(), SpanKind.OTHER)


def _call(span: Span) -> ModelCall:
    held = span.attributes
    request = parse_json(held.get("input"))
    answer = read_messages(held.get("output"), "assistant")
    return ModelCall(
        address=span.span_id,
        start=(span.start, span.order),
        end=span.end,
        input=[] if request == _JUNK else read_messages(request, "user"),
        output=[message for message in answer if message.get("role") == "assistant"],
        model=short_model(as_text(held.get("model") or held.get("providedModelName"))),
        tools=_tools(held, request),
        error=span.error,
        piece=request == _JUNK,
    )


def _tools(held: dict[str, Any], source: Any) -> list[Any]:
    """The tools of a call: a field of the observation, of its metadata, or of the request itself."""
    metadata = as_object(parse_json(held.get("metadata")))
    request = as_object(source)
    config = as_object(request.get("config"))
    attributes = _attributes(held)
    for tools in (
        held.get("toolDefinitions"),
        request.get("tools"),
        config.get("tools"),
        metadata.get("tools"),
        attributes.get("gen_ai.tool.definitions"),
        attributes.get("ai.prompt.tools"),
    ):
        if tools:
            return read_tools(tools)
    return []


def _attributes(held: dict[str, Any]) -> dict[str, Any]:
    """The attributes of the OpenTelemetry span that an observation was made from, if it was."""
    metadata = parse_json(held.get("metadata"))
    attributes = parse_json(metadata.get("attributes")) if isinstance(metadata, dict) else None
    return attributes if isinstance(attributes, dict) else {}


def _run(span: Span) -> ToolRun:
    held = span.attributes
    attributes = _attributes(held)
    arguments, result = parse_json(held.get("input")), parse_json(held.get("output"))
    if isinstance(arguments, dict) and arguments.keys() == {"input"}:
        arguments = arguments["input"]
    return ToolRun(
        address=span.span_id,
        start=(span.start, span.order),
        name=as_text(attributes.get("gen_ai.tool.name") or span.name),
        call_id=as_text(attributes.get("gen_ai.tool.call.id") or attributes.get("ai.toolCall.id")),
        arguments=arguments,
        result=_text_of_result(result),
        error=span.error,
    )


def _text_of_result(result: Any) -> Any:
    """A result that consists of text blocks as its text, anything else as it is."""
    blocks = result.get("content") if isinstance(result, dict) else None
    if isinstance(blocks, list) and blocks and isinstance(result, dict) and result.keys() == {"content"}:
        text = text_of({"content": blocks})
        return text or result
    return result


READER: Final = SpanReader(_kind, _call, _run)


def _add_system(main: Conversation, trace: dict[str, Any]) -> None:
    """Put the system prompt first that only the trace's own input has."""
    if not main.messages or any(message.get("role") == "system" for message in main.messages):
        return
    messages = read_messages(trace.get("input"), "user")
    system = [message for message in messages if message.get("role") == "system"]
    main.messages[:0] = system
    main.source_steps = {index + len(system): address for index, address in main.source_steps.items()}


def _take_scores(scores: list[Any], main: Conversation) -> None:
    steps = {address: index for index, address in main.source_steps.items()}
    for score in scores:
        if not isinstance(score, dict):
            continue
        value = score.get("value") if score.get("value") is not None else score.get("stringValue")
        at = as_text(score.get("observationId"))
        if at and at not in steps:
            main.notes[OF_NO_STEP] += 1
        elif value is not None:
            main.labels.append(
                SourceLabel(steps.get(at), as_text(score.get("name")), value, as_text(score.get("comment")))
            )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
