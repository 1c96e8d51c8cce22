"""Forms in people's hands: pressed twice, after Back, after a long stay, in two tabs, and a forgotten
password."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Freeze
from tests.browser.stored import eventually, values_of
from tests.browser.visitors import session_of
from tests.browser.workbench import open_as_ann, press, press_unsaved, ready, submit
from tests.chromium import Visitor
from tests.people import PASSWORD, Cast, claim, import_records, make_cast, make_unanimous

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def people(live_server: object) -> Cast:
    """The cast, with three trajectories of two steps."""
    cast = make_cast()
    import_records(cast.project, 3)
    return cast


def at_the_bench(visit: Callable[..., Visitor], cast: Cast) -> tuple[Page, Assignment]:
    """ann, with a trajectory claimed and open."""
    assignment = claim(cast.ann, cast.project)
    return open_as_ann(visit, cast, assignment), assignment


def test_freeze_pressed_twice_makes_one_release(people: Cast, visit: Callable[..., Visitor]) -> None:
    make_unanimous(people)
    visitor = session_of(visit(java_script_enabled=False), people.admin)
    visitor.watch.allow("409")
    visitor.go("/p/bench/freeze/")
    visitor.page.get_by_label("Version").fill("1.0")
    boxes = visitor.page.get_by_label(" will be ")
    expect(boxes).to_have_count(3)
    for place in range(3):
        boxes.nth(place).check()
    visitor.page.get_by_role("button", name="Freeze").dblclick()
    visitor.page.wait_for_url("**/freezes/*/")
    visitor.page.wait_for_load_state("networkidle")
    eventually(lambda: Freeze.objects.count(), 1)


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_claim_pressed_twice_gives_one_assignment(
    people: Cast, visit: Callable[..., Visitor], script: bool
) -> None:
    visitor = session_of(visit(java_script_enabled=script), people.ann)
    visitor.go("/p/bench/work/")
    visitor.page.get_by_role("button", name="Label the next one").first.dblclick()
    expect(visitor.page.locator(".desk")).to_be_visible()
    visitor.page.wait_for_load_state("networkidle")
    eventually(lambda: Assignment.objects.filter(annotator=people.ann).count(), 1)


def test_save_survives_leaving_at_once(people: Cast, visit: Callable[..., Visitor]) -> None:
    page, assignment = at_the_bench(visit, people)
    page.on("dialog", lambda dialog: dialog.accept())
    press_unsaved(page, "1", "-")
    page.goto(page.url.split("/assignments/")[0] + "/p/bench/work/")
    page.go_back()
    ready(page)
    expect(page.locator("[data-step] [data-role=state]")).to_have_text(["+1", "−1"])
    eventually(lambda: values_of(assignment), [1, -1])


def test_submission_is_shown_when_going_back(people: Cast, visit: Callable[..., Visitor]) -> None:
    page, assignment = at_the_bench(visit, people)
    press(page, "1", "1", "Shift+Digit1")
    submit(page, lambda url: "/assignments/" in url and f"/{assignment.pk}/" not in url)
    page.go_back()
    page.wait_for_url(f"**/assignments/{assignment.pk}/")
    expect(page.get_by_text("You have submitted this trajectory.")).to_be_visible()
    expect(page.locator("[data-step] input[type=radio]").first).to_be_disabled()
    page.keyboard.press("0")
    expect(page.locator("[data-step] [data-role=state]").first).to_have_text("+1")


def test_form_that_was_sent_is_free_again_when_going_back(
    people: Cast, visit: Callable[..., Visitor]
) -> None:
    visitor = session_of(visit(), people.ann)
    visitor.go("/p/bench/work/")
    # which of them it is depends on whether the browser asks the server again
    names = re.compile("Label the next one|Continue labelling")
    button = visitor.page.get_by_role("button", name=names).first
    button.click()
    expect(visitor.page.locator(".desk")).to_be_visible()
    visitor.page.go_back()
    button.click()
    expect(visitor.page.locator(".desk")).to_be_visible()


def try_password(visitor: Visitor, username: str, password: str) -> None:
    visitor.page.get_by_label("Name or e-mail address").fill(username)
    visitor.page.get_by_label("Password").fill(password)
    with visitor.page.expect_event("load"):
        visitor.page.get_by_role("button", name="Sign in").click()


def test_lockout_after_too_many_wrong_passwords_has_a_page_that_says_so(
    people: Cast, visit: Callable[..., Visitor], settings: Any
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    visitor = visit()
    visitor.watch.allow("429")
    visitor.go("/sign-in/")
    for _ in range(3):
        try_password(visitor, "ann", "not the password")
    expect(visitor.page.locator("h1")).to_have_text("Too many attempts")
    expect(visitor.page.locator("main")).to_contain_text("blocked for 15 minutes")
    visitor.go("/sign-in/")
    try_password(visitor, "ann", PASSWORD)
    expect(visitor.page.locator("h1")).to_have_text("Too many attempts")
    visitor.go("/sign-in/")
    try_password(visitor, "ben", PASSWORD)
    expect(visitor.page.locator("h1")).to_have_text("Your work")
