"""Read JSON as structure: fields by name, lists, passages of documents; texts as texts.

Numbers and other literals keep the letters they were written with; repeated keys stay. Nothing is lost
against the text but its spacing: what cannot be shown so is not a structure (`read` answers None).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

MAX_TEXT: Final = 100_000
MAX_NODES: Final = 600
MAX_DEPTH: Final = 12
LONG: Final = 80

_TITLES: Final = ("title", "heading", "name")
_TEXTS: Final = (
    "contents",
    "content",
    "text",
    "snippet",
    "passage",
    "body",
    "summary",
    "description",
    "abstract",
)
_ADDRESSES: Final = ("url", "link", "href", "source", "uri")
_WRAPPED: Final = ("document", "doc", "metadata")


class Literal(str):
    """A number, true, false or null, as it was written."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    text: str
    kind: ClassVar = "text"

    @property
    def inline(self) -> bool:
        """Whether it fits on a line beside its name."""
        return _width(self) <= LONG


@dataclass(frozen=True, slots=True)
class Value:
    """A literal, or an empty list or object ("[]", "{}")."""

    text: str
    kind: ClassVar = "value"


@dataclass(frozen=True, slots=True)
class Fields:
    """An object: names and values, in order. `flat`: short values only, so that they fit on a line."""

    items: tuple[tuple[str, Node], ...]
    flat: bool
    kind: ClassVar = "fields"


@dataclass(frozen=True, slots=True)
class Items:
    """A list. `flat`: short values only."""

    items: tuple[Node, ...]
    flat: bool
    kind: ClassVar = "items"


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved document: its title, its text, where it comes from, and what else is known of it."""

    title: str
    text: str
    address: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Passages:
    """Documents in the order they came, best first as a rule."""

    items: tuple[Passage, ...]
    kind: ClassVar = "passages"


Node = Text | Value | Fields | Items | Passages


class _TooMuch(Exception):
    """More structure than can be read."""


def read(text: str) -> Node | None:
    """The structure of a JSON object or list; None for anything else, or for more than `MAX_NODES` values."""
    stripped = text.strip()
    if stripped[:1] not in ("{", "[") or len(text) > MAX_TEXT:
        return None
    try:
        value = json.loads(
            stripped,
            object_pairs_hook=_Pairs,
            parse_int=Literal,
            parse_float=Literal,
            parse_constant=Literal,
        )
        return _Builder().node(value, 0) if value else None
    except (ValueError, RecursionError, _TooMuch):
        return None


def of(value: Any) -> Node | None:
    """The structure of a parsed value (the reference answer, hints); strings that hold JSON stay strings."""
    try:
        return _Builder().node(_Pairing().pairs(value, 0), 0)
    except (_TooMuch, RecursionError):
        return None


class _Pairs(list[tuple[str, Any]]):
    """An object as its pairs."""


class _Pairing:
    """Puts pairs for the objects of a parsed value, and stops before a large one has cost much."""

    def __init__(self) -> None:
        self.count = 0

    def pairs(self, value: Any, depth: int) -> Any:
        self.count += 1
        if self.count > 20 * MAX_NODES or depth > MAX_DEPTH:
            raise _TooMuch
        if isinstance(value, dict):
            return _Pairs((str(name), self.pairs(one, depth + 1)) for name, one in value.items())
        if isinstance(value, list):
            return [self.pairs(one, depth + 1) for one in value]
        return value if isinstance(value, str) else Literal(json.dumps(value))


class _Builder:
    """Makes nodes, and stops when they are too many."""

    def __init__(self) -> None:
        self.count = 0

    def node(self, value: Any, depth: int) -> Node:
        self.count += 1
        if self.count > MAX_NODES or depth > MAX_DEPTH:
            raise _TooMuch
        if isinstance(value, Literal):
            return Value(str(value))
        if isinstance(value, str):
            return Text(value)
        if isinstance(value, bool) or value is None:
            return Value(json.dumps(value))
        if not value:
            return Value("{}" if isinstance(value, _Pairs) else "[]")
        if isinstance(value, _Pairs):
            fields = tuple((name, self.node(one, depth + 1)) for name, one in value)
            width = sum(len(name) + _width(one) for name, one in fields)
            return Fields(fields, width <= 2 * LONG)
        passages = _passages(value)
        if passages is not None:
            self.count += len(passages)
            if self.count > MAX_NODES:
                raise _TooMuch
            return Passages(passages)
        items = tuple(self.node(one, depth + 1) for one in value)
        if len(items) == 1 and isinstance(items[0], Passages):
            return items[0]  # a search for one question: a list of one list
        widths = [_width(one) for one in items]
        return Items(items, sum(widths) <= 2 * LONG and max(widths) <= LONG // 2)


def _width(node: Node) -> int:
    if isinstance(node, Text | Value) and "\n" not in node.text:
        return len(node.text)
    return 1_000_000


def _passages(value: list[Any]) -> tuple[Passage, ...] | None:
    passages = []
    for one in value:
        passage = _passage(one) if isinstance(one, _Pairs) else None
        if passage is None:
            return None
        passages.append(passage)
    return tuple(passages)


def _passage(value: _Pairs) -> Passage | None:
    pairs = list(_unwrapped(value))
    fields = dict(pairs)
    if len(fields) < len(pairs):
        return None
    text_key = _first_string(fields, _TEXTS)
    if text_key is None:
        return None
    title_key = _first_string(fields, _TITLES)
    address_key = _first_string(fields, _ADDRESSES)
    rest = {key: one for key, one in fields.items() if key not in (text_key, title_key, address_key)}
    facts = tuple((name, _short(one)) for name, one in rest.items())
    if any(one is None for _, one in facts):
        return None
    text = fields[text_key]
    title = fields[title_key] if title_key else ""
    if not title and text_key == "contents" and "\n" in text:  # wiki-18 dumps: "title"\ntext
        title, text = text.split("\n", 1)
        title = title.removeprefix('"').removesuffix('"')
    if not address_key and (not title or title_key == "name"):
        return None
    address = fields[address_key] if address_key else ""
    return Passage(title, text, address, tuple((name, one or "") for name, one in facts))


def _short(value: Any) -> str | None:
    """A value that fits behind its name on a line, as text."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(value) if isinstance(value, str) and len(value) <= LONG and "\n" not in value else None


