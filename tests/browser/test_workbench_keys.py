"""Keys of one's own, and the choices beside a label: where an error began, why it ends."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from annotation.services import accounts
from tests.browser.workbench import open_as_ann, press, saved, stored
from tests.people import claim, import_records, make_record

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_keys_that_were_changed_act_and_are_shown(visit: Callable, cast) -> None:
    accounts.change_keys(actor=cast.ann, user=cast.ann, keys={"plus": "p", "flag": "1"})
    import_records(cast.project, [make_record(steps=2)])
    assignment = claim(cast.ann, cast.project)
    page = open_as_ann(visit, cast, assignment)
    press(page, "1", "p", "Shift+P")
    saved(page)
    row = Label.objects.select_related("step").get(assignment=assignment, value=1)
    assert (row.step.message_index, row.flagged) == (2, True)
    expect(page.locator("#m2 input[value='1']")).to_have_attribute("aria-keyshortcuts", "p")
    expect(page.locator("[data-outcome] input[value='1']")).to_be_checked()
    press(page, "?")
    expect(page.locator(".keys dt").first).to_have_text("p")


def test_closing_reason_is_asked_after_a_plus_that_ends_an_error_and_the_hand_goes_on(bench) -> None:
    page, assignment = bench(make_record(steps=4))
    ask = page.locator('[data-role="closing-reason"]')
    press(page, "-", "1")
    expect(ask).to_contain_text("Step 2 ends the error of step 1. Why?")
    expect(page.locator("#m6")).to_be_focused()
    press(page, "c")
    expect(ask).to_be_hidden()
    press(page, "-", "1")
    ask.get_by_role("button", name="Independent").click()
    expect(ask).to_be_hidden()
    saved(page)
    closes = Label.objects.filter(assignment=assignment, value=1).order_by("step__message_index")
    assert list(closes.values_list("closes", flat=True)) == ["corrected", "independent"]


def test_closing_reason_is_asked_until_the_next_label(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "-", "1", "0")
    expect(page.locator('[data-role="closing-reason"]')).to_be_hidden()
    saved(page)
    assert [value for _, value, _ in stored(assignment)] == [-1, 1, 0]


def test_root_of_a_minus_is_shown_and_one_key_changes_it(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "-")
    expect(page.locator("#m2 [data-role=marks]")).to_have_text("A new error")
    press(page, "-")
    expect(page.locator("#m4 [data-role=marks]")).to_have_text("A consequence of step 1")
    press(page, "r")
    expect(page.locator("#m4 [data-role=marks]")).to_have_text("A new error")
    expect(page.locator("#m6 [data-role=proposal]")).to_have_text("Proposed: a consequence of step 2")
    saved(page)
    roots = Label.objects.filter(assignment=assignment).order_by("step__message_index")
    assert list(roots.values_list("root__message_index", flat=True)) == [2, 4]
