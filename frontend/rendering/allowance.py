"""Limits to the drawing of a record: a page stays small, and the rest of a large record is one request
away."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from frontend.rendering import structure
from frontend.rendering.blocks import SHOWN_CHARACTERS, StructureBlock, TextBlock
from frontend.rendering.control_chars import escape_control_chars

MESSAGE_BYTES: Final = 400_000
"""The most HTML made of one message, its calls included."""
BESIDE_BYTES: Final = 120_000
"""The most HTML made of the question, the description, the reference answer, the hints and the source,
each."""
TOOLS_BYTES: Final = 400_000
PER_TEXT: Final = 300
PER_VALUE: Final = 90
"""About how many bytes the tags around a text and around one value of a structure take."""


def bytes_of(text: str) -> int:
    """The size of a text in HTML, in bytes."""
    escapes = 3 * (text.count("<") + text.count(">")) + 4 * sum(map(text.count, "&\"'"))
    return len(text.encode("utf-8", "surrogatepass")) + escapes


@dataclass(slots=True)
class Allowance:
    """The bytes of HTML that may still be made; `cut`: something was left out for want of them."""

    left: int
    cut: bool = False

    def spend(self, size: int) -> bool:
        """Whether something of this size may be drawn."""
        if size > self.left:
            self.cut = True
            return False
        self.left -= size
        return True

    def text(self, block: TextBlock) -> TextBlock | None:
        """A text as far as it may be drawn; None when not even its beginning may."""
        size, room = bytes_of(block.text), self.left - PER_TEXT
        most = len(block.text) if size <= room else len(block.text) * room // size
        most = min(SHOWN_CHARACTERS, most)
        if most < len(block.text):
            self.cut = True
            if most <= 0:
                return None
            block = replace(block, text=block.text[:most] + "…")
            size = bytes_of(block.text)
        self.left -= PER_TEXT + size
        return block

    def block(self, block: TextBlock | StructureBlock) -> TextBlock | StructureBlock | None:
        """A block as far as it may be drawn: of too large a structure the beginning, as it was written."""
        if isinstance(block, TextBlock):
            return self.text(block)
        size = PER_TEXT + PER_VALUE * structure.count(block.node) + bytes_of(block.written)
        if size <= self.left:
            self.left -= size
            return block
        return self.text(TextBlock(escape_control_chars(block.written), code=True, foldable=True))
