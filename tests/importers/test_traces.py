"""Traces: sub-agents, and spans that lie in a file as they like."""

import io
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from annotation.core.trajectories.trajectory import TrajectoryDraft, content_digest
from annotation.importers import FORMATS, ReadContext, RecordError, sniff
from annotation.importers.options import ReadOptions, apply_options
from annotation.importers.parts import json_array_stream, trace_spool

from .golden import GOLDEN


def span(trace: str, span_id: str, start: int, parent: str = "", **attributes: Any) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": span_id,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1),
        "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()],
    }


def chat(trace: str, span_id: str, start: int, given: Any, output: Any, parent: str = "") -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(given),
        "gen_ai.output.messages": json.dumps(output),
    }
    return span(trace, span_id, start, parent, **attributes)


def otlp(*spans: dict[str, Any]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def read(data: bytes, name: str = "opentelemetry", limit: int = 1 << 20) -> list[Any]:
    return list(FORMATS[name].read(io.BytesIO(data), ReadContext("f", max_record_bytes=limit)))


def text(role: str, content: str) -> list[dict[str, Any]]:
    return [{"role": role, "parts": [{"type": "text", "content": content}]}]


def test_traces_are_put_together_from_any_line_and_their_bytes_are_a_file_of_their_own() -> None:
    first, second = (
        chat(trace, f"{trace}1", start, text("user", trace), text("assistant", trace))
        for trace, start in (("a", 5), ("b", 1))
    )
    history = [*text("user", "a"), *text("assistant", "a"), *text("user", "more")]
    later = chat("a", "a2", 9, history, text("assistant", "done"))
    data = b"\n".join(otlp(one) for one in (later, second, first))
    found = read(data)
    assert [draft.record_id for draft in found] == ["a", "b"]
    assert [draft.hints["source_steps"] for draft in found] == [{"1": "a1", "3": "a2"}, {"1": "b1"}]
    assert [again.record_id for draft in found for again in read(draft.raw)] == ["a", "b"]
    assert read(found[0].raw)[0].messages == found[0].messages


def test_trace_without_recorded_contents_is_refused_in_words() -> None:
    data = otlp(span("a", "1", 1, **{"gen_ai.operation.name": "chat"}))
    assert [str(error) for error in read(data)] == [
        "f:1: has calls of a model (1), but not what was said: the program did not record contents"
    ]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda raw: raw.replace(b'"name": "a2"', b'"name": a2'), "is not valid JSON"),
        (lambda raw: raw.replace(b'"name": "a2"', b'"name": "\xff2"'), "is not UTF-8"),
        (lambda raw: raw.replace(b'"name": "a2"', b'"name": ' + b"[" * 300 + b"]" * 300), "nested deeper"),
    ],
    ids=["json", "text", "depth"],
)
def test_broken_span_is_refused_by_its_line_and_the_other_traces_are_read(
    damage: Callable[[bytes], bytes], reason: str
) -> None:
    spans = [
        chat(trace, f"{trace}{start}", start, text("user", "Q"), text("assistant", "A"))
        for trace, start in (("a", 1), ("a", 2), ("b", 1))
    ]
    found = read(damage(otlp(*spans).replace(b'{"traceId"', b'\n{"traceId"')))
    wrong = [(one.line, reason in one.reason) for one in found if isinstance(one, RecordError)]
    assert wrong == [(3, True)]
    assert "b" in [one.record_id for one in found if isinstance(one, TrajectoryDraft)]


def test_trace_over_the_limit_is_refused_by_its_line() -> None:
    big = [chat("a", str(i), i, text("user", "x" * 600), text("assistant", "y")) for i in range(3)]
    found = read(otlp(*big), limit=2000)
    assert [str(error) for error in found] == ["f:1: the trace is larger than 0 MB, the limit for one record"]


def test_traces_need_the_memory_of_one_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        trace_spool, "IN_MEMORY", 1 << 16
    )  # above this the spans lie on disk: what stays is the index
    monkeypatch.setattr(json_array_stream, "CHUNK_BYTES", 1 << 16)

    def peak(traces: int) -> int:
        said = [text("user", "q" * 1000), text("assistant", "a" * 1000)]
        data = io.BytesIO(otlp(*(chat(f"{i:032x}", f"{i:016x}", i, *said) for i in range(traces))))
        tracemalloc.start()
        count = sum(isinstance(one, TrajectoryDraft) for one in FORMATS["opentelemetry"].read(data, context))
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == traces
        return top

    context = ReadContext("f")
    peak(10)
    assert peak(600) < peak(200) + 400_000


