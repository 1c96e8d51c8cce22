"""Geometry of the server-rendered charts; templates draw it with attributes and classes only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH = 100.0
HEAT_LEVELS = 10
CELL = 64


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar, in hundredths of its width."""

    kind: str
    count: int
    x: str
    width: str


def stacked(parts: Iterable[tuple[str, int]]) -> list[Segment]:
    """The segments of a stacked bar for (kind, count) pairs; empty when all counts are 0."""
    pairs = [(kind, count) for kind, count in parts if count]
    total = sum(count for _, count in pairs)
    segments, x = [], 0.0
    for kind, count in pairs:
        width = WIDTH * count / total
        segments.append(Segment(kind, count, f"{x:.3f}", f"{width:.3f}"))
        x += width
    return segments


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a heat map: position, what it says, and how strongly it is tinted (opacity 0 … 1)."""

    x: int
    y: int
    cx: int
    cy: int
    count: int
    opacity: str
    kind: str
    strong: bool


def heat(matrix: Sequence[Sequence[int]]) -> list[Cell]:
    """The cells of a square matrix of counts, tinted by their share of the largest one.

    The diagonal is agreement, the rest difference. Text turns light on a strong tint.
    """
    largest = max((count for row in matrix for count in row), default=0)
    cells = []
    for i, row in enumerate(matrix):
        for j, count in enumerate(row):
            share = count / largest if largest else 0.0
            x, y = CELL + j * CELL, CELL // 2 + i * CELL
            cells.append(
                Cell(
                    x=x,
                    y=y,
                    cx=x + CELL // 2,
                    cy=y + CELL // 2,
                    count=count,
                    opacity=f"{share:.2f}",
                    kind="agree" if i == j else "differ",
                    strong=share > 0.55,
                )
            )
    return cells
