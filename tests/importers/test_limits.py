"""Limits of one trajectory: what keeps to them comes in, what does not is refused by name."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.core.trajectories.limits import DEFAULTS, Limits, variable
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers import FORMATS, ReadContext, RecordError
from annotation.importers.limits import read_within_limits, weigh
from annotation.importers.options import ReadOptions

from . import golden
from .reading import CHAT

FEW = Limits(
    messages=4,
    message_characters=200,
    message_values=20,
    tool_calls=2,
    tools=2,
    beside_values=12,
    beside_depth=4,
)
CALL = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
WRITTEN = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB" + "A" * 4_000
SAYS = {"role": "assistant"}


def read(
    record: Any, name: str = "openai_chat", limits: Limits = FEW, **options: Any
) -> list[TrajectoryDraft | RecordError]:
    context = ReadContext("f.jsonl", limits=limits, **options)
    stream = io.BytesIO(json.dumps(record).encode())
    return list(read_within_limits(FORMATS[name], stream, context, ReadOptions()))


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [*CHAT, *messages], **more}


BEYOND: dict[str, tuple[dict[str, Any], str]] = {
    "messages": (chat(SAYS, SAYS, SAYS), "messages: has 5 messages; this server takes at most 4"),
    "message_characters": (
        chat({**SAYS, "content": "x" * 200}),
        "messages[2]: has 220 characters; this server takes at most 200 in one message",
    ),
    "message_values": (
        chat({**SAYS, "more": list(range(20))}),
        "messages[2]: has 25 keys and values; this server takes at most 20 in one message",
    ),
    "tool_calls": (
        chat({**SAYS, "content": WRITTEN * 3}),
        "messages[2]: has 3 tool calls; this server takes at most 2 in one message",
    ),
    "tools": (chat(tools=["a", "b", "c"]), "tools: has 3 tools; this server takes at most 2"),
    "beside_values": (
        chat(extra={str(n): n for n in range(12)}),
        "has 26 keys and values beside the messages; this server takes at most 12",
    ),
    "beside_depth": (
        chat(extra=[[[[1]]]]),
        "nests 5 levels deep beside the messages; this server takes at most 4",
    ),
}


@pytest.mark.parametrize("limit", BEYOND)
def test_limit_refuses_by_name_and_says_how_to_raise_it(limit: str) -> None:
    record, reason = BEYOND[limit]
    (found,) = read(record)
    assert str(found) == f"f.jsonl:1: {reason} ({variable(limit)} raises it)"
    raised = replace(FEW, **{limit: 100 * getattr(FEW, limit)})
    assert isinstance(read(record, limits=raised)[0], TrajectoryDraft)


def test_limit_itself_is_allowed() -> None:
    calls = {**SAYS, "content": WRITTEN * 2}
    record = chat(calls, {**SAYS, "content": "x" * 180}, tools=["a", "b"], extra=[[1]])
    assert isinstance(read(record)[0], TrajectoryDraft)


def test_limit_of_calls_counts_those_of_the_message_and_those_in_its_text() -> None:
    several = "<tool_call>[" + ", ".join(['{"name": "f"}'] * 3) + "]</tool_call>"
    for message in ({**SAYS, "tool_calls": [CALL] * 3}, {**SAYS, "content": several}):
        (found,) = read(chat(message), limits=replace(FEW, message_values=100))
        assert "has 3 tool calls" in str(found)


@pytest.mark.parametrize(
    "picture",
    [
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG[22:]}},
    ],
)
def test_limit_of_characters_leaves_pictures_out(picture: dict[str, Any]) -> None:
    assert isinstance(read(chat({"role": "user", "content": [picture]}))[0], TrajectoryDraft)
    assert weigh(PNG.replace("iVBOR", "zVBOR")).characters > 4_000, "no picture, whatever it is called"


def test_limit_of_bytes_holds_for_what_a_reader_makes_of_few() -> None:
    class Repeating:
        def read(self, stream: io.BytesIO, context: ReadContext) -> list[TrajectoryDraft]:
            (draft,) = read(chat())
            assert isinstance(draft, TrajectoryDraft)
            return [replace(draft, answer_text="x" * 1_000)]

    context = ReadContext("f", max_record_bytes=500)
    (found,) = read_within_limits(Repeating(), io.BytesIO(), context, ReadOptions())  # type: ignore[arg-type]
    assert str(found).startswith("f:1: has 1,0")
    assert "at most 500 (TRISTEP_MAX_RECORD_BYTES raises it)" in str(found)


def test_limit_passes_over_one_record_and_reads_on() -> None:
    lines = "\n".join(json.dumps(chat(*more)) for more in ([], [SAYS] * 9, [SAYS]))
    context = ReadContext("f.jsonl", limits=FEW)
    found = list(
        read_within_limits(FORMATS["openai_chat"], io.BytesIO(lines.encode()), context, ReadOptions())
    )
    assert [item.line for item in found if isinstance(item, RecordError)] == [2]


@pytest.mark.parametrize("path", golden.files(), ids=lambda path: path.name)
def test_limits_are_far_above_the_golden_files(path: Path) -> None:
    name = golden.format_of(path)
    with path.open("rb") as stream:
        found = list(read_within_limits(FORMATS[name], stream, ReadContext(path.name), ReadOptions()))
    assert not [item for item in found if "raises it" in str(item)]


def test_weight_counts_keys_texts_and_levels() -> None:
    weight = weigh({"ab": ["c", 1, {"d": None}], "e": {}})
    assert (weight.characters, weight.values, weight.depth) == (2 + 1 + 1 + 1, 3 + 7, 3)


def test_limits_stand_in_the_documents_with_their_defaults() -> None:
    docs = Path(golden.GOLDEN).parent.parent / "docs"
    table = (docs / "operations.md").read_text("utf-8")
    formats = (docs / "formats.md").read_text("utf-8")
    for name, most in DEFAULTS.items():
        (row,) = [line for line in table.splitlines() if f"`{variable(name)}`" in line and line[0] == "|"]
        assert f"{most:,}" in row
        assert name == "beside_depth" or f"{most:,}" in formats
