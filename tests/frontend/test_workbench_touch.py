"""The workbench under a thumb: nothing but taps, on a narrow screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from tests.frontend.test_workbench_browser import bench, cast, outcome_of, saved, seen, stored
from tests.people import make_record

__all__ = ["bench", "cast"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_a_whole_trajectory_by_taps_alone(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=4), **PHONE)
    page.locator("#m2 label.plus").tap()
    page.locator("#m4 label.minus").tap()
    for index in (6, 8):
        page.locator(f"#m{index}").scroll_into_view_if_needed()
        seen(page)
    page.locator("#m6").get_by_role("button", name="Confirm").tap()
    page.locator("#m8 label.plus").tap()
    page.get_by_role("button", name="Corrected").tap()
    page.locator("#m8").get_by_role("button", name="Unsure").tap()
    page.locator("[data-outcome] label.zero").tap()
    saved(page)
    assert stored(assignment) == [
        (2, 1, "explicit"),
        (4, -1, "explicit"),
        (6, -1, "propagated"),
        (8, 1, "explicit"),
    ]
    last = Label.objects.get(assignment=assignment, step__message_index=8)
    assert (last.closes, last.unsure) == ("corrected", True)
    assert outcome_of(assignment) == 0
    page.get_by_role("button", name="Submit").tap()
    page.wait_for_url("**/bench/work/**")
    assignment.refresh_from_db()
    assert assignment.state == "submitted"


def test_what_is_missing_is_reached_by_a_tap(bench: Callable) -> None:
    page, _ = bench(make_record(steps=3), **PHONE)
    page.get_by_role("button", name="Submit").tap()
    expect(page.locator("#m2")).to_be_in_viewport()
    page.locator("#m2 label.zero").tap()
    page.get_by_role("button", name="Undo").tap()
    expect(page.locator("#m2")).not_to_have_attribute("data-value", "zero")
