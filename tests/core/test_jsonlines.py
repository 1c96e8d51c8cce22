"""Reading records: layouts, what is accepted, what is refused and how it is said."""

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.jsonio import splitting
from annotation.core.jsonio.json_layout import HEAD_BYTES, Layout, json_head
from annotation.core.jsonio.jsonlines import (
    MAX_DEPTH,
    BadJson,
    Record,
    RecordError,
    depth_of,
    parse_bytes,
    parse_text,
    read_records,
)
from tests.strategies import ANY_JSON


class Drip(io.RawIOBase):
    """A stream that gives a few bytes at a time and cannot seek, like a socket."""

    def __init__(self, data: bytes, size: int) -> None:
        self.inner, self.size = io.BytesIO(data), size

    def read(self, size: int = -1) -> bytes:
        return self.inner.read(min(size, self.size) if size >= 0 else self.size)

    def readline(self, size: int | None = -1) -> bytes:
        return self.inner.readline(-1 if size is None else size)


def read(data: bytes, limit: int = 1 << 20) -> list[Record | RecordError]:
    return list(read_records(io.BytesIO(data), filename="f.jsonl", max_record_bytes=limit))


def values(data: bytes) -> list[Any]:
    found = read(data)
    assert not [item for item in found if isinstance(item, RecordError)], found
    return [item.value for item in found if isinstance(item, Record)]


def errors(data: bytes, limit: int = 1 << 21) -> list[str]:
    return [str(item) for item in read(data, limit) if isinstance(item, RecordError)]


# ── Layouts ───────────────────────────────
def test_json_lines_with_blank_lines_windows_endings_and_a_byte_order_mark() -> None:
    found = read(b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"a": 2}\n\n{"a":3}')
    assert [(item.raw, item.line) for item in found if isinstance(item, Record)] == [
        (b'{"a": 1}', 1),
        (b'{"a": 2}', 4),
        (b'{"a":3}', 6),
    ]


@pytest.mark.parametrize("indent", [None, 0, 1, 4])
def test_list_of_records_keeps_the_exact_bytes_of_each(indent: int | None) -> None:
    records = [{"messages": [{"role": "user", "content": 'a "quoted\\" ]}[{ é'}], "n": n} for n in range(5)]
    data = json.dumps(records, indent=indent, ensure_ascii=False).encode()
    found = [item for item in read(data) if isinstance(item, Record)]
    assert [item.value for item in found] == records
    assert all(item.raw in data and json.loads(item.raw) == item.value for item in found)
    assert [item.line for item in found] == [data[: data.index(item.raw)].count(b"\n") + 1 for item in found]


def test_records_laid_out_over_several_lines() -> None:
    records = [{"messages": [{"role": "user", "content": "x"}], "n": n} for n in range(3)]
    assert values("\n".join(json.dumps(record, indent=2) for record in records).encode()) == records


@pytest.mark.parametrize("indent", [None, 2])
def test_list_of_messages_that_is_bare_is_one_record(indent: int | None) -> None:
    chat = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    assert values(json.dumps(chat, indent=indent).encode()) == [chat]
    assert values(json.dumps([chat, chat], indent=indent).encode()) == [chat, chat]
    lines = b"\n".join(json.dumps(chat).encode() for _ in range(3))
    assert values(lines) == [chat, chat, chat]


def test_list_that_is_bare_and_long_is_known_by_its_beginning() -> None:
    chat = [{"content": "x" * 2 * HEAD_BYTES, "role": "user"}, {"role": "assistant", "content": "y"}]
    assert values(json.dumps(chat, indent=1).encode()) == [chat]


def test_first_line_that_is_cut_off_does_not_swallow_the_others() -> None:
    found = read(b'{"messages": [{"role": "us\n{"messages": []}\n{"messages": []}\n')
    assert [type(item) for item in found] == [RecordError, Record, Record]
    assert str(found[0]) == "f.jsonl:1: is cut off: the record ends in the middle of its JSON"