def test_objects_beside_the_traces_are_counted() -> None:
    traces = otlp(chat("a", "a1", 1, text("user", "Q"), text("assistant", "A")))
    lines = [traces, b'{"resourceLogs": [{"scopeLogs": []}]}', b"{}", b'{"resourceSpans": null}']
    context = ReadContext("f")
    found = list(FORMATS["opentelemetry"].read(io.BytesIO(b"\n".join(lines)), context))
    assert [draft.record_id for draft in found] == ["a"]
    assert context.notes == {json_array_stream.OTHER_OBJECTS: 3}


def test_long_file_is_gathered_only_at_its_beginning_when_it_is_only_looked_at() -> None:
    said = [text("user", "q" * 1000), text("assistant", "a")]
    data = otlp(*(chat(f"{i:032x}", f"{i:016x}", i, *said) for i in range(1, 40)))
    context = ReadContext("f", gather_bytes=10_000)
    found = list(FORMATS["opentelemetry"].read(io.BytesIO(data), context))
    assert 5 < len(found) < 12
    assert context.notes[trace_spool.BEGINNING] == 1


def test_sub_agents_below_a_working_agent_are_trajectories_of_their_own() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent"}
    data = otlp(
        span("t", "boss", 1, **agent),
        chat("t", "b1", 2, text("user", "Do it."), text("assistant", "I ask."), "boss"),
        span("t", "helper", 3, "boss", **agent),
        chat("t", "h1", 4, text("user", "Help."), text("assistant", "Helped."), "helper"),
        chat("t", "b2", 6, text("user", "So?"), text("assistant", "Done."), "boss"),
    )
    main, helper = read(data)
    assert (main.record_id, helper.record_id) == ("t", "t:helper")
    assert [message["content"] for message in helper.messages] == ["Help.", "Helped."]
    assert (helper.hints["sub_agent_of"], helper.hints["agent"]) == ("t", "helper")
    assert main.hints["source_steps"] == {"1": "b1", "3": "b2"}


def test_bytes_of_a_trace_with_many_sub_agents_are_kept_once() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent"}
    spans = [
        span("t", "boss", 1, **agent),
        chat("t", "b", 2, text("user", "Do it."), text("assistant", "Done."), "boss"),
    ]
    for number in range(40):
        spans += [
            span("t", f"helper{number}", 3, "boss", **agent),
            chat("t", f"h{number}", 4, text("user", "Help."), text("assistant", "So."), f"helper{number}"),
        ]
    data = otlp(*spans)
    main, *helpers = read(data)
    assert json.loads(main.raw) == json.loads(data) and len(helpers) == 40
    assert {helper.raw for helper in helpers} == {b'{"original_with":"t"}'}
    context = ReadContext("f")
    options = ReadOptions(task_key_at="/resourceSpans/0/scopeSpans/0/spans/0/spanId")
    drafts = FORMATS["opentelemetry"].read(io.BytesIO(data), context)
    assert {draft.task_key for draft in apply_options(drafts, options, context)} == {"boss"}


def test_observation_that_is_nested_too_deeply_for_its_trace_is_refused_by_its_line() -> None:
    loose = {"id": "a", "traceId": "t", "type": "GENERATION", "parentObservationId": None, "output": "A."}
    nested = json.loads("[" * 199 + "]" * 199)  # 200 levels, and 201 in its trace
    (error,) = read(json.dumps({**loose, "input": nested}).encode(), "langfuse")
    assert str(error) == "f:1: is nested deeper than 200 levels"


def test_agents_side_by_side_are_one_conversation() -> None:
    agent = {"gen_ai.operation.name": "invoke_agent"}
    history = [*text("user", "Do it."), *text("assistant", "Over to you.")]
    data = otlp(
        span("t", "first", 1, **agent),
        chat("t", "f1", 2, text("user", "Do it."), text("assistant", "Over to you."), "first"),
        span("t", "second", 3, **agent),
        chat("t", "s1", 4, history, text("assistant", "Done."), "second"),
    )
    (found,) = read(data)
    assert [message["content"] for message in found.messages] == ["Do it.", "Over to you.", "Done."]


def test_answer_of_langsmiths_query_is_read_as_its_runs() -> None:
    lines = (GOLDEN / "langchain-runs.jsonl").read_bytes()
    runs = [json.loads(line) for line in lines.splitlines()]
    other = [{**run, "trace_id": "trace-2", "id": f"{run['id']}-2"} for run in runs]
    mixed = [run for pair in zip(runs, other, strict=True) for run in pair]
    data = json.dumps({"runs": mixed, "cursors": {"next": None}}).encode()
    assert sniff(data).name == "langchain"
    first, second = read(data, "langchain")
    (alone,) = read(lines, "langchain")
    assert content_digest(first) == content_digest(alone)
    assert (first.record_id, second.record_id) == ("trace-1", "trace-2")
