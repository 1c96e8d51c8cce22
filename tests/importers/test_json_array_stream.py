"""Elements at a path within one large object."""

import io
import json
import random
from typing import Any

import pytest

from annotation.core.jsonio import splitting
from annotation.importers import RecordError
from annotation.importers.parts import json_array_stream
from annotation.importers.parts.json_array_stream import Element, records_at

LOG = {
    "version": 2,
    "eval": {"model": 'm}]\\"'},
    "samples": [{"id": i, "x": ["]", {"\\": '"}'}]} for i in range(5)],
    "stats": {"n": 1},
}
SPANS = {
    "resourceSpans": [
        {
            "resource": {"r": number},
            "scopeSpans": [{"scope": {"s": 1}, "spans": [{"i": i} for i in range(3)]}],
        }
        for number in range(2)
    ]
}


def read(data: bytes | str, *path: str, limit: int = 1 << 20) -> list[Element | RecordError]:
    data = data.encode() if isinstance(data, str) else data
    return list(records_at(io.BytesIO(data), path, filename="f.json", max_record_bytes=limit))


def values(found: list[Element | RecordError]) -> list[Any]:
    assert all(isinstance(item, Element) for item in found), found
    return [item.value for item in found if isinstance(item, Element)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 18])
def test_elements_are_those_that_a_json_reader_finds(
    indent: int | None, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_array_stream, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(splitting, "HEAD_BYTES", 1)
    text = json.dumps(LOG, indent=indent)
    found = read(text, "samples")
    assert values(found) == LOG["samples"]
    first = found[0]
    assert isinstance(first, Element)
    assert first.beside(0, "eval") == LOG["eval"]
    assert first.beside(0, "stats") == LOG["stats"], "what comes after is there once it has been passed"
    assert text.encode().splitlines()[first.line - 1].count(b"{") >= 1
    assert json.loads(first.raw) == first.value


def test_elements_deep_in_lists_know_what_stands_around_them() -> None:
    found = read(json.dumps(SPANS), "resourceSpans", "scopeSpans", "spans")
    assert values(found) == [{"i": i} for i in range(3)] * 2
    around = [item.beside(1, "resource") for item in found if isinstance(item, Element)]
    assert around == [{"r": 0}] * 3 + [{"r": 1}] * 3


@pytest.mark.parametrize("layout", ["{0}\n{0}\n", "[{0},\n{0}]", "{0} {0}"])
def test_elements_of_several_objects(layout: str) -> None:
    assert values(read(layout.replace("{0}", json.dumps(LOG)), "samples")) == [*LOG["samples"]] * 2  # type: ignore[misc]


def test_elements_of_a_member_that_is_one_object() -> None:
    assert values(read('{"a": {"b": 1}, "c": 2}', "a")) == [{"b": 1}]
    assert values(read('{"a": {"b": [1, {}]}}', "a", "b")) == [1, {}]


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "[]", "{}", '{"samples": null}', '{"samples": []}', '[[{"samples": [1]}]]']
)
def test_elements_of_a_file_without_the_path_are_none(text: str) -> None:
    assert read(text, "samples") == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"samples": [{"a": 1}, {"b"', "f.json:1: the file is cut off: it ends in the middle of its JSON"),
        ('{"samples": [1', "f.json:1: the file is cut off: it ends in the middle of its JSON"),
        ('{"samp', "f.json:1: the file is cut off: it ends in the middle of its JSON"),
        ('\n7', "f.json:2: is not valid JSON here: an object, a list or a key was expected"),
        ('{"samples": ]', "f.json:1: is not valid JSON here: an object, a list or a key was expected"),
        ("{samples: []}", "f.json:1: is not valid JSON here: an object, a list or a key was expected"),
        ('{"samples": [{"a" 1}]}', "f.json:1: is not valid JSON: Expecting ':' delimiter at column 6"),
        ('{"' + "k" * 70_000, "f.json:1: has a key of more than 64 KB"),
        ("PK\x03\x04", "f.json: the file is compressed; unpack it first"),
    ],
)  # fmt: skip
def test_elements_of_a_broken_file_are_refused_in_words(text: str, sentence: str) -> None:
    assert [str(item) for item in read(text, "samples") if isinstance(item, RecordError)] == [sentence]


def test_element_over_the_limit_is_passed_over() -> None:
    found = read(json.dumps({"samples": [{"x": "y" * 5000}, {"z": 1}]}), "samples", limit=1000)
    assert [str(item) for item in found[:1]] == [
        "f.json:1: is larger than 1,000 bytes, the limit for one record"
    ]
    assert values(found[1:]) == [{"z": 1}]


def test_elements_of_damaged_files_never_raise() -> None:
    chance = random.Random(13)
    data = bytearray(json.dumps(SPANS, indent=1).encode())
    for _ in range(500):
        damaged = bytearray(data)
        for _ in range(3):
            damaged[chance.randrange(len(damaged))] = chance.choice(b'{}[]",:\\ x0')
        read(bytes(damaged[: chance.randrange(len(damaged))]), "resourceSpans", "scopeSpans", "spans")
