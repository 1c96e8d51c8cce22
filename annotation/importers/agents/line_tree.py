"""The final conversation of a session whose edits and retries made a tree of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LineTree", "trees"]

Line = dict[str, Any]
Companions = Callable[[list[Line], list[Line]], Callable[[Line], bool]]


@dataclass(slots=True)
class LineTree:
    """The spoken lines below one root, in the order of the file.

    `kept` lead to the last of them or go with those that do; `dropped` are those of `branches` branches that
    led nowhere.
    """

    root: Line
    kept: list[Line] = field(default_factory=list)
    dropped: list[Line] = field(default_factory=list)
    branches: int = 0


def trees(lines: Sequence[Line], is_spoken: Callable[[Line], bool], companions: Companions) -> list[LineTree]:
    """The trees that `parentUuid` makes of these lines, those without a spoken line left out.

    A line whose parent is missing, comes later or is itself is a root, so there are no circles. Given the
    lines on the way to the last one and all spoken lines of the tree, `companions` gives a test for lines
    that belong to the conversation although they lie beside that way: a program that calls tools in parallel
    writes their results as siblings. Linear in the lines, and without recursion.
    """
    parents = _parents(lines)
    members: dict[int, list[int]] = {}
    roots: list[int] = []
    for index, parent in enumerate(parents):
        roots.append(index if parent is None else roots[parent])
        if is_spoken(lines[index]):
            members.setdefault(roots[index], []).append(index)
    on_way: set[int] = set()
    for spoken in members.values():
        at: int | None = spoken[-1]
        while at is not None:
            on_way.add(at)
            at = parents[at]
    kept: set[int] = set()
    for spoken in members.values():
        way = [lines[index] for index in spoken if index in on_way]
        goes_along = companions(way, [lines[index] for index in spoken])
        kept.update(index for index in spoken if index in on_way or goes_along(lines[index]))
    found_trees = {root: LineTree(lines[root]) for root in members}
    below_lost = [False] * len(lines)
    for index, parent in enumerate(parents):
        below_lost[index] = parent is not None and below_lost[parent]
        tree = found_trees.get(roots[index])
        if tree is None or not is_spoken(lines[index]):
            continue
        if index in kept:
            tree.kept.append(lines[index])
            continue
        tree.dropped.append(lines[index])
        tree.branches += not below_lost[index]
        below_lost[index] = True
    return list(found_trees.values())


def _parents(lines: Sequence[Line]) -> list[int | None]:
    """Each line's parent by its index; an id that several lines have is nobody's."""
    counts = Counter(line["uuid"] for line in lines if isinstance(line.get("uuid"), str))
    seen: dict[str, int] = {}
    parents: list[int | None] = []
    for index, line in enumerate(lines):
        parent = line.get("parentUuid")
        parents.append(seen.get(parent) if isinstance(parent, str) else None)
        own = line.get("uuid")
        if isinstance(own, str) and counts[own] == 1:
            seen[own] = index
    return parents