@given(st.lists(ANY_JSON.map(lambda value: {"messages": [], "v": value}), min_size=1, max_size=5), st.data())
def test_layouts_give_the_same_values_however_they_are_chunked(
    records: list[Any], data: st.DataObject
) -> None:
    indent = data.draw(st.sampled_from([None, 0, 3]))
    spelt = [json.dumps(record, indent=indent, ensure_ascii=True) for record in records]
    separators = {
        "list": ("[", data.draw(st.sampled_from([",", " ,\n", "\r\n,"])), "]\n"),
        "values": ("", "\n", "\n"),
    }
    before, between, after = separators[data.draw(st.sampled_from(["list", "values"]))]
    text = (before + between.join(spelt) + after).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "CHUNK_BYTES", data.draw(st.integers(1, 9)))
        patch.setattr(splitting, "HEAD_BYTES", data.draw(st.sampled_from([64, 4096])))
        stream = Drip(text, data.draw(st.integers(1, 9)))
        found = list(read_records(stream, filename="f"))  # type: ignore[arg-type]
    assert [repr(item.value) for item in found if isinstance(item, Record)] == [
        repr(json.loads(one)) for one in spelt
    ]


def test_layouts_are_told_from_the_head() -> None:
    assert json_head(b'{"a": 1}\n{"a": 2}').layout is Layout.LINES
    assert json_head(b'{\n "a": 1\n}').layout is Layout.VALUES
    assert json_head(b'{"messages": [\n{"role": "user"').layout is Layout.VALUES
    assert json_head(b' [ {"messages": [').layout is Layout.LIST
    assert json_head(b"").layout is Layout.LINES
    assert json_head(b'[{"messages": [{"role": "user"}], "id": "[{\\"x\\": 1"').keys == {"messages", "id"}
    assert json_head(b'{"k\\u0065y": {"inner": 1}, "other').keys == {"key"}


# ── What real logs contain ────────────────
@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a": "\u0000"}', {"a": "\x00"}),
        (rb'{"a": "\ud800x"}', {"a": "\ud800x"}),
        (rb'{"a": "\ud83d\ude00"}', {"a": "\U0001f600"}),
        (b'{"a": [Infinity, -Infinity, 1e999, -1e999]}', {"a": [1e999, -1e999, 1e999, -1e999]}),
        (b'{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        ('{"a": "\u2028\u0085\x0b"}'.replace("\x0b", "\\u000b").encode(), {"a": "\u2028\u0085\x0b"}),
        (b'{"a": "' + b"[" * 5000 + b'"}', {"a": "[" * 5000}),
        (b'{"a": "' + rb"\"[\\" * 5000 + b'"}', {"a": '"[\\' * 5000}),
    ],
)
def test_json_of_real_logs_is_read_exactly(raw: bytes, value: Any) -> None:
    assert values(raw + b"\n") == [value]


def test_json_nan_is_read() -> None:
    assert repr(values(b'{"a": NaN}')) == "[{'a': nan}]"


# ── Bad input ─────────────────────────────
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "f.jsonl: the file is empty"),
        (b"\xef\xbb\xbf", "f.jsonl: the file is empty"),
        (b"\n \r\n\t\n", "f.jsonl: the file contains no records"),
        (b"[]", "f.jsonl: the file contains no records"),
        (b"{}\n{", "f.jsonl:2: is cut off: the record ends in the middle of its JSON"),
        (b'{}\n{"a": "b', "f.jsonl:2: is cut off: the record ends in the middle of its JSON"),
        (
            b'{"a": 1,}',
            "f.jsonl:1: is not valid JSON: Expecting property name enclosed in double quotes at column 9",
        ),
        (b'{"a": 1} x', "f.jsonl:1: is not valid JSON: Extra data at column 10"),
        (b'{"a": "b\tc"}', "f.jsonl:1: is not valid JSON: Invalid control character at column 9"),
        ('{"a": "é"}'.encode("utf-16"), "f.jsonl: the file is in UTF-16 or UTF-32; save it as UTF-8"),
        ('{"a": "é"}'.encode("utf-16-le"), "f.jsonl: the file is not UTF-8 text (UTF-16 or binary)"),
        (b"\x1f\x8b\x08\x00", "f.jsonl: the file is compressed; unpack it first"),
        (
            '{}\n{"a": "é"}'.encode("latin-1"),
            "f.jsonl:2: is not UTF-8 text: byte 0xE9 at byte 11 of the file; save the file as UTF-8",
        ),
        (
            b'{"a": "\xed\xa0\x80"}',
            "f.jsonl:1: is not UTF-8 text: byte 0xED at byte 8 of the file; save the file as UTF-8",
        ),
        (b'{"a": ' + b"9" * 5000 + b"}", "f.jsonl:1: contains an integer of more than 4,300 digits"),
        (b"[" * 100_000, "f.jsonl:1: is nested deeper than 200 levels"),
        (b"[" * 100_000 + b"]" * 100_000, "f.jsonl:1: is nested deeper than 200 levels"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "f.jsonl:1: is nested deeper than 200 levels"),
        (b'{"a": [' + b"[]," * 500_000 + b"1]}", "f.jsonl:1: contains more than 500,000 lists and objects"),
        (b'[{"messages": []}, {"mess', "f.jsonl:1: is cut off: the record ends in the middle of its JSON"),
        (b'[{"messages": []},\n', "f.jsonl:2: the file is cut off: it ends before its list is closed"),
        (
            b'[{"messages": []}]\n{}',
            "f.jsonl:2: the file continues after the end of its list; the rest was not read",
        ),
        (
            b'[{"messages": []},\n {"a" 1}]',
            "f.jsonl:2: is not valid JSON: Expecting ':' delimiter at column 6",
        ),
        (b'{\n "a": 1,\n "b": x\n}', "f.jsonl:1: is not valid JSON: Expecting value at line 3, column 7"),
    ],
)
def test_json_that_is_bad_gets_one_clear_sentence(data: bytes, sentence: str) -> None:
    assert errors(data)[:1] == [sentence]


