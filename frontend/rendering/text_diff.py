"""Changes from one text to another, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

AROUND: Final = 1
"""So many lines that stayed are shown on both sides of a change."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`kind`: "added", "removed", "same", or "gap" for lines that are left out."""

    kind: str
    text: str = ""


def changes(before: str, after: str) -> list[DiffLine]:
    """The changed lines with a little around them; empty when the texts are the same."""
    old, new = before.splitlines(), after.splitlines()
    lines: list[DiffLine] = []
    end = 0
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        if group[0][1] > end:
            lines.append(DiffLine("gap"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [DiffLine("same", text) for text in old[a:b]]
            else:
                lines += [DiffLine("removed", text) for text in old[a:b]]
                lines += [DiffLine("added", text) for text in new[c:d]]
        end = group[-1][2]
    if lines and end < len(old):
        lines.append(DiffLine("gap"))
    return lines
