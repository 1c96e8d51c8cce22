"""Messages made ready to be shown: content, calls in all their spellings, results tied to calls."""

import base64
import json
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.errors import Invalid, TooLarge
from annotation.core.trajectories.images import MAX_IMAGE_BYTES, decode_data_uri, image_size, sniff_data_uri
from annotation.core.trajectories.messages import (
    ContentPart,
    Message,
    ToolCall,
    message_beginning,
    message_text,
    normalise,
    pair_results,
)
from annotation.core.trajectories.trajectory import step_indexes
from tests.strategies import ANY_JSON


def one(**raw: Any) -> Message:
    return normalise([{"role": "assistant", **raw}])[0]


def call(call_id: str | None, name: str = "f", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*ids: str | None, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": "", "tool_calls": [call(call_id) for call_id in ids]}


def result(call_id: str | None = None) -> dict[str, Any]:
    message = {"role": "tool", "content": "r"}
    return message if call_id is None else {**message, "tool_call_id": call_id}


def paired(*messages: dict[str, Any]) -> dict[int, tuple[int, int]]:
    return pair_results(normalise(messages))


# ── Content ───────────────────────────────
@pytest.mark.parametrize("content", [None, "", []])
def test_content_that_is_none_is_no_part(content: Any) -> None:
    assert (one(content=content).content, one(content=content).parts) == ("", ())


def test_string_is_one_part_left_exactly_as_it_is() -> None:
    text = "  <script>alert(1)</script>\x00\ud800 "
    assert one(content=text).parts == (ContentPart("text", text),)
    assert one(content=text).content == text


def test_message_begins_with_its_text_and_then_says_what_it_calls() -> None:
    raw = {"role": "assistant", "content": " Look. ", "tool_calls": [call("c", "find", '{"x": 1}')]}
    assert message_beginning(raw, 100) == 'Look.\nfind({"x": 1})'
    assert message_beginning(raw, 6) == "Look.…"
    assert message_beginning({**raw, "content": None}, 100) == 'find({"x": 1})'
    assert message_beginning({"role": "assistant", "content": ""}, 9) == ""


@given(ANY_JSON, st.integers(1, 40))
def test_message_of_any_json_begins_somehow(raw: Any, most: int) -> None:
    assert len(message_beginning(raw, most)) <= most


def test_content_parts_are_told_apart_and_their_text_joined() -> None:
    message = one(
        content=[
            {"type": "text", "text": "a"},
            "b",
            {"type": "image_url", "image_url": {"url": PNG_URI}},
            {"type": "image_url", "image_url": "https://example.org/x.png"},
            {"type": "refusal", "refusal": "no"},
            {"type": "input_audio", "input_audio": {}},
            None,
        ]
    )
    assert [part.kind for part in message.parts] == [
        "text",
        "text",
        "image",
        "text",
        "text",
        "other",
        "other",
    ]
    assert message.content == "a\nb\nhttps://example.org/x.png\nno"
    assert message.parts[2].media_type == "image/png"
    assert message.parts[2].data == PNG_URI


def test_content_that_is_none_at_all_is_shown_as_json() -> None:
    assert one(content={"message": 1}).content == '{"message": 1}'
    assert one(content=7).parts == (ContentPart("other", "7"),)


def test_reasoning_is_the_first_part_of_a_step_and_of_nothing_else() -> None:
    (step, user, empty) = normalise(
        [
            {"role": "assistant", "content": "4.", "reasoning_content": "2 + 2 …\n"},
            {"role": "user", "content": "And?", "reasoning_content": "none of theirs"},
            {"role": "assistant", "content": "", "reasoning_content": " "},
        ]
    )
    assert [part.text for part in step.parts] == ["<think>\n2 + 2 …\n</think>", "4."]
    assert [part.text for part in user.parts] == ["And?"]
    assert empty.parts == ()


def test_result_has_failed_when_the_log_says_so() -> None:
    messages = normalise([{"role": role, "is_error": True} for role in ("tool", "user")] + [{"role": "tool"}])
    assert [message.failed for message in messages] == [True, False, False]


def test_message_that_only_refuses() -> None:
    assert one(content=None, refusal="I would rather not.").content == "I would rather not."


# ── Calls ─────────────────────────────────
@pytest.mark.parametrize(
    ("arguments", "raw", "value", "parsed"),
    [
        ('{"q": "é"}', '{"q": "é"}', {"q": "é"}, True),
        ('["a", 1]', '["a", 1]', ["a", 1], True),
        ('{"q": 1,}', '{"q": 1,}', None, False),
        ("", "", None, False),
        (None, "", None, False),
        ({"q": "é"}, '{"q": "é"}', {"q": "é"}, True),
        ([1], "[1]", [1], True),
        ("[" * 100_000, "[" * 100_000, None, False),
        ("9" * 5000, "9" * 5000, None, False),
        ('{"a": "\ud800"}', '{"a": "\ud800"}', {"a": "\ud800"}, True),
    ],
)
def test_arguments_are_parsed_when_they_can_be_and_kept_raw(
    arguments: Any, raw: str, value: Any, parsed: bool
) -> None:
    found = one(content=None, tool_calls=[call("c", "f", arguments)]).tool_calls
    assert found == (ToolCall("c", "f", raw, value, parsed, "tool_calls"),)


def test_tool_calls_that_are_odd_are_shown_and_never_raise() -> None:
    message = one(
        tool_calls=[None, "x", {"name": "flat", "args": {"a": 1}}, {"function": {"name": None}}, {"id": 7}]
    )
    assert [(found.name, found.arguments_raw) for found in message.tool_calls] == [
        ("", "null"),
        ("", '"x"'),
        ("flat", '{"a": 1}'),
        ("", ""),
        ("", ""),
    ]
    assert message.tool_calls[4].id == "7"
    assert len(one(tool_calls=call("c")).tool_calls) == 1
    assert one(function_call={"name": "old", "arguments": "{}"}).tool_calls[0].name == "old"


def test_text_calls_become_calls_and_the_text_around_them_stays() -> None:
    message = one(content='Now.\n<tool_call>\n{"name": "mkdir", "arguments": {"d": "P"}}\n</tool_call> Done.')
    assert message.tool_calls == (ToolCall(None, "mkdir", '{"d": "P"}', {"d": "P"}, True, "text"),)
    assert message.content == "Now.\n Done."
    assert message.raw["content"].startswith("Now.\n<tool_call>")


def test_text_calls_several_and_broken() -> None:
    message = one(
        content='<tool_call>{"name": "a", "arguments": {,}}</tool_call>'
        '<tool_call>[{"name": "b", "arguments": "{}"}, {"name": "c"}]</tool_call>'
    )
    assert [(found.name, found.parsed) for found in message.tool_calls] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert message.tool_calls[0].arguments_raw == '{"name": "a", "arguments": {,}}'
    assert message.content == ""


@pytest.mark.parametrize(
    "content",
    [
        "Use <tool_call> query </tool_call> to search.",
        '<tool_call>{"name": "never closed"}',
        "</tool_call>{}",
    ],
)
def test_text_calls_leave_prose_between_the_tags_text(content: str) -> None:
    assert one(content=content).tool_calls == ()
    assert one(content=content).content == content


def test_text_calls_are_the_assistants_only_and_only_without_tool_calls() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert normalise([{"role": "system", "content": text}])[0].content == text
    message = one(content=text, tool_calls=[call("c", "g")])
    assert ([found.name for found in message.tool_calls], message.content) == (["g"], text)


def test_text_calls_of_many_tags_take_linear_time() -> None:
    assert one(content="<tool_call>" * 200_000).tool_calls == ()
    assert len(one(content="<tool_call>{</tool_call>" * 20_000).tool_calls) == 20_000


# ── Results ───────────────────────────────
def test_results_pair_by_id_in_any_order() -> None:
    assert paired(calls("a", "b"), result("b"), result("a")) == {1: (0, 1), 2: (0, 0)}


def test_pairing_an_id_used_again_takes_the_latest_turn() -> None:
    assert paired(calls("a"), result("a"), calls("a"), result("a")) == {1: (0, 0), 3: (2, 0)}
    assert paired(calls("a"), calls("a"), result("a"), result("a")) == {2: (1, 0), 3: (0, 0)}


def test_pairing_two_calls_of_one_id_takes_their_results_in_order() -> None:
    assert paired(calls("a", "a"), result("a"), result("a"), result("a")) == {1: (0, 0), 2: (0, 1), 3: (0, 1)}


def test_results_without_an_id_pair_by_adjacency() -> None:
    assert paired(calls(None, None), result(), result(), result()) == {1: (0, 0), 2: (0, 1)}
    assert paired(calls("a", "b", "c"), result(), result("a"), result()) == {1: (0, 1), 2: (0, 0), 3: (0, 2)}
    assert paired(calls(None), {"role": "user", "content": "?"}, result()) == {}


def test_results_of_text_calls_pair_by_adjacency() -> None:
    text = {"role": "assistant", "content": '<tool_call>{"name": "f"}</tool_call>'}
    assert paired(text, result(), text, result()) == {1: (0, 0), 3: (2, 0)}


def test_result_without_its_call_stays_alone() -> None:
    assert paired(result("x"), calls("a"), result("x")) == {}
    assert paired(calls(None), result("x")) == {1: (0, 0)}


def test_pairing_leaves_the_users_calls_to_the_user() -> None:
    messages = [calls("u", role="user"), result("u"), {"role": "assistant", "content": "ok"}]
    assert paired(*messages) == {1: (0, 0)}
    assert step_indexes(messages) == step_indexes(normalise(messages)) == [2]


def test_pairing_takes_linear_time() -> None:
    many = [calls(*["a"] * 20_000), *[result("a")] * 20_000, calls(*[None] * 20_000), *[result()] * 20_000]
    assert len(paired(*many)) == 40_000


@given(st.lists(ANY_JSON | st.dictionaries(st.sampled_from(
    ["role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal", "id", "type"]
), ANY_JSON | st.sampled_from(["assistant", "tool", "user", "<tool_call>{</tool_call>"]))))  # fmt: skip
def test_message_of_any_json_does_not_raise(messages: list[Any]) -> None:
    shown = normalise(messages)
    assert [message.index for message in shown] == list(range(len(messages)))
    for result_index, (caller, position) in pair_results(shown).items():
        assert caller < result_index
        assert position < len(shown[caller].tool_calls)
    assert all(isinstance(message_text(raw), str) for raw in messages)


# ── Images ────────────────────────────────
def png(width: int = 2, height: int = 3, size: int = 0) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", b"\0" * size) + chunk(b"IEND", b"")


def uri(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


PNG_URI = uri(png())
GIF = b"GIF89a" + struct.pack("<HH", 5, 4) + b"\0" * 8
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc0\x00\x11\x08" + struct.pack(">HH", 4, 5) + b"\0" * 9
WEBP = {
    "VP8X": b"RIFF....WEBPVP8X" + b"\0" * 8 + b"\x04\0\0" + b"\x03\0\0" + b"\0" * 9,
    "VP8L": b"RIFF....WEBPVP8L" + b"\0" * 4 + b"\x2f" + ((3 << 14) | 4).to_bytes(4, "little") + b"\0" * 9,
    "VP8 ": b"RIFF....WEBPVP8 " + b"\0" * 7 + b"\x9d\x01\x2a" + struct.pack("<HH", 5, 4) + b"\0" * 9,
}


def test_image_is_known_by_its_bytes_not_by_its_claim() -> None:
    image = decode_data_uri(uri(png(), "image/svg+xml"))
    assert (image.media_type, image.width, image.height, image.data) == ("image/png", 2, 3, png())


@pytest.mark.parametrize("data", [GIF, JPEG, *WEBP.values()])
def test_image_size_is_read_from_the_header(data: bytes) -> None:
    image = decode_data_uri(uri(data))
    assert (image.width, image.height) == (5, 4)
    assert sniff_data_uri(uri(data)) == image.media_type


@pytest.mark.parametrize(
    "bad",
    [
        "https://example.org/a.png",
        "data:image/png,plain",
        "data:image/png;base64,%%%%",
        uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        uri(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png"),
        uri(b"\x89PNG\r\n\x1a\n"),
        uri(png(0, 5)),
        uri(b"\xff\xd8\xff\xd9"),
        uri(b"\xff\xd8\xff\xe0\x00\x00"),
        "",
    ],
)
def test_image_that_is_none_we_show(bad: str) -> None:
    with pytest.raises(Invalid):
        decode_data_uri(bad)


def test_image_that_is_large_is_refused() -> None:
    with pytest.raises(TooLarge, match="8 MB"):
        decode_data_uri(uri(png(size=MAX_IMAGE_BYTES)))
    with pytest.raises(TooLarge, match="8 MB"):
        decode_data_uri("data:image/png;base64," + "A" * (MAX_IMAGE_BYTES * 2))
    with pytest.raises(TooLarge, match="40 million"):
        decode_data_uri(uri(png(100_000, 100_000)))


@given(st.binary(max_size=64))
def test_image_of_any_header_does_not_raise(tail: bytes) -> None:
    for start, kind in (
        (b"\xff\xd8\xff", "jpeg"),
        (b"RIFF....WEBP", "webp"),
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"", "gif"),
    ):
        image_size(start + tail, f"image/{kind}")


def test_image_in_another_spelling() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png()).decode()}
    assert one(content=[{"type": "image", "source": source}]).parts[0].kind == "image"
    assert one(
        content=[{"type": "image_url", "image_url": {"url": uri(b"<svg/>", "image/svg+xml")}}]
    ).parts == (
        ContentPart(
            "other", json.dumps({"type": "image_url", "image_url": {"url": uri(b"<svg/>", "image/svg+xml")}})
        ),
    )
