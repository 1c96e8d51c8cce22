"""Suggestions on the workbench and in a case: sealed, revealed by key, by hand and by thumb, there again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from annotation.policies import OPERATOR
from annotation.services import projects
from tests.browser.axe import violations
from tests.browser.stored import eventually, exposures, labels_of
from tests.browser.workbench import PHONE, click, mark, open_as_ann, press, press_unsaved, saved
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, claim, import_records, make_disputed, make_record, open_case
from tests.suggesting import suggest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def prepared(cast: Cast, policy: str = "after_label", *, steps: int = 3) -> Assignment:
    """A trajectory, claimed by ann. One judge says −1 throughout, another +1 of the first step, no more."""
    (row,) = import_records(cast.project, [make_record(steps=steps)])
    suggest(make_imported_judge(cast.project, "severe canary"), row)
    suggest(make_imported_judge(cast.project, "mild canary"), row, [1, *[None] * (steps - 1)], outcome=None)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"suggestion_policy": policy})
    return claim(cast.ann, cast.project)


def advice(page: Page, index: int) -> Any:
    return page.locator(f"#m{index} [data-role='suggestions']")


def test_step_is_sealed_until_it_is_labelled_then_one_key_shows_it(
    cast: Cast, visit: Callable[..., Any]
) -> None:
    mine = prepared(cast)
    page = open_as_ann(visit, cast, mine)
    live = page.locator('[data-role="live"]')
    assert "canary" not in page.content()
    expect(page.locator("#m2").get_by_role("button", name="Suggestions")).to_be_hidden()
    press(page, "s")
    expect(page.locator("#m2 [data-role='refused']")).to_have_text("Label this step first.")
    expect(live).to_have_text("Label this step first.")

    press(page, "1", "s")  # at once: the label that is not stored yet goes first

    expect(page.locator("#m2 [data-role='refused']")).to_have_count(0)
    expect(advice(page, 2).locator("dt")).to_have_text(["Judge 1", "Judge 2"])
    expect(advice(page, 2)).to_contain_text("severe canary on 2")
    expect(advice(page, 2).locator(".mark__sign")).to_have_count(2)
    expect(page.locator("#m2 [data-role='seen']")).to_have_text("seen suggestions")
    expect(page.locator("#m2")).to_be_focused()
    expect(live).to_contain_text("Suggestions for step 1: Judge 1:")
    assert "on 4" not in page.content()
    assert violations(page) == []
    press(page, "-")
    eventually(lambda: labels_of(mine, "value", "blind_value"), [(-1, 1)])

    page.reload()
    expect(advice(page, 2)).to_contain_text("severe canary on 2")
    assert "on 4" not in page.content()
    click(page.locator("[data-outcome] label.zero"))
    page.locator("[data-outcome]").get_by_role("button", name="Suggestions").click()
    expect(page.locator("[data-outcome] [data-role='suggestions']")).to_contain_text("on the outcome")
    eventually(lambda: exposures(cast.ann), 2)


def test_reveal_works_by_thumb_and_without_a_connection(cast: Cast, visit: Callable[..., Any]) -> None:
    mine = prepared(cast)
    page = open_as_ann(visit, cast, mine, expected="ERR_INTERNET_DISCONNECTED", **PHONE)
    mark(page, 2, "+1")
    expect(page.locator("#m2")).to_have_attribute("data-value", "plus")
    page.context.set_offline(True)
    page.locator("#m2").get_by_role("button", name="Suggestions").tap()
    expect(page.locator("#m2 [data-role='refused']")).to_contain_text("need a connection")
    press_unsaved(page, "j", "0")
    page.locator("#m4").get_by_role("button", name="Suggestions").tap()
    expect(page.locator("#m4 [data-role='refused']")).to_contain_text("has to be saved first")
    eventually(lambda: exposures(cast.ann), 0)

    page.context.set_offline(False)
    saved(page)
    page.locator("#m4").get_by_role("button", name="Suggestions").tap()

    expect(advice(page, 4)).to_contain_text("severe canary on 4")
    expect(advice(page, 4)).to_contain_text("no suggestion")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    eventually(lambda: labels_of(mine, "value", "blind_value"), [(1, None), (0, 0)])


def test_reveal_under_always_asks_once_on_opening_and_no_label_is_blind(
    cast: Cast, visit: Callable[..., Any]
) -> None:
    mine = prepared(cast, "always")
    page = open_as_ann(visit, cast, mine)
    expect(advice(page, 2)).to_contain_text("severe canary on 2")
    page.locator("#m6").scroll_into_view_if_needed()
    expect(advice(page, 6)).to_contain_text("severe canary on 6")
    page.locator("#m2").focus()
    press(page, "1")
    eventually(lambda: labels_of(mine, "value", "blind_value"), [(1, None)])
    eventually(lambda: labels_of(mine, "exposed_at")[0][0], bool)


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("never", "This project does not show suggestions while labelling."),
        ("after_submit", "Suggestions are shown once you have submitted."),
    ],
)
def test_reveal_has_no_button_where_it_is_no_use_and_the_key_says_why(
    cast: Cast, visit: Callable[..., Any], policy: str, sentence: str
) -> None:
    mine = prepared(cast, policy)
    page = open_as_ann(visit, cast, mine)
    press(page, "1", "k", "s")
    expect(page.locator("#m2 [data-role='refused']")).to_have_text(sentence)
    expect(page.locator("[data-action='reveal']")).to_have_count(0)
    eventually(lambda: exposures(cast.ann), 0)


def test_adjudicator_shows_them_in_a_case(cast: Cast, open_as: Callable[..., Page]) -> None:
    (row,) = import_records(cast.project, 1)
    suggest(make_imported_judge(cast.project, "severe canary"), row)
    make_disputed(cast)
    case = open_case(cast.judith, row)
    page = open_as("judith", f"/adjudications/{case.pk}/")
    assert "canary" not in page.content()
    card = page.locator("#m4")
    expect(card.get_by_role("button", name="Show suggestions")).to_be_disabled()
    card.get_by_role("radio", name="+1").check()
    card.get_by_role("button", name="Show suggestions").click()
    expect(card.get_by_role("group", name="Suggestions")).to_contain_text("severe canary on 4")
    assert "on 2" not in page.content()
    assert violations(page) == []
