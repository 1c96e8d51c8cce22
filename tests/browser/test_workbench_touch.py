"""The workbench under a thumb: nothing but taps, on a narrow screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.stored import eventually, labels_of, outcome_of, state_of
from tests.browser.workbench import PHONE, mark, seen, tap, thumb
from tests.people import make_record

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_touch_alone_labels_a_whole_trajectory(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=4), **PHONE)
    mark(page, 2, "+1")
    mark(page, 4, "−1")
    for index in (6, 8):
        page.locator(f"#m{index}").scroll_into_view_if_needed()
        seen(page)
    tap(page.locator("#m6 .msg__role"))
    thumb(page, "Confirm the proposals that you have seen, up to here")
    expect(page.locator(".step.is-proposed")).to_have_count(0)
    mark(page, 8, "+1")
    tap(page.get_by_role("button", name="Corrected"))
    tap(page.locator("#m8").get_by_role("button", name="Unsure"))
    tap(page.locator("[data-outcome] label.zero"))
    eventually(
        lambda: labels_of(assignment, "value", "source", "closes", "unsure"),
        [
            (1, "explicit", "", False),
            (-1, "explicit", "", False),
            (-1, "propagated", "", False),
            (1, "explicit", "corrected", True),
        ],
    )
    eventually(lambda: outcome_of(assignment), 0)
    page.get_by_role("button", name="Submit").tap()
    page.wait_for_url("**/bench/work/**")
    eventually(lambda: state_of(assignment), "submitted")


def test_touch_bar_labels_moves_confirms_and_submits(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=4), **PHONE)
    steps = page.locator('[data-role="mobile-here"]')
    # what the bar does stands there alone, names no keys, and looks after a tap as it did before
    expect(page.locator(".step:visible")).to_have_count(4)
    expect(page.locator(".step .controls__value:visible, .step [data-role=confirm]:visible")).to_have_count(0)
    expect(page.locator("kbd:visible")).to_have_count(0)
    tone = "document.querySelector('.thumb__next').computedStyleMap().get('background-color').toString()"
    at_rest = page.evaluate(tone)
    page.locator(".thumb__next").tap()
    expect(steps).to_have_text("2 / 4")
    assert page.evaluate(tone) == at_rest
    page.locator(".thumb__previous").tap()
    expect(steps).to_have_text("1 / 4")
    bar = page.locator(".thumb").bounding_box()
    assert bar and bar["y"] + bar["height"] == 844 and bar["width"] == 390
    for button in page.locator(".thumb button").all():
        box = button.bounding_box()
        assert box and box["height"] >= 44 and box["width"] >= 44 and box["x"] + box["width"] <= 390
    thumb(page, "+1")
    thumb(page, "−1")
    expect(steps).to_have_text("3 / 4")
    seen(page)
    thumb(page, "Next step")
    expect(steps).to_have_text("4 / 4")
    seen(page)
    thumb(page, "Confirm the proposals that you have seen, up to here")
    expect(page.locator(".step.is-proposed")).to_have_count(0)
    eventually(
        lambda: labels_of(assignment, "value", "source"),
        [(1, "explicit"), (-1, "explicit"), (-1, "propagated"), (-1, "propagated")],
    )
    thumb(page, "Undo")
    expect(page.locator(".step.is-proposed")).to_have_count(2)
    thumb(page, "−1")
    expect(page.locator(".thumb [data-value='-1']")).to_have_attribute("aria-pressed", "false")
    page.locator('[data-role="mobile-steps"]').tap()
    page.locator('.rail [data-goto="2"]').tap()
    expect(steps).to_have_text("1 / 4")
    expect(page.locator(".rail")).to_be_hidden()
    expect(page.locator(".thumb [data-value='1']")).to_have_attribute("aria-pressed", "true")
    thumb(page, "Submit")
    expect(page.locator('[data-role="missing"]')).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_touch_scrolling_takes_the_focus_along(bench: Callable) -> None:
    page, _ = bench(make_record(steps=12), **PHONE)
    # its click would take the focus back if it came after the scrolling
    tap(page.locator("#m4 .msg__role"))
    expect(page.locator("#m4")).to_contain_class("is-focused")
    page.locator("#m24").evaluate("step => step.scrollIntoView()")
    expect(page.locator(".step.is-focused")).to_be_in_viewport()
    expect(page.locator('[data-role="mobile-here"]')).not_to_have_text("2 / 12")
