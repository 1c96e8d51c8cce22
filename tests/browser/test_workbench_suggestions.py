"""Suggestions on the workbench and in a case: sealed, revealed by key, by hand and by thumb, there again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Exposure, Label, SuggestedLabel, SuggestionRun
from annotation.policies import OPERATOR
from annotation.services import projects
from annotation.services.suggest import run_suggestions
from tests.browser.visitors import session_of
from tests.browser.workbench import PHONE, mark, open_as_ann, press, saved
from tests.callers import signed_in
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


def blind(assignment: Assignment, index: int) -> tuple[int | None, int | None]:
    row = Label.objects.get(assignment=assignment, step__message_index=index)
    return row.value, row.blind_value


def no_violations(page: Page) -> None:
    # without it, a button that the pointer has just come over is looked at between two colours
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(Axe().axe_script)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []


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
    no_violations(page)
    press(page, "-")
    saved(page)
    assert blind(mine, 2) == (-1, 1)

    page.reload()
    expect(advice(page, 2)).to_contain_text("severe canary on 2")
    assert "on 4" not in page.content()
    page.locator("[data-outcome] label.zero").click()
    page.locator("[data-outcome]").get_by_role("button", name="Suggestions").click()
    expect(page.locator("[data-outcome] [data-role='suggestions']")).to_contain_text("on the outcome")
    assert Exposure.objects.filter(user=cast.ann, kind="suggestion").count() == 2


def test_reveal_works_by_thumb_and_without_a_connection(cast: Cast, visit: Callable[..., Any]) -> None:
    mine = prepared(cast)
    page = open_as_ann(visit, cast, mine, expected="ERR_INTERNET_DISCONNECTED", **PHONE)
    mark(page, 2, "+1")
    expect(page.locator("#m2")).to_have_attribute("data-value", "plus")
    saved(page)
    page.context.set_offline(True)
    page.locator("#m2").get_by_role("button", name="Suggestions").tap()
    expect(page.locator("#m2 [data-role='refused']")).to_contain_text("need a connection")
    mark(page, 4, "0")
    page.locator("#m4").get_by_role("button", name="Suggestions").tap()
    expect(page.locator("#m4 [data-role='refused']")).to_contain_text("has to be saved first")
    assert not Exposure.objects.exists()

    page.context.set_offline(False)
    saved(page)
    page.locator("#m4").get_by_role("button", name="Suggestions").tap()

    expect(advice(page, 4)).to_contain_text("severe canary on 4")
    expect(advice(page, 4)).to_contain_text("no suggestion")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert blind(mine, 4) == (0, 0)


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
    saved(page)
    row = Label.objects.get(assignment=mine)
    assert (row.value, row.blind_value, row.exposed_at is not None) == (1, None, True)


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
    assert not Exposure.objects.exists()


def test_adjudicator_shows_them_in_a_case(cast: Cast, visit: Callable[..., Any]) -> None:
    (row,) = import_records(cast.project, 1)
    suggest(make_imported_judge(cast.project, "severe canary"), row)
    make_disputed(cast)
    case = open_case(cast.judith, row)
    visitor = visit()
    session = signed_in(cast.judith).cookies[settings.SESSION_COOKIE_NAME].value
    visitor.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": visitor.home}]
    )
    visitor.go(f"/adjudications/{case.pk}/")
    page = visitor.page
    assert "canary" not in page.content()
    card = page.locator("#m4")
    expect(card.get_by_role("button", name="Show suggestions")).to_be_disabled()
    card.get_by_role("radio", name="+1").check()
    card.get_by_role("button", name="Show suggestions").click()
    expect(card.get_by_role("group", name="Suggestions")).to_contain_text("severe canary on 4")
    assert "on 2" not in page.content()
    no_violations(page)


def test_baseline_is_added_trained_run_and_revealed_from_the_pages(
    cast: Cast, visit: Callable[..., Any]
) -> None:
    import_records(cast.project, [make_record(steps=3)])
    projects.update_project(actor=OPERATOR, project=cast.project, values={"suggestion_policy": "after_label"})
    mine = claim(cast.ann, cast.project)
    visitor = session_of(visit(), cast.admin)
    visitor.go("/p/bench/judges/")
    page = visitor.page
    page.get_by_role("link", name="Add the baseline").click()
    page.get_by_label("Name").fill("Steady")
    page.locator("main form button.button--primary").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Steady")
    visitor.go("/p/bench/runs/new/")
    page.get_by_label("Steady").check()
    page.get_by_role("button", name="Estimate").click()
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))

    (run,) = SuggestionRun.objects.all()
    run_suggestions(run_id=run.pk)  # what the worker does with it
    visitor.go(f"/p/bench/runs/{run.pk}/")
    expect(page.locator("[data-role=counted]")).to_have_text("1 of 1")
    visitor.go(f"/p/bench/judges/{run.judge_id}/")
    expect(page.get_by_role("heading", name="Training")).to_be_visible()

    bench = open_as_ann(visit, cast, mine)
    assert SuggestedLabel.objects.exists() and "Steady" not in bench.content()
    press(bench, "1", "k", "s")
    told = SuggestedLabel.objects.get(step__message_index=2)
    expect(advice(bench, 2).locator("dd")).to_contain_text({1: "+1", 0: "0", -1: "−1"}[told.value or 0])
    expect(advice(bench, 2)).to_contain_text(told.reason)
    saved(bench)
    assert blind(mine, 2) == (1, 1)
