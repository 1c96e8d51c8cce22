"""A trajectory of two thousand messages in a real browser: its parts come as one scrolls or goes there."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Adjudication, Assignment, Trajectory
from annotation.services import label
from tests import people
from tests.browser.stored import decisions, eventually, labels_of
from tests.browser.workbench import open_as_ann, press, press_unsaved, saved
from tests.people import Cast, change, claim, import_records, make_record, op_id, step_indexes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.slow]

STEPS = 1000
LAST = 2 * STEPS
BORDER = 200
"""The first message of the second part: step 100."""
MOST_NODES = 60_000
"""All steps at once would be some 100,000."""


@pytest.fixture
def long(cast: Cast) -> Trajectory:
    """A trajectory of a thousand steps at the messages 2, 4 … 2000."""
    (row,) = import_records(cast.project, [make_record(steps=STEPS)])
    return row


@pytest.fixture
def labelled(cast: Cast, long: Trajectory) -> Assignment:
    """It is ann's, who has labelled all but the last two steps of the first part."""
    mine = claim(cast.ann, cast.project)
    changes = [change(index, 1) for index in step_indexes(long)[:97]]
    label.save_labels(actor=cast.ann, assignment=mine, op_id=op_id(), changes=changes)
    return mine


def in_sight(page: Page, index: int, state: str = "") -> None:
    """The message is there, and in sight.

    It is counted first: while it is not there, Playwright describes the whole page at each look, which on one
    as long as this takes most of the test.
    """
    expect(page.locator(f"#m{index}{state}")).to_have_count(1)
    expect(page.locator(f"#m{index}")).to_be_in_viewport()


def focused(page: Page, index: int) -> None:
    """The step has the focus and is in sight."""
    in_sight(page, index, ":focus")


def nodes(page: Page) -> int:
    """The elements of the page."""
    return int(page.evaluate("document.querySelectorAll('*').length"))


def strip(page: Page) -> Locator:
    """The strip of all steps."""
    return page.locator("[data-role=run-strip]")


def test_workbench_labels_past_the_border_of_a_part_and_goes_to_any_step(
    cast: Cast, labelled: Assignment, visit: Callable
) -> None:
    page = open_as_ann(visit, cast, labelled)
    expect(page.locator("[data-role=progress]")).to_have_text("97 of 1000")
    in_sight(page, 196)
    expect(strip(page).locator(".is-plus")).to_have_attribute("d", re.compile(r"^(M[^M]+){97}$"))
    # the next part is there before anybody gets to it
    expect(page.locator(f"#m{BORDER}")).to_have_count(1)
    press(page, "1", "1", "-", "0")
    eventually(lambda: labels_of(labelled)[-2:], [(BORDER, -1, "explicit"), (BORDER + 2, 0, "explicit")])
    focused(page, BORDER + 4)
    press_unsaved(page, "k", "k", "k")
    focused(page, BORDER - 2)
    expect(page.locator("[data-role=pin-text]")).to_have_text("Question 0?")
    assert nodes(page) < MOST_NODES

    # by the strip of all steps
    area = strip(page).locator(".run-strip__marks")
    width = (area.bounding_box() or {})["width"]
    area.click(position={"x": 0.75 * width, "y": 9})
    expect(page.locator(":is([data-step^='14'], [data-step^='15']):focus")).to_have_count(1)
    press(page, "-")
    minus = strip(page).locator(".is-minus")
    expect(minus).to_have_attribute("d", re.compile(r"^M99\.5 9\.5V19M7[45]\d\.5 9\.5V19$"))

    # by the list, and by a search
    page.locator("[data-role=rail]").get_by_text("900–999").click()
    focused(page, 1800)
    press(page, "-")
    eventually(lambda: labels_of(labelled)[-1], (1800, -1, "explicit"))
    # what was asked of the user stays in sight, though its part is not on the page any more
    expect(page.locator("#m4")).to_have_count(0)
    expect(page.locator("[data-role=pin-text]")).to_have_text("Question 0?")
    assert nodes(page) < MOST_NODES
    focused(page, 1802)
    press(page, "u")
    page.keyboard.press("/")
    page.keyboard.type("looking, time 42.")
    expect(page.locator("[data-role=find-count]", has_text=re.compile("^1 of 1$"))).to_have_count(1)
    in_sight(page, 86)
    page.keyboard.press("Escape")
    saved(page)
    page.reload()
    expect(page.locator("[data-role=progress]")).to_have_text("102 of 1000")


def test_reading_view_goes_where_a_link_a_key_or_scrolling_says(
    cast: Cast, long: Trajectory, open_as: Callable
) -> None:
    page = open_as("admin", f"/p/bench/trajectories/{long.pk}/#m1500")
    in_sight(page, 1500)
    page.evaluate("window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    expect(page.locator(f"#m{LAST}")).to_have_count(1)
    page.evaluate("location.hash = '#m700'")
    in_sight(page, 700)
    assert nodes(page) < MOST_NODES

    page.evaluate("location.hash = '#m2'")
    slider = page.get_by_role("slider", name="Steps")
    expect(slider).to_have_attribute("aria-valuetext", "Step 1 of 1000 · no label · calls a tool")
    slider.press("End")
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "Step 999 of 1000 · no label · calls a tool")
    expect(page.locator(f"#m{LAST - 2}")).to_have_count(0)
    slider.press("Enter")
    in_sight(page, LAST - 2)
    assert nodes(page) < MOST_NODES
    strip(page).get_by_role("link", name="Step 999").press("Tab")
    page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
    # it tells where one is
    expect(strip(page).get_by_role("link", name="Step 1 of 1000")).to_be_visible()


def test_reading_without_a_script_goes_from_part_to_part(
    cast: Cast, long: Trajectory, open_as: Callable
) -> None:
    page = open_as("admin", f"/p/bench/trajectories/{long.pk}/", java_script_enabled=False)
    # not by the mouse: messages get their heights as they come into sight, and without scripts Playwright
    # cannot see that what it clicks on has moved away
    page.get_by_role("link", name="Show messages 200–399").press("Enter")
    expect(page.locator("#m200")).to_be_in_viewport()
    expect(page.locator("#m4")).not_to_be_attached()


def test_case_decides_what_is_in_another_part(cast: Cast, open_as: Callable) -> None:
    # two parts more will do, for each step is labelled twice
    steps, last = 250, 500
    (row,) = import_records(cast.project, [make_record(steps=steps)])
    ones = [1] * steps
    people.label_next(cast.ann, cast.project, ones)
    people.label_next(cast.ben, cast.project, [1, -1, *ones[2:-1], 0])
    case: Adjudication = people.open_case(cast.judith, row)
    page = open_as("judith", f"/adjudications/{case.pk}/")
    expect(page.locator("html")).to_have_attribute("data-case", "ready")
    focused(page, 4)
    page.keyboard.press("1")
    eventually(decisions, {4: 1})
    focused(page, last)
    page.keyboard.press("0")
    eventually(decisions, {4: 1, last: 0})
    expect(page.locator("[data-role=progress]")).to_have_text("2 of 2")