def test_json_nesting_up_to_the_limit_is_fine() -> None:
    deep = b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1)
    assert values(b'{"a": ' + deep + b"}")
    with pytest.raises(BadJson, match="200 levels"):
        parse_bytes(b'{"a": [' + deep + b"]}")
    with pytest.raises(BadJson, match="200 levels"):
        parse_text("[" * 100_000)


@given(ANY_JSON)
def test_json_depth_is_that_of_the_parsed_value(value: Any) -> None:
    def depth(item: Any) -> int:
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    assert depth_of(json.dumps(value, ensure_ascii=True).encode()) == depth(value)


@given(st.binary(max_size=200) | st.text('[]{}",:\\ \n1a', max_size=60).map(str.encode))
def test_json_of_any_bytes_does_not_raise(data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "CHUNK_BYTES", 3)
        found = list(read_records(io.BytesIO(data), filename="f"))
    assert found
    assert all(item.line >= 0 for item in found)


# ── Size ──────────────────────────────────
@pytest.mark.parametrize("layout", ["lines", "list"])
def test_record_over_the_limit_is_refused_by_line_and_the_others_are_read(layout: str) -> None:
    big = b'{"messages": [], "a": "' + b"x" * 3000 + b'"}'
    parts = [b'{"messages": []}', big, b'{"messages": []}']
    data = b"\n".join(parts) if layout == "lines" else b"[" + b",\n".join(parts) + b"]"
    found = read(data, 1000)
    assert [type(item) for item in found] == [Record, RecordError, Record]
    assert [item.line for item in found] == [1, 2, 3]
    assert str(found[1]) == "f.jsonl:2: is larger than 1,000 bytes, the limit for one record"
    assert not errors(data, len(big))
    assert errors(data, len(big) - 1)


class Endless(io.RawIOBase):
    """`size` bytes on one line that nobody ever holds, then a good record."""

    def __init__(self, size: int, start: bytes, end: bytes) -> None:
        self.left, self.start, self.end = size, start, end

    def read(self, size: int = -1) -> bytes:
        if self.start:
            taken, self.start = self.start[:size], self.start[size:]
        elif self.left:
            taken = b"x" * min(size, self.left)
            self.left -= len(taken)
        else:
            taken, self.end = self.end[:size], self.end[size:]
        return taken

    def readline(self, size: int | None = -1) -> bytes:
        assert size is not None and size > 0
        if self.start or self.left:
            return self.read(size)
        cut = self.end.find(b"\n") + 1 or len(self.end)
        return self.read(min(size, cut))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (b'{"messages": "', b'"}\n{"messages": []}\n'),
        (b'[{"messages": "', b'"},\n{"messages": []}]\n'),
    ],
)
def test_line_of_200_mb_is_refused_without_being_held(start: bytes, end: bytes) -> None:
    limit = 1 << 20
    stream = Endless(200 << 20, start, end)
    tracemalloc.start()
    found = list(read_records(stream, filename="f", max_record_bytes=limit))  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [str(item) if isinstance(item, RecordError) else item.line for item in found] == [
        "f:1: is larger than 1 MB, the limit for one record",
        2,
    ]
    assert peak < 8 << 20


def test_error_as_json() -> None:
    error = RecordError("f", 3, "messages[0].role", "is missing")
    assert str(error) == "f:3: messages[0].role: is missing"
    assert error.as_dict() == {"line": 3, "field": "messages[0].role", "reason": "is missing"}
