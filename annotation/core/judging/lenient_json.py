"""Find the JSON object in a model's answer: the last complete one that has the right keys.

Before it may stand reasoning, code fences, drafts and other objects; after it anything. What is read although
it is not JSON, because it cannot be misunderstood: comments, commas before a closing bracket, a plus sign
before a number, line breaks inside strings. An object that is cut off is never read, nor an earlier one
in its place.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

MAX_ANSWER_CHARS: Final = 2_000_000
_MAX_WORK: Final = 30_000_000
"""Characters looked at, all attempts together: hostile text cannot make the search quadratic."""

_OPENING: Final = re.compile(r'\{(?=\s*+(?:"(?:[^"\\]|\\.){0,200}+"\s*+(?:[:/]|\Z)|/[/*]|\}))')
_TO_THE_END: Final = re.compile(r"[\\\w+-]{0,8}\Z")  # of a number, a word or an escape, or nothing
_CONTAINER: Final = list | dict


class Object(dict[str, Any]):
    """A JSON object. `contradictory`: keys that occur more than once in it with different values."""

    contradictory: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """`value`: the object, or `None`. `cut`: there was one, but the text ends inside it; `any_json`:
    there was some JSON object. `lenient`: it was read although it was not quite JSON."""

    value: Object | None = None
    cut: bool = False
    any_json: bool = False
    lenient: bool = False


def last_object(text: str, key: str) -> Found:
    """The last object in `text` that has a list or an object under `key`. Never raises."""
    search = _Search(text, key)
    try:
        return search.run()
    except RecursionError:
        return Found(any_json=search.any_json)


class _Failed(Exception):
    """Raised where no object begins. `cut`: because the text ends."""

    def __init__(self, cut: bool) -> None:
        super().__init__()
        self.cut = cut


class _Search:
    def __init__(self, text: str, key: str) -> None:
        self.text = text.rstrip()
        self.key = key
        self.last_key = max((seen.start() for seen in re.finditer(rf'(?<!\\)"{key}"', text)), default=-1)
        self.work = 0
        self.any_json = False

    def run(self) -> Found:
        found = Found()
        position = 0
        while (opening := _OPENING.search(self.text, position)) and self.work < _MAX_WORK:
            start = opening.start()
            position = start + 1
            try:
                value, end, lenient = self._object(start)
            except _Failed as failed:
                if failed.cut and start < self.last_key:
                    return Found(cut=True, any_json=self.any_json)
                continue
            self.any_json = True
            if isinstance(value.get(self.key), _CONTAINER) or self.key in value.contradictory:
                found = Found(value, any_json=True, lenient=lenient)
                position = end
        if self.work >= _MAX_WORK:
            return Found(any_json=self.any_json)  # the last object may not have been reached
        return found if found.value is not None else Found(any_json=self.any_json)

    def _object(self, start: int) -> tuple[Object, int, bool]:
        """The object at `start`, where it ends, and whether it was mended; `_Failed` without one."""
        text, decoder, lenient = self.text, _STRICT, False
        while True:
            try:
                value, end = decoder.raw_decode(text, start)
            except json.JSONDecodeError as error:
                self.work += max(error.pos - start, 1) + error.pos // 8  # the error counts its lines
                if error.msg.startswith("Invalid control character") and decoder is _STRICT:
                    decoder, lenient = _LINES, True
                    continue
                mended = _mended(text, error.pos)
                if mended is None:
                    unterminated = error.msg.startswith("Unterminated string")
                    raise _Failed(unterminated or bool(_TO_THE_END.match(text, error.pos))) from None
                text, lenient = mended, True
                self.work += len(text) // 20
                if self.work >= _MAX_WORK:
                    raise _Failed(False) from None
                continue
            self.work += (end - start) // 20  # read in one go, and looked into only when it has not the key
            return value, end, lenient


def _mended(text: str, at: int) -> str | None:
    """`text` with what the parser stumbled over at `at` blanked out, or `None`: it is not of that sort.

    The parser itself says where strings are: it never stumbles inside one.
    """
    two = text[at : at + 2]
    if two == "//":
        end = text.find("\n", at)
        return _blank(text, at, len(text) if end < 0 else end)
    if two == "/*":
        end = text.find("*/", at + 2)
        return _blank(text, at, len(text) if end < 0 else end + 2)
    if two[:1] == "+" and two[1:].isdigit():
        return _blank(text, at, at + 1)
    comma = at
    if two[:1] in ("}", "]"):
        comma = at - 1
        while comma > 0 and text[comma].isspace():
            comma -= 1
    elif two[:1] == "," and not _closes(text, at + 1):
        return None
    return _blank(text, comma, comma + 1) if text[comma : comma + 1] == "," else None


def _closes(text: str, at: int) -> bool:
    while at < len(text) and text[at].isspace():
        at += 1
    return text[at : at + 1] in ("}", "]")


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _of(pairs: list[tuple[str, Any]]) -> Object:
    found = Object(pairs)
    if len(found) < len(pairs):
        first: dict[str, Any] = {}
        found.contradictory = frozenset(
            key for key, value in pairs if not _same(first.setdefault(key, value), value)
        )
    return found


def _same(one: Any, other: Any) -> bool:
    """Whether two values under one key are the same; lists and objects are not looked into."""
    return one is other or (type(one) is type(other) and not isinstance(one, _CONTAINER) and one == other)


def _int(digits: str) -> int | str:
    """Python refuses to read more than 4,300 digits; no number that long is one of ours."""
    return int(digits) if len(digits) <= 20 else digits[:20] + "…"


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_of, parse_int=_int)
_LINES: Final = json.JSONDecoder(object_pairs_hook=_of, parse_int=_int, strict=False)
