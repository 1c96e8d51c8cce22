"""Geometry of the server-rendered charts; templates draw it with attributes and classes only.

Places along the width are in per cent of it, heights in pixels: so a chart is as wide as its page and its
text as large as the page's, on a phone too. Every chart stands in a table or has one beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH = 100.0
CELL = 64
TICK = 0.2
TREND_HEIGHT = 160
TREND_ROOM = 12
"""Pixels above and below the curve, in which its dots have room."""


def hundredths(value: float) -> str:
    """A place or a width in per cent, as an attribute: `12.345`."""
    return f"{value:.3f}"


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
        segments.append(Segment(kind, count, hundredths(x), hundredths(width)))
        x += width
    return segments


def bar(count: int, largest: int) -> str:
    """The length of a bar as long as its count, in hundredths of the longest."""
    return hundredths(WIDTH * count / largest if largest else 0.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to hundredths of the width (or of a height)."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """The position of a value from 0 to 100; values beyond the ends lie at them."""
        share = (value - self.low) / (self.high - self.low)
        return WIDTH * min(max(share, 0.0), 1.0)

    def at(self, value: float) -> str:
        """The same as an attribute."""
        return hundredths(self.place(value))


def scale(values: Iterable[float]) -> Scale:
    """A scale for figures of agreement: up to 1, and down to the largest of .8, .6 … that holds all."""
    lowest = min(values, default=0.0)
    steps = next(steps for steps in range(2, 11) if 1 - TICK * steps <= lowest + 1e-9 or steps == 10)
    low = round(1 - TICK * steps, 1)
    return Scale(low, 1.0, tuple(round(low + TICK * tick, 1) for tick in range(steps + 1)))


def sum_scale(values: Iterable[float], limit: float) -> Scale:
    """A scale for sums that signal from a limit on: from 0 to above the limit and all of them."""
    top = max(limit, *values) * 1.1
    every = limit / 2 if top < 2 * limit else limit * -(-top // (4 * limit))
    return Scale(0.0, top, tuple(every * tick for tick in range(int(top / every) + 1)))


@dataclass(frozen=True, slots=True)
class Dot:
    """A figure with its interval on a scale, all in hundredths of the width."""

    x: str
    low: str
    high: str


def dot(on: Scale, value: float | None, low: float | None, high: float | None) -> Dot | None:
    """The drawn positions of a figure; None for an undefined one. Without an interval it begins and ends
    there."""
    if value is None:
        return None
    return Dot(on.at(value), on.at(value if low is None else low), on.at(value if high is None else high))


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One point of a curve: `x` in hundredths of the width, `y` and the ends of its interval in pixels."""

    x: str
    y: str
    top: str
    bottom: str


@dataclass(frozen=True, slots=True)
class Trend:
    """A curve with its band. `lines` are its pieces (x, y, x, y); `band` the corners of a polygon in a box of
    100 × `TREND_HEIGHT`, stretched to the width; `ticks` (value, y)."""

    points: tuple[TrendPoint, ...]
    lines: tuple[tuple[str, str, str, str], ...]
    band: str
    ticks: tuple[tuple[float, str], ...]


def trend_y(on: Scale, value: float) -> float:
    """The distance in pixels of a value from the top of a curve's picture."""
    return TREND_ROOM + (TREND_HEIGHT - 2 * TREND_ROOM) * (1 - on.place(value) / WIDTH)


def trend(on: Scale, values: Sequence[tuple[float, float | None, float | None]]) -> Trend:
    """The curve of (value, low, high), one after the other at equal distances."""

    def x(number: int) -> float:
        return WIDTH * (number + 0.5) / len(values)

    points = tuple(
        TrendPoint(
            hundredths(x(number)),
            hundredths(trend_y(on, value)),
            hundredths(trend_y(on, value if high is None else high)),
            hundredths(trend_y(on, value if low is None else low)),
        )
        for number, (value, low, high) in enumerate(values)
    )
    lines = tuple((one.x, one.y, two.x, two.y) for one, two in pairwise(points))
    corners = [f"{point.x},{point.top}" for point in points]
    corners += [f"{point.x},{point.bottom}" for point in reversed(points)]
    ticks = tuple((tick, hundredths(trend_y(on, tick))) for tick in on.ticks)
    return Trend(points, lines, " ".join(corners) if len(points) > 1 else "", ticks)


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile of a row of a map: its place and middle in hundredths of the width, how strongly it is tinted
    (opacity 0 … 1), and whether its text is on a strong tint."""

    x: str
    middle: str
    width: str
    opacity: str
    strong: bool


def tiles(shares: Sequence[float | None]) -> list[Tile]:
    """A row of tiles for shares in 0 … 1; None: nothing there."""
    width = WIDTH / len(shares)
    return [
        Tile(
            x=hundredths(number * width),
            middle=hundredths((number + 0.5) * width),
            width=hundredths(width),
            opacity=f"{share or 0.0:.2f}",
            strong=(share or 0.0) > 0.55,
        )
        for number, share in enumerate(shares)
    ]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a heat map: position, what it says, and how strongly it is tinted (opacity 0 … 1)."""

    x: int
    y: int
    cx: int
    cy: int
    opacity: str
    kind: str
    strong: bool


def cell(row: int, column: int, count: int, largest: int) -> Cell:
    """A cell of a square matrix of counts, tinted by its share of the largest one.

    The diagonal is agreement, the rest difference. Text turns light on a strong tint.
    """
    share = count / largest if largest else 0.0
    x, y = CELL + column * CELL, CELL // 2 + row * CELL
    return Cell(
        x=x,
        y=y,
        cx=x + CELL // 2,
        cy=y + CELL // 2,
        opacity=f"{share:.2f}",
        kind="agree" if row == column else "differ",
        strong=share > 0.55,
    )


STRIP_STEP = 5
# kind -> (y, height): +1 above the line, −1 below it, 0 on it, a difference over both
STRIP_CELLS = {"plus": (0, 8), "minus": (8, 8), "zero": (6, 4), "differ": (0, 16), "none": (7, 2)}


@dataclass(frozen=True, slots=True)
class StripCell:
    """One bar of a strip of labels."""

    kind: str
    x: int
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class Strip:
    """The bars of a trajectory's steps, and after a gap that of its outcome."""

    cells: list[StripCell]
    width: int


def strip(steps: Sequence[str], outcome: str) -> Strip:
    """The geometry of a strip of labels; `steps` and `outcome` are kinds of STRIP_CELLS."""
    places = [*range(len(steps)), len(steps) + 1]
    cells = [
        StripCell(kind, place * STRIP_STEP, *STRIP_CELLS[kind])
        for place, kind in zip(places, (*steps, outcome), strict=True)
    ]
    return Strip(cells, (len(steps) + 2) * STRIP_STEP - 1)
