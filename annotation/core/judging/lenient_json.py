"""Find the JSON object in a model's answer: the last one that has one of the right keys.

Before it may stand reasoning, code fences, drafts and other objects; after it anything. What is read although
it is not JSON, because it cannot be misunderstood: comments, commas before a closing bracket, a plus sign
before a number, line breaks inside strings. Of an object that is cut off, the values that were finished
before the cut are read, and never an earlier object in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

MAX_ANSWER_CHARS: Final = 2_000_000
_MAX_WORK: Final = 30_000_000
"""Characters looked at, all attempts together: hostile text cannot make the search quadratic."""

_OPENING: Final = re.compile(r'\{(?=\s*+(?:"(?:[^"\\]|\\.){0,200}+"\s*+(?:[:/]|\Z)|/[/*]|\}))')
_TO_THE_END: Final = re.compile(r"[\\\w+./-]{0,8}\Z")  # of a number, word, comment or escape, or nothing
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:(?P<quote>")|\\?\Z)|[\[\]{},:]', re.DOTALL)
_THINKING: Final = re.compile(r"\s*<think>(?!.*</think>)", re.DOTALL)
_BEGUN: Final = re.compile(r'\{\s*+"?+(\w{0,20})\Z')
_CONTAINER: Final = list | dict


class JsonObject(dict[str, Any]):
    """A JSON object. `contradictory`: keys that occur more than once in it with different values."""

    contradictory: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundObject:
    """`value`: the object, or `None`. `cut`: the text ends inside it, and `value` has what was finished until
    then. `any_json`: there was some JSON object. `lenient`: it was read although it was not quite JSON."""

    value: JsonObject | None = None
    cut: bool = False
    any_json: bool = False
    lenient: bool = False


def last_object(text: str, keys: Sequence[str], *, cut_off: bool = False) -> FoundObject:
    """The last object in `text` that has a list or an object under one of `keys`. Never raises.

    `cut_off`: the text is known to end too early, so that an object before a begun one was a draft.
    """
    search = _Search(text, keys)
    if cut_off and _THINKING.match(text):
        return FoundObject(cut=True)
    try:
        candidate, end = search.run()
    except RecursionError:
        return FoundObject(any_json=search.any_json)
    if cut_off and candidate.value is not None and not candidate.cut and search.begins_anew(end):
        return FoundObject(cut=True, any_json=True)
    return candidate


class _Failed(Exception):
    """Raised where no object begins. `cut`: because the text ends; `text` is then what was mended of it."""

    def __init__(self, cut: bool, text: str = "") -> None:
        super().__init__()
        self.cut = cut
        self.text = text


class _Search:
    def __init__(self, text: str, keys: Sequence[str]) -> None:
        self.text = text.rstrip()
        self.keys = keys
        written = rf'(?<!\\)"(?:{"|".join(keys)})"'
        self.last_key = max((seen.start() for seen in re.finditer(written, text)), default=-1)
        self.work = 0
        self.any_json = False

    def begins_anew(self, position: int) -> bool:
        """Whether the text ends within the first key of another object of the wanted sort."""
        begun = _BEGUN.search(self.text, position)
        return begun is not None and any(key.startswith(begun.group(1)) for key in self.keys)

    def run(self) -> tuple[FoundObject, int]:
        """The found object, and where it ends."""
        candidate, cut = FoundObject(), False
        position = 0
        while (opening := _OPENING.search(self.text, position)) and self.work < _MAX_WORK:
            start = opening.start()
            position = start + 1
            try:
                value, end, lenient = self._object(start)
            except _Failed as failed:
                if failed.cut and start < self.last_key:
                    cut = True
                    candidate = FoundObject(self._finished(failed.text, start), cut=True)
                    if candidate.value is not None:
                        break
                continue  # what is asked for may lie deeper
            self.any_json = True
            # inside what is cut off it counts only when nothing of the sort was begun after it
            if self._wanted(value) and (not cut or start <= self.last_key < end):
                candidate = FoundObject(value, lenient=lenient)
                position = end
        if self.work >= _MAX_WORK:
            return FoundObject(any_json=self.any_json), position  # the last object may not have been reached
        return replace(candidate, any_json=self.any_json or candidate.value is not None), position

    def _wanted(self, value: JsonObject) -> bool:
        return any(isinstance(value.get(key), _CONTAINER) or key in value.contradictory for key in self.keys)

    def _finished(self, text: str, start: int) -> JsonObject | None:
        """The object that begins at `start` and is cut off, as far as its values were finished."""
        self.work += (len(text) - start) // 4
        whole = _closed(text, start)
        value = _LINES.decode(whole) if whole else None
        return value if isinstance(value, JsonObject) and self._wanted(value) else None

    def _object(self, start: int) -> tuple[JsonObject, int, bool]:
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
                    cut = unterminated or bool(_TO_THE_END.match(text, error.pos))
                    raise _Failed(cut, text) from None
                text, lenient = mended, True
                self.work += len(text) // 20
                if self.work >= _MAX_WORK:
                    raise _Failed(False) from None
                continue
            self.work += (end - start) // 20  # read in one go, and looked into only when it has not the key
            return value, end, lenient


def _closed(text: str, start: int) -> str:
    """The JSON from `start` on, up to the last value that is certainly finished, and the brackets it lacks.

    Finished is what a comma or a closing bracket follows, and a string with both its quotes; a number at the
    very end is not: it may have had more digits. Empty when nothing is.
    """
    brackets: list[str] = []
    end, missing, before = start, "", ""
    for match in _TOKEN.finditer(text, start):
        token = match.group()
        if token in "{[":
            brackets.append("}" if token == "{" else "]")
        elif token in "}]":
            brackets.pop()
        whole_string = match["quote"] is not None and before == ":"
        if token in "}]" or whole_string:
            end, missing = match.end(), "".join(reversed(brackets))
        elif token == ",":
            end, missing = match.start(), "".join(reversed(brackets))
        before = token
    return text[start:end] + missing if end > start else ""


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


def _of(pairs: list[tuple[str, Any]]) -> JsonObject:
    object_ = JsonObject(pairs)
    if len(object_) < len(pairs):
        first: dict[str, Any] = {}
        object_.contradictory = frozenset(
            key for key, value in pairs if not _same(first.setdefault(key, value), value)
        )
    return object_


def _same(a: Any, b: Any) -> bool:
    """Whether two values under one key are the same; lists and objects are not looked into."""
    return a is b or (type(a) is type(b) and not isinstance(a, _CONTAINER) and a == b)


def _int(digits: str) -> int | str:
    """Python refuses to read more than 4,300 digits; no number that long is one of ours."""
    return int(digits) if len(digits) <= 20 else digits[:20] + "…"


_STRICT: Final = json.JSONDecoder(object_pairs_hook=_of, parse_int=_int)
_LINES: Final = json.JSONDecoder(object_pairs_hook=_of, parse_int=_int, strict=False)
