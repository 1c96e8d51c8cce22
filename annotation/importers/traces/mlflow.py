"""Traces of MLflow: exported by its SDK, command or page, as its REST API answers, or the spans alone.

A trajectory is a trace, its step a span of the type `CHAT_MODEL` or `LLM`, the step's address the id of the
span in hexadecimal digits, as MLflow's own API of assessments wants it. Assessments are labels of the file;
an expectation of the response is the reference answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError, read_records
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation, SourceLabel
from ..drafts import read_conversations
from ..parts.dialects import parse_json, read_messages, read_tools
from ..parts.json_array_stream import records_at
from ..parts.message_parts import as_object, as_text
from ..parts.model_calls import ModelCall, ToolRun, short_model
from ..parts.peekable_stream import rewound
from ..parts.span_records import read_span
from ..parts.span_tree import Span, SpanTree
from ..parts.trace_conversations import OF_NO_STEP, TIMES, SpanKind, SpanReader, conversations_of
from ..records import RecordProblems
from .opentelemetry.contents import reader as opentelemetry

CONVERTER: Final = 2

WITHOUT_SPANS: Final = translatable(
    "holds no spans: this is the answer of a search; export the traces themselves "
    "(mlflow traces get, or traces/get of the REST API)"
)
NOT_A_TRACE: Final = translatable("is not a trace of MLflow: it has no list of spans")
OVERRIDDEN: Final = translatable("assessments that later ones replace, left out")
_KINDS: Final = {
    "CHAT_MODEL": SpanKind.MODEL,
    "LLM": SpanKind.MODEL,
    "TOOL": SpanKind.TOOL,
    "AGENT": SpanKind.AGENT,
}
_REFERENCES: Final = ("expected_response", "expected_answer", "ground_truth", "expected_output")


class MLflow:
    """See the module; `Importer` states what each member promises."""

    name = "mlflow"
    title = translatable("MLflow traces")
    recognised_by = translatable("attributes and metadata of traces whose names begin with “mlflow”")

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        own = any(mark in head for mark in (b'"mlflow.trace', b'"mlflow.span', b'"mlflow.traceRequestId"'))
        if {"info", "data"} <= keys or keys & {"trace", "traces"}:
            return 1.0 if own else 0.0
        spans = keys & {"spans", "attributes", "info", "data", "trace_info"}
        return 0.9 if own and spans else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        return read_conversations(
            _pieces(stream, context), context, _convert, format=self.name, converter=CONVERTER
        )


def _pieces(stream: BinaryIO, context: ReadContext) -> Iterator[Any]:
    """The traces of a file: records, or the elements of `traces` in a larger object."""
    limit = context.max_record_bytes
    head, rest = rewound(stream)
    if "traces" in json_head(head).keys:
        return records_at(rest, ("traces",), filename=context.filename, max_record_bytes=limit)
    return read_records(rest, filename=context.filename, max_record_bytes=limit)


def _convert(piece: Any, problems: RecordProblems) -> list[Conversation]:
    value = piece.value
    if not isinstance(value, dict):
        problems.add("", translatable("is not a JSON object"))
        return []
    trace = value["trace"] if isinstance(value.get("trace"), dict) else value
    info: dict[str, Any] = next(
        (trace[key] for key in ("info", "trace_info") if isinstance(trace.get(key), dict)), {}
    )
    spans = _spans(trace)
    if spans is None:
        searched = "trace_location" in trace or "request_id" in trace or bool(info)
        problems.add("", WITHOUT_SPANS if searched else NOT_A_TRACE)
        return []
    tree = SpanTree(_read(record, order) for order, record in enumerate(spans) if isinstance(record, dict))
    conversations = conversations_of(tree, READER, _trace_id(info, tree))
    metadata = info.get("trace_metadata", info.get("request_metadata"))
    metadata = as_object(metadata)
    for conversation in conversations:
        conversation.format_version = as_text(metadata.get("mlflow.trace_schema.version"))
        conversation.left_out |= {TIMES}
    main = conversations[0]
    tagged = {**metadata, **as_object(info.get("tags"))}
    own = {key: held for key, held in tagged.items() if not key.startswith("mlflow.")}
    main.hints.update(own)
    if metadata.get("mlflow.trace.session"):
        main.hints["session"] = as_text(metadata["mlflow.trace.session"])
    _take_assessments(info.get("assessments"), main)
    return conversations


def _spans(trace: dict[str, Any]) -> list[Any] | None:
    held = trace.get("data")
    spans = held.get("spans") if isinstance(held, dict) else trace.get("spans")
    return spans if isinstance(spans, list) else None


def _read(record: dict[str, Any], order: int) -> Span:
    """A span with its attributes as values: the SDK writes each as JSON, the REST API as it is."""
    span = read_span(record, order)
    if isinstance(record.get("attributes"), dict):
        span.attributes = {key: parse_json(value) for key, value in span.attributes.items()}
    return span


def _trace_id(info: dict[str, Any], tree: SpanTree) -> str:
    """The id that MLflow gives the trace, else the one that its spans carry."""
    trace_id = info.get("trace_id") or info.get("request_id")
    if trace_id:
        return as_text(trace_id)
    for span in tree.spans:
        if own := span.attributes.get("mlflow.traceRequestId"):
            return as_text(own)
    return next((span.trace_id for span in tree.spans if span.trace_id), "")


def _kind(span: Span) -> SpanKind:
    kind = span.attributes.get("mlflow.spanType")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    return opentelemetry().kind(span) if kind in (None, "UNKNOWN") else SpanKind.OTHER


def _call(span: Span) -> ModelCall:
    """A span of a model: the provider's own request and response, else OpenTelemetry's attributes."""
    held = span.attributes
    inputs, answer = held.get("mlflow.spanInputs"), held.get("mlflow.spanOutputs")
    if inputs is None and answer is None:
        return opentelemetry().call(span)
    request = inputs if isinstance(inputs, dict) else {}
    model = held.get("mlflow.llm.model") or request.get("model") or held.get("gen_ai.request.model")
    return ModelCall(
        address=span.span_id,
        start=(span.start, span.order),
        end=span.end,
        input=read_messages(inputs, "user"),
        output=[item for item in read_messages(answer, "assistant") if item.get("role") == "assistant"],
        model=short_model(as_text(model)),
        tools=read_tools(held.get("mlflow.chat.tools") or request.get("tools")),
        error=span.error,
    )


def _run(span: Span) -> ToolRun:
    held = span.attributes
    if "mlflow.spanInputs" not in held and "mlflow.spanOutputs" not in held:
        return opentelemetry().run(span)
    return ToolRun(
        address=span.span_id,
        start=(span.start, span.order),
        name=span.name,
        call_id=as_text(held.get("gen_ai.tool.call.id")),
        arguments=held.get("mlflow.spanInputs"),
        result=held.get("mlflow.spanOutputs"),
        error=span.error,
    )


READER: Final = SpanReader(_kind, _call, _run)


def _take_assessments(assessments: Any, main: Conversation) -> None:
    """Feedback as labels of the file, by the step of its span; an expected response as the reference."""
    steps = {address: index for index, address in main.source_steps.items()}
    for assessment in assessments if isinstance(assessments, list) else []:
        if not isinstance(assessment, dict):
            continue
        if assessment.get("valid") is False:
            main.notes[OVERRIDDEN] += 1
            continue
        name = as_text(assessment.get("assessment_name") or assessment.get("name"))
        expectation, feedback = assessment.get("expectation"), assessment.get("feedback")
        rationale = as_text(assessment.get("rationale"))
        if isinstance(expectation, dict):
            value = expectation.get("value", expectation.get("serialized_value"))
            if name in _REFERENCES and main.reference_answer is None:
                main.reference_answer = value
            else:
                main.labels.append(SourceLabel(None, name, value, rationale))
        elif isinstance(feedback, dict):
            step = steps.get(as_text(assessment.get("span_id")))
            if assessment.get("span_id") and step is None:
                main.notes[OF_NO_STEP] += 1
            elif feedback.get("value") is not None:
                main.labels.append(SourceLabel(step, name, feedback["value"], rationale))
