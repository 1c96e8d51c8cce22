"""Forms in people's hands: pressed twice, and after Back."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from tests.browser.stored import eventually
from tests.browser.visitors import session_of
from tests.browser.workbench import open_as_ann, press, submit
from tests.chromium import Visitor
from tests.people import Cast, claim, import_records, make_cast

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


def test_new_project_asks_what_to_copy_only_of_a_project(visit, cast) -> None:
    visitor = session_of(visit(), cast.root)
    visitor.go("/projects/new/")
    copied = visitor.page.get_by_role("group", name="From a project, besides its settings, copy")
    origin = visitor.page.get_by_label("Start from")
    expect(origin).to_be_visible()
    expect(copied).to_be_hidden()
    origin.select_option("project:bench")
    expect(copied).to_be_visible()
    origin.select_option("gold")
    expect(copied).to_be_hidden()
