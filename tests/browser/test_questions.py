"""A question in a browser: one key proposes −1 for all but the right option, and a case replaces the item."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Trajectory
from annotation.services import assign, label
from tests import people
from tests.browser.stored import eventually, labels_of
from tests.browser.workbench import AT_WORK, press, press_unsaved, ready, saved, seen
from tests.chromium import fits_the_window
from tests.fixtures.judges_first import CHOICE, import_keyed
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """A project of decisions."""
    return people.make_cast(kind="decisions")


@pytest.fixture
def question(cast: Cast) -> Trajectory:
    """A question with four options."""
    (item,) = import_keyed(cast.project, 1, key=(1, -1, -1, -1), asked=CHOICE)
    return item


def test_all_others_are_proposed_confirmed_undone_and_submitted(
    cast: Cast, question: Trajectory, open_as: Callable
) -> None:
    mine = assign.claim_this(actor=cast.ann, trajectory=question)
    page = open_as("ann", f"/assignments/{mine.pk}/", viewport={"width": 1280, "height": 1800})
    ready(page)
    proposed = page.locator(".step.is-proposed")
    press_unsaved(page, "o")
    expect(page.get_by_text("Label an option +1 first")).to_be_visible()
    expect(proposed).to_have_count(0)

    press(page, "j", "1", "o")
    expect(proposed).to_have_count(3)
    expect(page.locator(".step .mark--proposal:visible")).to_have_count(3)
    expect(page.locator(".step").first).to_be_focused()
    seen(page)
    # what is proposed is nobody's label
    eventually(lambda: [value for _index, value, _source in labels_of(mine)], [1])

    press(page, "Enter")
    expect(proposed).to_have_count(0)
    sources = [(-1, "propagated")] * 3 + [(1, "explicit")]
    eventually(lambda: sorted((value, source) for _index, value, source in labels_of(mine)), sources)
    press(page, "u")
    expect(proposed).to_have_count(3)
    eventually(lambda: sum(value is None for _index, value, _source in labels_of(mine)), 3)
    press(page, "Shift+u")
    eventually(lambda: sorted((value, source) for _index, value, source in labels_of(mine)), sources)

    page.reload()
    ready(page)
    saved(page)
    expect(page.locator(".step.is-labelled")).to_have_count(4)
    page.keyboard.press("Enter")
    page.wait_for_url(AT_WORK)
    eventually(lambda: Assignment.objects.get().state, "submitted")


def test_item_is_replaced_on_its_case_and_labelled_anew(
    cast: Cast, question: Trajectory, open_as: Callable
) -> None:
    for user, values in ((cast.ann, [1, -1, -1, -1]), (cast.ben, [-1, 1, -1, -1])):
        mine = assign.claim_this(actor=user, trajectory=question)
        people.label_all(mine, values, outcome=1)
        label.submit(actor=user, assignment=mine)
    case = people.open_case(cast.judith, question)
    judith = open_as("judith", f"/adjudications/{case.pk}/", "400")
    expect(judith.locator("html")).to_have_attribute("data-case", "ready")
    expect(judith.locator(".step .controls__word").first).to_have_text("left out")
    judith.get_by_role("link", name="Edit options").click()
    expect(judith.get_by_text("2 people have labelled this item")).to_be_visible()
    fits_the_window(judith)
    first = judith.get_by_role("textbox", name="Option 1")
    text = first.input_value()
    judith.get_by_role("textbox", name="Another option").fill(text)
    judith.get_by_role("button", name="Replace the item").click()
    expect(judith.get_by_text("This is the same as number 1.")).to_be_visible()
    first.fill("It looks first.")
    judith.get_by_role("button", name="Replace the item").click()
    expect(judith.get_by_text("The work of 2 people on it has ended.")).to_be_visible()

    eventually(lambda: set(Assignment.objects.values_list("state", flat=True)), {"expired"})
    ann = open_as("ann", "/p/bench/work/")
    ann.get_by_role("button", name="Label the next one").first.click()
    ready(ann)
    expect(ann.locator(".step")).to_have_count(5)
    expect(ann.get_by_text("It looks first.")).to_be_visible()
    eventually(lambda: Trajectory.objects.get(live=True).step_count, 5)
