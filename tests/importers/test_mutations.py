"""Robustness of readers and sniffers: any file yields drafts and errors, and raises nothing."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core.errors import Invalid
from annotation.core.trajectories.trajectory import (
    TrajectoryDraft,
    content_digest,
    content_json,
    normalise,
    pair_results,
    step_indexes,
)
from annotation.importers import FORMATS, ReadContext, RecordError, sniff
from tests.importers.mutations import mutations
from tests.strategies import ANY_JSON


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_damaged_files_of_a_format_are_read_or_refused(name: str) -> None:
    for _, data in mutations(name, 30):
        try:
            sniff(data)
        except Invalid as refusal:
            assert refusal.message
        found = list(FORMATS[name].read(io.BytesIO(data), ReadContext("f")))
        assert found, data
        for item in found:
            if isinstance(item, RecordError):
                assert item.reason
                continue
            assert isinstance(item, TrajectoryDraft)
            assert step_indexes(item.messages)
            assert len(content_digest(item)) == 64
            pair_results(normalise(item.messages))


KEYS = [
    "data_source", "query_index", "sample_index", "question", "messages", "tools", "step_labels",
    "final_label", "id", "task_id", "model", "ground_truth", "answer_text", "meta",
]  # fmt: skip
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"])},
    optional={"content": ANY_JSON, "tool_calls": ANY_JSON, "tool_call_id": ANY_JSON, "name": ANY_JSON},
)
MESSAGES = st.lists(MESSAGE, min_size=1, max_size=5)
GOOD = st.fixed_dictionaries(
    {
        "data_source": st.sampled_from(["a", "b", "\x00"]),
        "query_index": st.integers(0, 3),
        "sample_index": st.integers(0, 3),
        "messages": MESSAGES,
    },
    optional={
        "question": ANY_JSON,
        "meta": ANY_JSON,
        "step_labels": st.dictionaries(st.sampled_from(["0", "1", "2"]), st.sampled_from([-1, 0, 1, None])),
        "final_label": st.sampled_from([-1, 0, 1, None]),
    },
)
ANY_RECORD = GOOD | ANY_JSON | st.dictionaries(st.sampled_from(KEYS), ANY_JSON | MESSAGES) | MESSAGES


def read(name: str, data: bytes) -> list[TrajectoryDraft | RecordError]:
    return list(FORMATS[name].read(io.BytesIO(data), ReadContext("f")))


@given(
    records=st.lists(ANY_RECORD, max_size=6), indent=st.sampled_from([None, None, 1]), listed=st.booleans()
)
@settings(max_examples=80)
def test_importers_give_drafts_or_errors_of_any_json(
    records: list[Any], indent: int | None, listed: bool
) -> None:
    """All formats read the same files: making these takes far longer than reading them."""
    text = json.dumps(records, indent=indent) if listed else "\n".join(map(json.dumps, records))
    for name in FORMATS:
        found = read(name, text.encode())
        assert found, name
        for item in found:
            if isinstance(item, RecordError):
                assert str(item).startswith("f"), name
                assert item.reason, name
                continue
            assert step_indexes(item.messages), name
            assert json.loads(item.raw) is not None, name
            assert len(content_digest(item)) == 64
            pair_results(normalise(item.messages))
        identities = [item.record_id for item in found if isinstance(item, TrajectoryDraft)]
        assert len(identities) == len(set(identities)), name


@given(record=GOOD, cut=st.integers(1, 200), junk=st.binary(max_size=5))
def test_importers_give_drafts_or_errors_of_a_damaged_file(record: Any, cut: int, junk: bytes) -> None:
    data = json.dumps(record).encode()
    for name in FORMATS:
        assert read(name, data[: -min(cut, len(data) - 1)] + junk + b"\n" + data), name


@given(GOOD)
def test_content_is_everything_but_the_labels(record: dict[str, Any]) -> None:
    found = read("agentprocessbench", json.dumps(record).encode())
    bare = {key: value for key, value in record.items() if key not in ("step_labels", "final_label")}
    again = read("agentprocessbench", json.dumps(bare, indent=1).encode())
    if isinstance(found[0], TrajectoryDraft):
        assert isinstance(again[0], TrajectoryDraft)
        assert content_json(found[0]) == content_json(again[0])
