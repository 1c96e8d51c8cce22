"""Samples of other projects: traces, benchmarks, training rows, with counts made without our code."""

from pathlib import Path

import pytest

from .counting import count_of


@pytest.mark.published
@pytest.mark.parametrize(
    ("path", "name", "counts"),
    [
        ("otel_genai/generated_pydantic_ai_v5.otlp.json", "opentelemetry", (1, 3, 3, 3)),
        ("otel_genai/otel_genai_client_span_tool_calls.json", "opentelemetry", (1, 1, 0, 1)),
        ("otel_genai/otel_genai_deprecated_client_span_tool_calls.json", "opentelemetry", (1, 1, 0, 1)),
        ("openinference/openinference_client_span_tool_calls.json", "opentelemetry", (1, 1, 0, 1)),
        # ten traces: three of the calls counted, and one that answers with an object; the others only wrap
        ("otel_genai/vercel_v6_all-spans.json", "opentelemetry", (4, 4, 0, 0)),
        ("phoenix_rest/rest_project_spans.json", "opentelemetry", (1, 2, 1, 2)),
        ("phoenix_rest/rest_project_spans_otlpv1.json", "opentelemetry", (1, 2, 1, 2)),
        ("mlflow/rest_traces_get_tracking_store.json", "mlflow", (1, 2, 1, 2)),
        ("mlflow/sdk_trace_to_json.json", "mlflow", (1, 2, 1, 2)),
        ("langfuse/autogen-2025-06-06.trace.json", "langfuse", (1, 1, 0, 0)),
        # four generations, three of them blocks of one response
        ("langfuse/claude-agent-2025-12-22.trace.json", "langfuse", (1, 2, 2, 2)),
        ("langfuse/crewai-2025-07-11.trace.json", "langfuse", (1, 1, 0, 0)),
        ("langfuse/google-adk-2025-08-28.trace.json", "langfuse", (1, 2, 1, 1)),
        ("langfuse/google-gemini-2025-08-01.trace.json", "langfuse", (1, 1, 0, 0)),
        ("langfuse/koog-2025-08-26.trace.json", "langfuse", (1, 2, 2, 2)),
        ("langfuse/llamaindex-2025-06-05.trace.json", "langfuse", (1, 1, 0, 0)),
        ("langfuse/microsoft-agent-2025-12-17.trace.json", "langfuse", (1, 2, 1, 1)),
        # two generations, the outer of which only wraps the inner
        ("langfuse/vercel-aisdk-2025-11-17.trace.json", "langfuse", (1, 1, 1, 1)),
        ("langfuse/vertex-ai-2025-08-01.trace.json", "langfuse", (1, 1, 0, 0)),
        ("tau2_results", "tau2_bench", (4, 50, 33, 33)),
        ("tau_bench_v1/gpt-4o-airline.sample.json", "tau_bench", (12, 144, 76, 76)),
        ("who_and_when/Algorithm-Generated_1.json", "who_and_when", (1, 4, 0, 2)),
        ("who_and_when/Algorithm-Generated_113.json", "who_and_when", (1, 6, 0, 3)),
        ("who_and_when/Algorithm-Generated_116.json", "who_and_when", (1, 6, 0, 4)),
        ("who_and_when/Hand-Crafted_1.json", "who_and_when", (1, 28, 0, 0)),
        ("sharegpt/glaive_toolcall_en_demo.first30.json", "sharegpt", (30, 101, 22, 22)),
        ("sharegpt/mllm_demo.json", "sharegpt", (6, 12, 0, 0)),
        ("sharegpt/v1_multimodal_demo.jsonl", "sharegpt", (24, 48, 0, 0)),
    ],
)
def test_samples_have_the_counts_that_were_counted_in_the_raw_files(
    published: Path, path: str, name: str, counts: tuple[int, ...]
) -> None:
    sample = published / "formats" / path
    if sample.is_dir():
        (sample,) = sample.iterdir()
    found, counted, errors = count_of(sample)
    assert (found, errors) == (name, [])
    assert tuple(counted[key] for key in ("trajectories", "steps", "calls", "results")) == counts


@pytest.mark.published
@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("otel_genai/otel_genai_tool_execution_span.json", ":1: has no call of a model"),
        ("mlflow/rest_traces_search_page1.json", ":1: holds no spans: this is the answer of a search"),
    ],
)
def test_samples_without_a_response_are_refused_in_words(published: Path, path: str, sentence: str) -> None:
    _, counted, errors = count_of(published / "formats" / path)
    assert counted["trajectories"] == 0
    assert len(errors) == 1
    assert sentence in errors[0]
