"""What people do to forms: press twice, press Back, stay too long, use two tabs, forget a password."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Freeze, Label, OutcomeLabel
from tests.browser.visitors import session_of
from tests.browser.workbench import saved
from tests.chromium import Visitor
from tests.people import PASSWORD, Cast, claim, import_records, make_cast, make_unanimous
from tests.servers import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

READY = ("data-workbench", "ready")


@pytest.fixture
def people(live_server: object) -> Cast:
    """The cast, with three trajectories of two steps."""
    cast = make_cast()
    import_records(cast.project, 3)
    return cast


def at_the_bench(visitor: Visitor, cast: Cast) -> tuple[Page, Assignment]:
    """ann, with a trajectory claimed and open."""
    assignment = claim(cast.ann, cast.project)
    session_of(visitor, cast.ann).go(f"/assignments/{assignment.pk}/")
    expect(visitor.page.locator("html")).to_have_attribute(*READY)
    return visitor.page, assignment


def stored(assignment: Assignment) -> list[int | None]:
    """The stored label values in the order of the steps."""
    labels = Label.objects.filter(assignment=assignment).order_by("step__message_index")
    return list(labels.values_list("value", flat=True))


def submitted(page: Page, assignment: Assignment) -> None:
    """The next trajectory follows what has been submitted."""
    page.wait_for_url(lambda url: "/assignments/" in url and f"/assignments/{assignment.pk}/" not in url)
    assert Assignment.objects.get(pk=assignment.pk).state == "submitted"


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_freeze_pressed_twice_makes_one_release(
    people: Cast, visit: Callable[..., Visitor], script: bool
) -> None:
    make_unanimous(people)
    visitor = session_of(visit(java_script_enabled=script), people.admin)
    visitor.watch.allow("409")
    visitor.go("/p/bench/freeze/")
    visitor.page.get_by_label("Version").fill("1.0")
    for box in visitor.page.get_by_label("I know").all():
        box.check()
    visitor.page.get_by_role("button", name="Freeze").dblclick()
    visitor.page.wait_for_url("**/freezes/*/")
    visitor.page.wait_for_load_state("networkidle")
    assert Freeze.objects.count() == 1


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_claim_pressed_twice_gives_one_assignment(
    people: Cast, visit: Callable[..., Visitor], script: bool
) -> None:
    visitor = session_of(visit(java_script_enabled=script), people.ann)
    visitor.go("/p/bench/work/")
    visitor.page.get_by_role("button", name="Label the next one").first.dblclick()
    expect(visitor.page.locator(".desk")).to_be_visible()
    visitor.page.wait_for_load_state("networkidle")
    assert Assignment.objects.filter(annotator=people.ann).count() == 1


def test_session_that_ends_while_labelling_loses_nothing(people: Cast, visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.watch.allow("401|403")
    page, assignment = at_the_bench(visitor, people)
    page.keyboard.press("1")
    saved(page)
    Session.objects.all().delete()
    page.keyboard.press("0")
    banner = page.locator("[data-role=banner]")
    expect(banner).to_contain_text("signed out")
    expect(page.locator("[data-role=save]")).to_have_text("Not saved yet")
    assert stored(assignment) == [1]
    page.keyboard.press("Shift+Digit1")

    tab = visitor.context.new_page()
    tab.goto(f"{visitor.home}/sign-in/")
    tab.get_by_label("User name").fill("ann")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Your work")
    expect(page.locator("[data-role=save]")).to_have_text("All changes saved")
    expect(banner).to_be_hidden()
    assert stored(assignment) == [1, 0]
    assert OutcomeLabel.objects.get(assignment=assignment).value == 1
    page.keyboard.press("Control+Enter")
    submitted(page, assignment)


def test_save_survives_leaving_at_once(people: Cast, visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    page, assignment = at_the_bench(visitor, people)
    page.on("dialog", lambda dialog: dialog.accept())
    page.keyboard.press("1")
    page.keyboard.press("-")
    visitor.go("/p/bench/work/")
    page.go_back()
    expect(page.locator("html")).to_have_attribute(*READY)
    expect(page.locator("[data-step] [data-role=state]")).to_have_text(["+1", "−1"])
    wait_for(lambda: stored(assignment) == [1, -1], "the labels that left with the page")


def test_submission_is_shown_when_going_back(people: Cast, visit: Callable[..., Visitor]) -> None:
    page, assignment = at_the_bench(visit(), people)
    for key in ("1", "1", "Shift+Digit1", "Control+Enter"):
        page.keyboard.press(key)
    submitted(page, assignment)
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


def test_label_that_is_stale_is_shown_in_a_second_browser(
    people: Cast, visit: Callable[..., Visitor]
) -> None:
    visitor = visit()
    page, assignment = at_the_bench(visitor, people)
    elsewhere = session_of(visit(), people.ann)  # windows of one browser tell each other
    second = elsewhere.page
    second.goto(page.url)
    expect(second.locator("html")).to_have_attribute(*READY)
    page.keyboard.press("1")
    saved(page)
    second.keyboard.press("-")
    step = second.locator("[data-step]").first
    expect(step.locator("[data-role=problem]")).to_have_text(
        re.compile("changed in another window.*−1 was not")
    )
    expect(step.locator("[data-role=state]")).to_have_text("+1")
    assert stored(assignment) == [1]
    second.keyboard.press("k")
    second.keyboard.press("-")
    expect(step.locator("[data-role=state]")).to_have_text("−1")
    saved(second)
    assert stored(assignment)[0] == -1


def test_server_that_is_away_for_a_moment_loses_nothing(people: Cast, visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.watch.allow("ERR_INTERNET_DISCONNECTED|503")
    page, assignment = at_the_bench(visitor, people)
    visitor.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator("[data-role=banner]")).to_contain_text("No connection")
    page.keyboard.press("0")
    page.keyboard.press("Shift+Digit1")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-role=missing]")).to_contain_text("not saved yet")
    visitor.context.set_offline(False)
    expect(page.locator("[data-role=save]")).to_have_text("All changes saved")
    assert stored(assignment) == [1, 0]


def try_password(visitor: Visitor, username: str, password: str) -> None:
    visitor.page.get_by_label("User name").fill(username)
    visitor.page.get_by_label("Password").fill(password)
    with visitor.page.expect_response(lambda answer: answer.request.method == "POST"):
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
