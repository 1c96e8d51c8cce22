"""Numbers of models that come from elsewhere, as somebody types or pastes them."""

from __future__ import annotations

import math

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable


def parse_numbers(text: str) -> dict[str, float | None]:
    """One model a line: its name, then after a tab, a semicolon or the last comma its number; None where it
    is left out. A first line whose number is a word is a heading. Raises Invalid naming a line."""
    numbers: dict[str, float | None] = {}
    lines = [(at, line.strip()) for at, line in enumerate(text.splitlines(), 1)]
    lines = [(at, line) for at, line in lines if line]
    for place, (at, line) in enumerate(lines):
        mark = next((mark for mark in ("\t", ";", ",") if mark in line), "")
        name, _, number = (
            (part.strip().strip('"') for part in line.rpartition(mark)) if mark else (line, "", "")
        )
        value = _number(number)
        if number and value is None:
            if place == 0 and len(lines) > 1:
                continue
            raise Invalid(
                translatable("Line {n}: “{number}” is not a number.", n=at, number=number[:40]),
                code="not_a_number",
            )
        if not name or name in numbers:
            raise Invalid(
                translatable("Line {n} names no model, or one that is named above.", n=at), code="bad_model"
            )
        numbers[name] = value
    return numbers


def _number(text: str) -> float | None:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
