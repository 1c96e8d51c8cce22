"""Blocks of a message: text, structure or picture, and whether it folds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from annotation.core.jsonio.jsonlines import BadJson, parse_text
from frontend.rendering import structure
from frontend.rendering.control_chars import escape_control_chars

FOLD_FROM_LINES: Final = 16
"""A long output is clamped to about 12 lines; one that is a little longer is not worth a fold."""
FOLD_FROM_CHARACTERS: Final = 1800
LAY_OUT_UP_TO: Final = 200_000
SHOWN_CHARACTERS: Final = 100_000
"""Of a longer text only so many are drawn."""

_INDENTED: Final = json.JSONEncoder(indent=2, ensure_ascii=False)


def laid_out(value: Any) -> str:
    """A parsed JSON value with line breaks and indents; a large one not much beyond what is drawn."""
    pieces, size = [], 0
    for piece in _INDENTED.iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > SHOWN_CHARACTERS:
            break
    return escape_control_chars("".join(pieces))


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of text. `code`: written by a machine for a machine. `marked`: from where to where it is other
    than the text that it is held against."""

    text: str
    code: bool = False
    foldable: bool = False
    kind: str = "text"
    marked: tuple[int, int] | None = None

    @property
    def lines(self) -> int:
        """The number of lines."""
        return self.text.count("\n") + 1

    @property
    def size(self) -> int:
        """The number of characters."""
        return len(self.text)

    @property
    def folds(self) -> bool:
        """Whether it is long enough to be clamped."""
        return self.foldable and (self.lines > FOLD_FROM_LINES or len(self.text) > FOLD_FROM_CHARACTERS)


@dataclass(frozen=True, slots=True)
class StructureBlock:
    """JSON as structure, and as it was `written`."""

    node: structure.Node
    written: str
    foldable: bool = False
    kind: str = "structure"

    @property
    def size(self) -> int:
        """The number of characters it was written with."""
        return len(self.written)

    @property
    def folds(self) -> bool:
        """Whether it is long enough to be clamped."""
        return self.foldable and structure.lines(self.node) > FOLD_FROM_LINES


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """An image inside a message, served by us."""

    message_index: int
    part_index: int
    kind: str = "image"


Block = TextBlock | StructureBlock | PictureBlock


def result_block(text: str) -> TextBlock | StructureBlock:
    """A tool's output: as structure when it is a JSON object or list (laid out when that would be too much of
    it), else the text as it came."""
    node = structure.read(text)
    if node is not None:
        return StructureBlock(node, text, foldable=True)
    stripped = text.strip()
    if stripped[:1] in ("{", "[") and "\n" not in stripped and len(text) <= LAY_OUT_UP_TO:
        try:
            value = parse_text(stripped)
        except BadJson:
            value = None
        if value:
            return TextBlock(laid_out(value), code=True, foldable=True)
    return TextBlock(escape_control_chars(text), code=True, foldable=True)


def value_block(value: Any) -> TextBlock | StructureBlock:
    """One value, parsed: a string as its own text, else structure, laid out when that is too much."""
    if isinstance(value, str):
        return TextBlock(escape_control_chars(value), foldable=True)
    node = structure.of(value)
    if node is not None:
        return StructureBlock(node, json.dumps(value, ensure_ascii=False), foldable=True)
    return TextBlock(laid_out(value), code=True, foldable=True)
