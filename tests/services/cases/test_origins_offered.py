"""The steps that a form offers as the beginning of an error, in a trajectory of any length."""

from __future__ import annotations

from typing import Any

from annotation.models import Step, Trajectory
from annotation.policies.access import NO_ACCESS
from annotation.reports.cases.side_by_side import (
    ROOTS_OFFERED,
    AnnotatorLabel,
    SideBySide,
    SideBySideItem,
)


def side_by_side(steps: int, roots: dict[int, int]) -> SideBySide:
    """A trajectory of so many steps, in which A says of each of `roots` that the error began at another."""
    rows = [Step(pk=number, ordinal=number, message_index=2 * number + 2) for number in range(steps)]
    items = [SideBySideItem(step=row) for row in rows]
    for number, root in roots.items():
        items[number].labels.append(AnnotatorLabel("A", "", -1, root=rows[root]))
    nothing: Any = None
    return SideBySide(Trajectory(), NO_ACCESS, nothing, items, SideBySideItem(step=None), [])


def offered(shown: SideBySide, number: int) -> list[int]:
    return [step.ordinal for step in shown.roots_before(shown.steps[number])]


def test_origins_offered_are_all_earlier_steps_of_a_short_trajectory() -> None:
    shown = side_by_side(8, {})
    assert offered(shown, 0) == []
    assert offered(shown, 7) == list(range(7))
    assert shown.roots_before(shown.outcome) == []


def test_origins_offered_in_a_long_trajectory_are_the_nearest_and_where_errors_began() -> None:
    shown = side_by_side(2500, {40: 40, 900: 7, 2000: 2000, 2499: 3})
    nearest = list(range(2499 - ROOTS_OFFERED, 2499))
    assert offered(shown, 2499) == [3, 7, 40, 2000, *nearest]
    # a step that began after it is none, and of many the nearest are offered
    assert offered(shown, 10) == list(range(10))
    many = side_by_side(2500, {number: number for number in range(2500)})
    assert offered(many, 2400) == list(range(2400 - ROOTS_OFFERED, 2400))
    assert offered(side_by_side(2500, {n: n for n in range(100)}), 2400) == [
        *range(50, 100),
        *range(2350, 2400),
    ]
