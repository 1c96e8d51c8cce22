"""Numbers of steps in words."""

from __future__ import annotations

from frontend.templatetags.tristep import step_numbers


def test_step_numbers_are_named_one_by_one_and_many_as_ranges() -> None:
    assert step_numbers([]) == ""
    assert step_numbers([2, 3, 4, 9]) == "2, 3, 4, 9"
    assert step_numbers([2, *range(4, 17), 20]) == "2, 4–16, 20"
