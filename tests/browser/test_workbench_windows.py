"""One assignment in several windows and on several devices: nothing is overwritten silently."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.services import label
from tests.browser.stored import eventually, saves_of, values_of
from tests.browser.workbench import (
    NO_ANSWER,
    click,
    cut,
    looks_again,
    open_as_ann,
    press,
    press_unsaved,
    ready,
    shown,
)
from tests.people import Cast, change, claim, import_records, make_record, op_id

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_tabs_show_and_store_the_same(bench: Callable) -> None:
    first, assignment = bench(make_record(steps=4))
    second = first.context.new_page()
    second.goto(first.url)
    ready(second)
    expect(first.locator('[data-role="elsewhere"]')).to_contain_text("open in another window")
    expect(second.locator('[data-role="elsewhere"]')).to_contain_text("open in another window")
    press(first, "1")
    expect(second.locator("#m2")).to_have_attribute("data-value", "plus")
    press(second, "n", "0")
    press(first, "n", "n", "1")
    # each is told what the other has stored
    expect(first.locator("#m4")).to_have_attribute("data-value", "zero")
    expect(second.locator("#m8")).to_have_attribute("data-value", "plus")
    assert shown(first) == shown(second)
    eventually(lambda: values_of(assignment), [value for value in shown(first) if value is not None])


def test_tabs_in_conflict_tell_it_and_the_person_settles_it(bench: Callable) -> None:
    first, assignment = bench(make_record(steps=2), expected=NO_ANSWER)
    second = first.context.new_page()
    second.goto(first.url)
    ready(second)
    second.route("**/labels/", cut)
    press_unsaved(second, "1")
    press(first, "0")
    expect(second.locator("#m2 [data-role=problem]")).to_contain_text("+1 was not saved")
    expect(second.locator("#m2")).to_have_attribute("data-value", "zero")
    second.unroute("**/labels/", cut)
    click(second.get_by_role("button", name="Use +1 instead"))
    expect(first.locator("#m2")).to_have_attribute("data-value", "plus")
    eventually(lambda: values_of(assignment), [1])


def test_window_on_another_device_is_noticed_and_merged(visit: Callable, cast: Cast) -> None:
    import_records(cast.project, [make_record(steps=3)])
    assignment = claim(cast.ann, cast.project)
    desk, phone = (open_as_ann(visit, cast, assignment) for _ in range(2))
    press(desk, "1")
    click(phone.locator("#m4 label.zero"))
    expect(phone.locator("#m2")).to_have_attribute("data-value", "plus")
    expect(phone.locator("#m2 [data-role=problem]")).to_have_text("This was changed in another window.")
    eventually(lambda: values_of(assignment), [1, 0])
    label.save_labels(actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[change(6, 0)])
    click(phone.locator("#m4 label.plus"))
    expect(phone.locator("#m2 [data-role=problem]")).to_be_hidden()
    looks_again(desk)
    expect(desk.locator("#m6")).to_have_attribute("data-value", "zero")
    eventually(lambda: saves_of(assignment), 4)  # asking leaves no trace
