"""`make diagram`: the rooms of the code and who imports whom, drawn from the code into docs/design.md.

A room is a top package (`config`, `api`, `frontend`) or a direct child of `annotation`; what is inside
`services` and inside `frontend` is drawn the same way. The diagrams are Mermaid, which code hosts show as a
picture. An arrow that follows from others is left out of the picture; the table below it lists every import.

`tests/test_docs.py` fails while docs/design.md holds another diagram than the code gives.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).resolve().parents[1]
DESIGN: Final = ROOT / "docs" / "design.md"
TOPS: Final = ("config", "api", "frontend", "annotation")
LEFT_OUT: Final = {
    "annotation.apps",
    "annotation.checks",
    "annotation.migrations",
    "frontend.apps",
    "frontend.formats",
}
"""Modules that Django starts or keeps by itself."""

Imports = Mapping[str, frozenset[str]]
"""Room -> the rooms that its modules import, itself left out."""


def imports_between(graph: grimp.ImportGraph, rooms: Iterable[str]) -> dict[str, frozenset[str]]:
    """The imports between `rooms` (dotted packages or modules), in the order of their names."""
    rooms = sorted(rooms)
    inside = {
        module: room
        for room in rooms
        for module in (room, *graph.find_descendants(room))
        if module in graph.modules
    }
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for module, room in inside.items():
        for imported in graph.find_modules_directly_imported_by(module):
            other = inside.get(imported)
            if other is not None and other != room:
                found[room].add(other)
    return {room: frozenset(others) for room, others in found.items()}


def levels(imports: Imports) -> list[str]:
    """The rooms from the top of the house to its ground: each stands above all that it imports.

    Raises ValueError, naming the rooms, when imports go in a circle.
    """
    height: dict[str, int] = {}
    left = dict(imports)
    while left:
        free = [room for room, others in left.items() if others <= height.keys()]
        if not free:
            raise ValueError(f"imports go in a circle between {', '.join(sorted(left))}")
        for room in free:
            height[room] = 1 + max((height[other] for other in left.pop(room)), default=0)
    return sorted(height, key=lambda room: (-height[room], room))


def needed_arrows(imports: Imports) -> list[tuple[str, str]]:
    """The (importer, imported) pairs that do not follow from others, from the top of the house down."""
    reached: dict[str, frozenset[str]] = {}
    order = levels(imports)
    for room in reversed(order):
        reached[room] = imports[room].union(*(reached[other] for other in imports[room]))
    return [
        (room, other)
        for room in order
        for other in order
        if other in imports[room] and not any(other in reached[between] for between in imports[room])
    ]


def short(room: str) -> str:
    """`core` for `annotation.core`."""
    return room.rpartition(".")[2]


def drawn(imports: Imports) -> list[str]:
    """A Mermaid flowchart and, below it, the table of all imports: lines of Markdown."""
    order = levels(imports)
    arrows = needed_arrows(imports)
    joined = {room for arrow in arrows for room in arrow}
    return [
        "```mermaid",
        "flowchart TD",
        *(f"    {short(room)}" for room in order if room not in joined),
        *(f"    {short(room)} --> {short(other)}" for room, other in arrows),
        "```",
        "",
        "| room | imports |",
        "|---|---|",
        *(
            f"| `{short(room)}` | {listed(other for other in order if other in imports[room])} |"
            for room in order
        ),
    ]


def listed(found: Iterable[str]) -> str:
    """The short names of rooms as one cell of a table."""
    return " ".join(f"`{short(room)}`" for room in found) or "–"


def diagrams() -> dict[str, list[str]]:
    """Name of the diagram -> its lines, as docs/design.md holds them between its markers."""
    graph = grimp.build_graph(*TOPS)
    rooms = {
        "rooms": {"config", "api", "frontend", *graph.find_children("annotation")},
        "stages": graph.find_children("annotation.services"),
        "pages": graph.find_children("frontend"),
    }
    return {name: drawn(imports_between(graph, inside - LEFT_OUT)) for name, inside in rooms.items()}


def with_diagrams(text: str) -> str:
    """The text of docs/design.md with every diagram as the code gives it now.

    Raises ValueError when a marker is missing.
    """
    for name, lines in diagrams().items():
        begin, end = f"<!-- diagram: {name} (make diagram) -->", f"<!-- end of {name} -->"
        before, found_begin, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if not (found_begin and found_end):
            raise ValueError(f"docs/design.md lacks the markers of the diagram {name!r}")
        text = "\n".join((before + begin, "", *lines, "", end)) + after
    return text


def main() -> int:
    now = DESIGN.read_text(encoding="utf-8")
    wanted = with_diagrams(now)
    DESIGN.write_text(wanted, encoding="utf-8")
    print(
        "docs/design.md: the diagrams were " + ("up to date" if now == wanted else "drawn anew"),
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
