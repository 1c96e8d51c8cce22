"""Damaged files of every format: a reader and a sniffer say what is wrong, and raise nothing.

`MUTATIONS` a format keep the suite quick; `MUTATIONS_A_FORMAT=2000` asks for more.
"""

import io
import json
import os
import random
import re
from typing import Any

import pytest

from annotation.core.canonical import content_digest
from annotation.core.errors import Invalid
from annotation.core.trajectory import TrajectoryDraft, normalise, pair_results, step_indexes
from annotation.importers import FORMATS, ReadContext, RecordError, sniff
from tests.importers import golden

MUTATIONS = int(os.environ.get("MUTATIONS_A_FORMAT", "40"))
ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 10**30, float("nan"), "", "\x00", "\ud800", "x" * 300,
    "data:image/png;base64,@@",
    [], {}, [[]], [None], {"type": "image"}, {"": None}, "{", "attachment://x", "2026-02-30T99:99:99Z",
]  # fmt: skip
STRINGS = re.compile(rb'"[^"\\]*"|\d+|true|false|null')


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The file with a value replaced, a byte changed, a piece repeated or its end cut off."""
    way = chance.randrange(5)
    at = chance.randrange(len(data))
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    if way == 2:
        piece = data[at : at + chance.randrange(1, 200)]
        return data[:at] + piece + data[at:]
    tokens = list(STRINGS.finditer(data))
    if not tokens:
        return data[:at]
    token = chance.choice(tokens)
    return data[: token.start()] + json.dumps(chance.choice(ODD)).encode() + data[token.end() :]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_damaged_files_of_a_format_are_read_or_refused(name: str) -> None:
    chance = random.Random(f"{name} 13")
    files = [path.read_bytes() for path in golden.files() if golden.format_of(path) == name]
    for _ in range(MUTATIONS):
        data = chance.choice(files)
        for _ in range(chance.randrange(1, 4)):
            data = damaged(data, chance) or b"{"
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
