"""Samples of other projects: the format that each is taken for, and counts made without our code."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest

from annotation.core.errors import Invalid
from annotation.core.trajectories.trajectory import TrajectoryDraft, step_indexes
from annotation.importers import FORMATS, HEAD_BYTES, ReadContext, sniff

from .counting import count_of

READ = {
    "atif": "atif",
    "claude_agent_sdk": "anthropic",
    "claude_code": "claude_code",
    "codex": "codex",
    "inspect": "inspect",
    "langchain": "langchain",
    "langfuse": "langfuse",
    "mini_swe_agent": "mini_swe_agent",
    "mlflow": "mlflow",
    "openai_chat_logs": "openai_chat",
    "openai_responses": "openai_responses",
    "openhands": "openhands",
    "openinference": "opentelemetry",
    "otel_genai": "opentelemetry",
    "phoenix_rest": "opentelemetry",
    "sharegpt": "sharegpt",
    "swe_agent_traj": "swe_agent",
    "tau2_results": "tau2_bench",
    "tau_bench_v1": "tau_bench",
    "who_and_when": "who_and_when",
}
NOT_READ = {"adk", "autogen", "bfcl_results", "gemini", "pydantic_ai", "smolagents", "tooltalk"}


@pytest.mark.published
def test_samples_are_taken_for_their_own_format_and_by_no_other(published: Path) -> None:
    folders = [path for path in (published / "formats").iterdir() if path.is_dir()]
    assert {path.name for path in folders} == READ.keys() | NOT_READ
    for path in (file for folder in folders for file in folder.iterdir()):
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        sure = {name: importer.sniff(head) for name, importer in FORMATS.items()}
        own = READ.get(path.parent.name)
        if own is None:
            with pytest.raises(Invalid):
                sniff(head)
            continue
        assert sniff(head).name == own, path
        others = max(value for name, value in sure.items() if name != own)
        assert sure[own] > others, (path, sure)


FOLDERS = {
    "claude_agent_sdk": "anthropic",
    "claude_code": "claude_code",
    "codex": "codex",
    "langchain": "langchain",
    "mini_swe_agent": "mini_swe_agent",
    "openai_chat_logs": "openai_chat",
    "openai_responses": "openai_responses",
    "openhands": "openhands",
    "swe_agent_traj": "swe_agent",
}

IMAGES = ("image", "image_url", "input_image")  # the last two are without an address
# by how much our counts are less, because the report counts it apart (`NOTED`)
APART = {
    # a catalogue of kinds of lines: one answer was tried again, another is the program's own
    "claude_small.jsonl": Counter(steps=4, calls=1, results=2, errors=1),
    # the command stands in the text of the response
    "ctf__misc__networking_1.traj": Counter(calls=4),
    # broken arguments are shown as a call
    "generated_dumpd.json": Counter(calls=-1),
    "generated_messages_to_dict.json": Counter(calls=-1),
    # the generated image is shown
    "codex_small.jsonl": Counter(images=-1),
}
NOTED = {
    "claude_small.jsonl": {
        "responses on branches left out": 3,
        "messages that the program wrote in the model’s place, which are no steps": 1,
    },
    "ctf__misc__networking_1.traj": {"commands that a response has in its text, not as a call": 4},
    "generated_dumpd.json": {"tool calls whose arguments could not be parsed": 1},
    "generated_messages_to_dict.json": {"tool calls whose arguments could not be parsed": 1},
    "edge_cases.jsonl": {"lines that are no JSON objects, passed over": 3},
    "sdk_goal_events.jsonl": {"results whose call is not in the file": 1},
    "codex_small.jsonl": {"compactions": 6},
}


def counted(data: bytes, name: str) -> tuple[Counter[str], list[TrajectoryDraft], ReadContext]:
    """The draft of a file, with counts as in COUNTS.txt."""
    context = ReadContext(name)
    own = sniff(data[:HEAD_BYTES]).name
    found = list(FORMATS[own].read(io.BytesIO(data), context))
    drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    assert len(drafts) == len(found), found
    counts: Counter[str] = Counter(trajectories=len(drafts))
    for draft in drafts:
        counts["steps"] += len(step_indexes(draft.messages))
        for message in draft.messages:
            counts["calls"] += len(message.get("tool_calls", ()))
            counts["results"] += message["role"] == "tool"
            counts["errors"] += message.get("is_error") is True
            content = message["content"] if isinstance(message["content"], list) else []
            counts["images"] += sum(part.get("type") in IMAGES for part in content)
    return counts, drafts, context


@pytest.mark.published
def test_samples_import_with_the_counts_that_were_made_without_us(published: Path) -> None:
    samples = published / "formats"
    lines = (samples / "COUNTS.txt").read_text("utf-8").splitlines()
    seen = 0
    for line in lines:
        place, _, figures = line.partition("\t")
        folder, _, name = place.partition("/")
        if folder not in FOLDERS:
            continue
        seen += 1
        data = (samples / place).read_bytes()
        wanted = Counter(
            {
                key: int(value)
                for key, value in (pair.split("=") for pair in figures.split())
                if key in ("trajectories", "steps", "calls", "results", "errors", "images")
            }
        )
        wanted.subtract(APART.get(name, Counter()))
        counts, drafts, context = counted(data, name)
        assert sniff(data[:HEAD_BYTES]).name == FOLDERS[folder], place
        assert {key: counts[key] for key in wanted} == dict(wanted), place
        for note, times in NOTED.get(name, {}).items():
            assert context.notes[note] == times, (place, note)
        for draft in drafts if "source" in drafts[0].hints else ():
            addressed = sorted(int(index) for index in draft.hints["source_steps"])
            assert addressed == step_indexes(draft.messages), place
    assert seen == 25


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
