"""Inspect logs: what the golden files cannot hold, and the samples of other projects."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers import FORMATS, ReadContext, sniff
from annotation.importers.benchmarks import inspect_messages as messages

from .archives import zip_of
from .counting import count_of

EVAL = {"task": "t", "model": "m", "eval_id": "e"}
NO_SAMPLES = "f: the log has no samples; it may be a header, or of a run that never began"
SAMPLE = {
    "id": 1,
    "epoch": 1,
    "input": "Q?",
    "target": "A",
    "messages": [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A."}],
}


def log(*samples: Any, **changes: Any) -> bytes:
    return json.dumps({"version": 2, "eval": EVAL, **changes, "samples": list(samples)}).encode()


def read(data: bytes, limit: int = 1 << 20) -> tuple[list[TrajectoryDraft], list[str], ReadContext]:
    context = ReadContext("f", max_record_bytes=limit)
    found = list(FORMATS["inspect"].read(io.BytesIO(data), context))
    drafts = [item for item in found if isinstance(item, TrajectoryDraft)]
    return drafts, [str(item) for item in found if not isinstance(item, TrajectoryDraft)], context


def test_inspect_log_may_say_after_its_samples_what_was_run() -> None:
    other = {"version": 2, "status": "error", "eval": {**EVAL, "task": "u"}}
    samples = [SAMPLE, {**SAMPLE, "epoch": 2}]
    late = [json.dumps({"samples": samples, **header}) for header in ({"version": 2, "eval": EVAL}, other)]
    data = "\n".join(late).encode()
    drafts, wrong, _ = read(data)
    assert [draft.record_id for draft in drafts] == ["t:1:1:e", "t:1:2:e", "u:1:1:e", "u:1:2:e"]
    assert [draft.hints.get("status") for draft in drafts] == [None, None, "error", "error"]
    assert (wrong, sniff(data).name) == ([], "inspect")
    assert drafts[0].messages == read(log(SAMPLE))[0][0].messages


SHELL = {"id": 1, "epoch": 1, "input": "Q?", "target": "A", "message_refs": [[0, 2], [4, 5]]}
OPEN = {"name": "open", "parameters": {"properties": {"url": {"description": "attachment://0"}}}}
FOLDER = "samples/1_epoch_1"
CHUNKS = {
    f"{FOLDER}/metadata.json": {"level": 3},
    f"{FOLDER}/messages/0.json": [{"role": "user", "content": "attachment://1"}],
    f"{FOLDER}/messages/1.json": [
        {"role": "assistant", "content": "A."},
        {"role": "user", "content": "of a branch"},
        {"role": "assistant", "content": "left out"},
    ],
    f"{FOLDER}/messages/4.json": [{"role": "assistant", "content": "B."}],
    f"{FOLDER}/attachments/0.json": ["of an event", "Q?"],
    f"{FOLDER}/events/0.json": [{"event": "span_begin"}],
    f"{FOLDER}/events/1.json": [{"event": "model", "tools": [{"name": "search", "parameters": {}}]}] * 2,
    f"{FOLDER}/events/3.json": [{"event": "compaction"}, {"event": "model", "tools": [OPEN]}],
}


def chunked(shell: Any = SHELL, **changes: Any) -> bytes:
    """An archive of version 3, as `inspect log convert-chunked` writes it."""
    chunks = {**CHUNKS, **{f"{FOLDER}/{name}.json": value for name, value in changes.items()}}
    members = {"header.json": {"version": 3, "eval": EVAL}, f"{FOLDER}/sample.json": shell, **chunks}
    return zip_of({name: json.dumps(value).encode() for name, value in members.items() if value is not None})


def test_inspect_log_of_version_3_holds_a_sample_in_chunks() -> None:
    drafts, wrong, context = read(chunked())
    assert (wrong, sniff(chunked()).name) == ([], "inspect")
    (draft,) = drafts
    assert [(message["role"], message["content"]) for message in draft.messages] == [
        ("user", "Q?"),
        ("assistant", "A."),
        ("assistant", "B."),
    ]
    assert [tool["function"]["name"] for tool in draft.tools] == ["search", "open"]
    assert draft.tools[1]["function"]["parameters"]["properties"] == {"url": {"description": "of an event"}}
    assert context.notes["compactions; earlier steps are not among the messages"] == 1
    assert draft.hints["metadata"] == {"level": 3}
    assert "attachments that are not in the file" not in context.notes


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (chunked(**{"messages/4": None}), "the archive lacks message 4 of a sample"),
        (chunked({**SHELL, "message_refs": [[5, 9]]}), "the archive lacks message 5 of a sample"),
        (chunked({**SHELL, "message_refs": [[0, 9**12]]}), "is larger than 1 MB, the limit for one record"),
        (chunked({**SHELL, "message_refs": ["0-2"]}), "has “message_refs” that are no ranges"),
        (chunked([]), "is not a JSON object"),
        (
            chunked(**{"messages/1": [{"role": "user", "content": "x" * 2_000_000}]}),
            "is larger than 1 MB, the limit for one record",
        ),
    ],
)
def test_inspect_sample_whose_chunks_are_bad_is_refused_in_words(data: bytes, sentence: str) -> None:
    assert read(data)[1] == [f"f:1: {FOLDER}: {sentence}"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (log(SAMPLE, version=4), "f: version 4 of Inspect’s logs is not known; those up to 3 are read"),
        (log(SAMPLE, eval=None), "f: the log has no “eval”, which says what was run"),
        (log(), NO_SAMPLES),
        (log(7), "f:1: is not a JSON object"),
        (log(SAMPLE, SAMPLE), 'f:1: record_id: "t:1:1:e" occurs twice in this file, in line 1'),
        (zip_of({"header.json": b"{}"}), "f: the log has no “eval”, which says what was run"),
        (zip_of({"header.json": b"{"}), "f: is cut off: the record ends in the middle of its JSON"),
        (zip_of({"header.json": log()}), NO_SAMPLES),
        (b"PK\x03\x04", "f: the archive is cut off: it has no directory at its end"),
        (
            zip_of({"header.json": log(), "samples/1_epoch_1.json": b"{" + b" " * 2000 + b"}"}),
            "f:1: samples/1_epoch_1.json: is larger than 1,000 bytes, the limit for one record",
        ),
    ],
)  # fmt: skip
def test_inspect_log_that_is_bad_is_refused_in_words(data: bytes, sentence: str) -> None:
    assert read(data, limit=1000)[1] == [sentence]


def test_inspect_sample_without_a_response_is_left_out_and_counted() -> None:
    drafts, errors, context = read(log(SAMPLE, {**SAMPLE, "id": 2, "messages": []}))
    assert [draft.record_id for draft in drafts] == ["t:1:1:e"]
    assert not errors
    assert dict(context.notes) == {"conversations without a response of the model, left out": 1}


def test_inspect_attachments_cannot_be_blown_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MAX_EXPANSION", 1000)
    spoken = [{"role": "assistant", "content": "attachment://a"}] * 9
    drafts, errors, _ = read(log({**SAMPLE, "messages": spoken, "attachments": {"a": "x" * 200}}))
    assert not drafts
    assert errors == ["f:1: attachments: expand to more than 64 MB"]


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "trajectories", "steps", "calls", "results", "images"),
    [
        ("2025-05-12T20-28-13-04-00_popularity.json", 3, 3, 0, 0, 0),
        ("log_images_tc.json", 1, 1, 0, 0, 1),
        ("log_read_sample.eval", 1, 1, 0, 0, 0),
        ("2025-09-23T08-09-58-04-00_security-guide_LuxZJVwvymC3S3SyoJczxB.eval", 16, 16, 0, 0, 0),
        ("2025-11-07T10-59-47-05-00_websearch-addition-problem_LqPDntDnkk4h2fSqQ8i6CE.eval", 1, 1, 0, 0, 0),
        ("log_message_deduplication.rewritten_0.3.285_zstd.eval", 1, 6, 5, 5, 0),
        ("log_streaming.eval", 4, 4, 0, 0, 0),
    ],
)
def test_inspect_samples_of_other_projects(
    published: Path, name: str, trajectories: int, steps: int, calls: int, results: int, images: int
) -> None:
    counts = {
        "trajectories": trajectories,
        "steps": steps,
        "calls": calls,
        "results": results,
        "images": images,
    }
    assert count_of(published / "formats" / "inspect" / name) == ("inspect", counts, [])


@pytest.mark.published
def test_inspect_sample_with_results_only_is_refused(published: Path) -> None:
    _, _, errors = count_of(published / "formats" / "inspect" / "log_tool_call_error.json")
    assert errors == [
        "log_tool_call_error.json:87: messages: has no assistant message, so there is no step to label"
    ]