def _unwrapped(value: _Pairs) -> Iterator[tuple[str, Any]]:
    for name, one in value:
        if name in _WRAPPED and isinstance(one, _Pairs):
            yield from one
        else:
            yield name, one


def _first_string(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        if type(fields.get(name)) is str:  # and no Literal
            return name
    return None


def only_text(text: str) -> str:
    """The one string of a JSON object with a single field; any other text as it is."""
    node = read(text)
    if isinstance(node, Fields) and len(node.items) == 1 and isinstance(node.items[0][1], Text):
        return node.items[0][1].text
    return text


def count(node: Node) -> int:
    """The number of values that a structure draws, itself included."""
    if isinstance(node, Passages):
        return 1 + sum(3 + len(one.facts) for one in node.items)
    if isinstance(node, Fields):
        return 1 + sum(count(one) for _, one in node.items)
    return 1 + sum(map(count, node.items)) if isinstance(node, Items) else 1


def texts(node: Node) -> Iterator[str]:
    """Every text of a structure, names among them, in their order."""
    if isinstance(node, Text | Value):
        yield node.text
    elif isinstance(node, Passages):
        for one in node.items:
            yield from (one.title, *(f"{name} {value}" for name, value in one.facts), one.address, one.text)
    elif isinstance(node, Fields):
        for name, value in node.items:
            yield name
            yield from texts(value)
    else:
        for item in node.items:
            yield from texts(item)


def lines(node: Node, width: int = 90) -> int:
    """About how many lines a structure takes on a page of `width` letters."""
    if isinstance(node, Text | Value):
        return _lines_of(node.text, width)
    if isinstance(node, Passages):
        return sum(1 + _lines_of(one.text, width) + bool(one.address) for one in node.items)
    if node.flat:
        return 2 if sum(len(str(one)) for one in node.items) > 3 * width else 1
    if isinstance(node, Items):
        return sum(lines(one, width) for one in node.items)
    return sum(_field_lines(one, width) for _, one in node.items)


def _field_lines(node: Node, width: int) -> int:
    inline = isinstance(node, Value) or (isinstance(node, Text) and node.inline)
    return lines(node, width) + (0 if inline else 1)


def _lines_of(text: str, width: int) -> int:
    return sum(1 + len(line) // width for line in text.split("\n"))


def tells_error(text: str) -> bool:
    """Whether a tool's output says of itself that the call failed: an `error` field, or a text that begins
    with "Error"."""
    stripped = text.lstrip()
    if stripped[:6].lower() == "error:" or stripped.startswith(("Traceback (most recent", "Error ")):
        return True
    if not stripped.startswith("{") or '"error"' not in stripped[:MAX_TEXT]:
        return False
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value.get("error"))
