"""Report results: tables for people, and one file of JSON lines for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MEGABYTE = 1024 * 1024


@dataclass
class Limit:
    """One expectation: what was found, in the unit of its limit, and whether it holds."""

    what: str
    found: float
    limit: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit

    def sentence(self) -> str:
        """For people."""
        sign = "≥" if self.at_least else "≤"
        return (
            f"{'ok  ' if self.holds else 'MISS'} {self.what}: {number(self.found)} "
            f"({sign} {number(self.limit)})"
        )


@dataclass
class Report:
    """Everything found so far; each topic is printed as soon as it is known."""

    path: Path
    limits: list[Limit] = field(default_factory=list)

    def line(self, topic: str, **values: Any) -> None:
        """One JSON line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"topic": topic, **values}) + "\n")

    def limit(self, limit: Limit) -> None:
        """Note an expectation and print how it came out."""
        self.limits.append(limit)
        self.line("limit", what=limit.what, found=limit.found, limit=limit.limit, holds=limit.holds)
        print(limit.sentence(), flush=True)


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
    widths = (
        [max(len(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
        if rows
        else [len(head) for head in heads]
    )
    print(f"\n{title}")
    for cells in (heads, *rows):
        first, *others = (
            cell.ljust(width) if not column else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        print("  " + "  ".join((first, *others)).rstrip())
    print(flush=True)
