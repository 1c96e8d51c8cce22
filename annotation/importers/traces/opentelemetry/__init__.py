"""Traces of OpenTelemetry: OTLP as JSON, Phoenix's REST answers, and spans as SDKs dump them.

A trajectory is a trace, its step a call of the model, the step's address the id of its span. Files hold spans
in the order in which they ended, of several traces at once, over any number of lines: they are gathered by
trace on disk (`parts.trace_spool`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers.base import ReadContext
from annotation.importers.conversion import Conversation, SourceLabel
from annotation.importers.drafts import read_conversations
from annotation.importers.parts.message_parts import as_text
from annotation.importers.parts.span_records import read_span
from annotation.importers.parts.span_tree import Span, SpanTree
from annotation.importers.parts.trace_conversations import TIMES, conversations_of
from annotation.importers.records import RecordProblems

from .contents import reader
from .traces import Trace, read_traces

CONVERTER: Final = 2

_SPAN_KEYS: Final = frozenset({"context", "spanContext", "span_id", "spanId"})
_CONVENTIONS: Final = re.compile(
    rb'"(?:gen_ai\.|openinference\.span\.kind|llm\.(?:input|output)_messages|ai\.operationId|traceloop\.)'
)


class OpenTelemetry:
    """See the module; `Importer` states what each member promises."""

    name = "opentelemetry"
    title = translatable("OpenTelemetry traces (GenAI conventions, OpenInference, Phoenix)")
    recognised_by = translatable(
        "“resourceSpans”, or spans with attributes of the GenAI or OpenInference conventions"
    )

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if b'"mlflow.' in head:
            return 0.0
        if "resourceSpans" in keys or "resource_spans" in keys:
            return 1.0
        conventional = _CONVENTIONS.search(head) is not None
        if "data" in keys and re.search(rb'"(?:span_kind|parent_span_id|trace_id)"\s*:', head):
            return 0.9
        if "attributes" in keys and keys & _SPAN_KEYS:
            return 0.9 if conventional else 0.7
        flat = any(key.startswith(("gen_ai.", "openinference.", "llm.", "ai.")) for key in keys)
        return 0.9 if flat and conventional else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        return read_conversations(
            read_traces(stream, context), context, _convert, format=self.name, converter=CONVERTER
        )


def _convert(trace: Trace, problems: RecordProblems) -> list[Conversation]:
    spans = [read_span(record, order) for order, record in enumerate(trace.value) if isinstance(record, dict)]
    tree = SpanTree(spans)
    conversations = conversations_of(tree, reader(), trace.trace_id)
    for conversation in conversations:
        conversation.format_version = trace.schema
        conversation.left_out |= {TIMES}
    main = conversations[0]
    for span in tree.spans:
        for key in ("session.id", "gen_ai.conversation.id"):
            if span.attributes.get(key) and "session" not in main.hints:
                main.hints["session"] = as_text(span.attributes[key])
        for name, held in span.events:
            if name == "gen_ai.evaluation.result":
                _take_evaluation(held, span, conversations)
    return conversations


def _take_evaluation(held: dict[str, Any], span: Span, conversations: list[Conversation]) -> None:
    """A score of OpenTelemetry as a label of the step whose span it stands at, else of the whole trace."""
    value = held.get("gen_ai.evaluation.score.label", held.get("gen_ai.evaluation.score.value"))
    name, reason = (as_text(held.get(f"gen_ai.evaluation.{key}")) for key in ("name", "explanation"))
    if value is None:
        return
    for conversation in conversations:
        for index, address in conversation.source_steps.items():
            if address == span.span_id:
                conversation.labels.append(SourceLabel(index, name, value, reason))
                return
    conversations[0].labels.append(SourceLabel(None, name, value, reason))
