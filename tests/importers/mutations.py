"""Damaged copies of the golden files.

A handful a format keeps the suite quick; `MUTATIONS_A_FORMAT=2000` asks for more.
"""

import json
import os
import random
import re
from collections.abc import Iterator
from typing import Any

from tests.importers import golden

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


def mutations(name: str, how_many: int) -> Iterator[tuple[str, bytes]]:
    """Golden files of a format, each damaged once to three times, with their names: always the same ones."""
    chance = random.Random(f"{name} 13")
    files = [(path.name, path.read_bytes()) for path in golden.files() if golden.format_of(path) == name]
    for _ in range(int(os.environ.get("MUTATIONS_A_FORMAT", how_many))):
        filename, data = chance.choice(files)
        for _ in range(chance.randrange(1, 4)):
            data = damaged(data, chance) or b"{"
        yield filename, data
