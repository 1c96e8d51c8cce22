"""Tutorial and test in a real browser: taught step by step, failed, and passed at the second attempt."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Membership
from annotation.policies import OPERATOR
from annotation.reports.training.proficiency import key_values
from annotation.services import label, proficiency
from tests import people
from tests.browser.stored import eventually
from tests.browser.workbench import KEYS as PRESSED
from tests.browser.workbench import OUTCOME_KEYS, press, ready
from tests.chromium import fits_the_window
from tests.people import Cast
from tests.services.keyed import KEYS, keyed_items, make_tutorial

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def key_of(number: int) -> list[int]:
    """The key of the item of an assignment, the outcome last."""
    key = eventually(
        lambda: next(
            iter(
                key_values(
                    [Assignment.stored.select_related("trajectory").get(pk=number).trajectory]
                ).values()
            )
        ),
        bool,
    )
    return [key[index] for index in sorted(key, key=lambda index: (index is None, index or 0))]


def sit_here(page: Page, *, well: bool) -> None:
    """Label the item that is open, as its key says or +1 throughout, submit it, and wait for what follows."""
    ready(page)
    (number,) = re.findall(r"/assignments/(\d+)/", page.url)
    *steps, outcome = key_of(int(number)) if well else [1] * len(key_of(int(number)))
    press(page, *(PRESSED[value] for value in steps), OUTCOME_KEYS[outcome])
    here = page.url
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != here)


def sit_the_rest(cast: Cast, count: int, *, well: bool) -> None:
    """The next items without a browser."""
    for _ in range(count):
        claimed = people.claim(cast.ann, cast.project)
        *steps, outcome = key_of(claimed.pk) if well else [1] * len(key_of(claimed.pk))
        people.label_all(claimed, steps, outcome=outcome)
        label.submit(actor=cast.ann, assignment=claimed)


def test_annotator_is_taught_fails_and_passes(cast: Cast, open_as: Callable[..., Page]) -> None:
    (row,) = people.import_records(cast.project, 1)
    make_tutorial(cast.project)
    exam = keyed_items(cast.project, [KEYS[at % 2] for at in range(10)], subset="exam")
    test = proficiency.make_test(
        actor=OPERATOR, project=cast.project, trajectories=exam, agreement=0.9, wait_hours=0, attempts=2
    )
    proficiency.require_test(actor=OPERATOR, subset=row.subset, test=test)

    page = open_as("ann", "/")
    expect(page.get_by_text("Tutorial: 1 of 2")).to_be_visible()
    page.get_by_role("button", name="Label the next one").click()
    ready(page)
    expect(page.get_by_text("Tutorial: 1 of 2")).to_be_visible()
    expect(page.locator('[data-role="feedback"]')).to_have_count(0)
    press(page, "1")
    expect(page.locator('#m2 [data-role="feedback"]')).to_contain_text("+1 is right.")
    expect(page.locator('[data-role="feedback"]')).to_have_count(1)
    page.reload()  # it is kept
    ready(page)
    expect(page.locator('#m2 [data-role="feedback"]')).to_be_visible()
    sit_here(page, well=True)
    ready(page)
    press(page, PRESSED[1], PRESSED[1], OUTCOME_KEYS[1])
    expect(page.locator('#m4 [data-role="feedback"]')).to_contain_text("You said +1; the key says −1.")
    expect(page.locator('[data-outcome] [data-role="feedback"]')).to_be_visible()
    page.locator("#m4").get_by_role("button", name="Read this in the guidelines").click()
    expect(page.locator("dialog#guidelines")).to_be_visible()
    page.keyboard.press("Escape")
    fits_the_window(page)
    page.keyboard.press("Control+Enter")
    # the queue is closed, and the way leads to the test
    page.wait_for_url("**/tests/1/")
    eventually(lambda: Membership.objects.get(user=cast.ann).tutorial_done_at is not None, True)

    for well, told in ((False, "not reached"), (True, "passed")):
        page.get_by_role("button", name="Begin the test").click()
        ready(page)
        expect(page.get_by_text("Test 1: 1 of 10")).to_be_visible()
        sit_here(page, well=well)
        ready(page)
        sit_the_rest(cast, 8, well=well)
        page.goto(page.url.split("/assignments/")[0] + f"/p/{cast.project.slug}/tests/1/")
        page.get_by_role("button", name="Go on with the test").click()
        sit_here(page, well=well)
        page.wait_for_url("**/attempts/*/")
        expect(page.get_by_text(told).first).to_be_visible()
        fits_the_window(page)
        page.get_by_role("link", name="Test 1").first.click()
        page.wait_for_url("**/tests/1/")
    page.get_by_role("button", name="Label the next one").click()
    ready(page)
    expect(page.locator('[data-role="guided"]')).to_have_count(0)
