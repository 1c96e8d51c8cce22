"""Report results: tables for people, and one file of JSON lines for programs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

MEGABYTE = 1024 * 1024

Say = Callable[[str], None]


@dataclass
class Limit:
    """A promise of docs/performance.md: what was found, in the unit of its limit, and whether it holds."""

    what: str
    found: float
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit

    def cells(self) -> tuple[str, ...]:
        """A row for people: the promise, what was found, its limit, their ratio, and the verdict."""
        sign = "≥" if self.at_least else "≤"
        ratio = number(self.found / self.limit) if self.limit else ""
        verdict = "holds" if self.holds else "does not hold"
        return self.what, number(self.found), f"{sign} {number(self.limit)}", ratio, verdict


@dataclass
class Report:
    """The figures so far; each topic is printed as soon as it is known."""

    path: Path
    limits: list[Limit] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def line(self, topic: str, **values: Any) -> None:
        """One JSON line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"topic": topic, **values}) + "\n")

    def limit(self, limit: Limit) -> None:
        """Note a promise and print how it came out."""
        self.limits.append(limit)
        self.line("limit", what=limit.what, found=limit.found, limit=limit.limit, holds=limit.holds)
        what, found, bound, _ratio, verdict = limit.cells()
        print(f"  {what}: {found} ({bound}), {verdict}", flush=True)

    def took(self, topic: str, seconds: float) -> None:
        """Note how long a topic took."""
        self.seconds[topic] = seconds
        self.line("took", what=topic, seconds=seconds)

    def durations(self) -> None:
        """Print how long each topic took, and all of them."""
        took = [*self.seconds.items(), ("all", sum(self.seconds.values()))]
        table("Durations (s)", ("", ""), [(topic, number(seconds)) for topic, seconds in took])

    def verdicts(self) -> bool:
        """Print every promise with its ratio and verdict; whether all hold."""
        table(
            "Promises", ("", "found", "limit", "ratio", "verdict"), [limit.cells() for limit in self.limits]
        )
        return all(limit.holds for limit in self.limits)


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Milliseconds of the work, by the clock."""
    began = clock()
    work()
    return 1000 * (clock() - began)


def percentiles(values: Sequence[float]) -> tuple[float, float]:
    """The median, and the 95th percentile."""
    if len(values) < 2:
        return values[0], values[0]
    return median(values), quantiles(values, n=20, method="inclusive")[-1]


def number(value: float) -> str:
    """Three figures that matter, thousands apart."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def megabytes(size: float) -> str:
    """Bytes as MB."""
    return f"{size / MEGABYTE:,.0f} MB"


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    print(f"\n{title}")
    for first, *others in (heads, *rows):
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        print("  " + "  ".join((first.ljust(widths[0]), *cells)).rstrip())
    print(flush=True)
