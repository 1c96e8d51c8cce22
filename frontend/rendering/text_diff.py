"""What changed from one text to another, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

AROUND: Final = 1
"""So many lines that stayed are shown on both sides of a change."""


@dataclass(frozen=True, slots=True)
class Line:
    """`kind`: "added", "removed", "same", or "gap" for lines that are left out."""

    kind: str
    text: str = ""


def changes(before: str, after: str) -> list[Line]:
    """The changed lines with a little around them; empty when the texts are the same."""
    old, new = before.splitlines(), after.splitlines()
    lines: list[Line] = []
    end = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        if group[0][1] > end:
            lines.append(Line("gap"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [Line("same", text) for text in old[a:b]]
            else:
                lines += [Line("removed", text) for text in old[a:b]]
                lines += [Line("added", text) for text in new[c:d]]
        end = group[-1][2]
    if lines and end < len(old):
        lines.append(Line("gap"))
    return lines
