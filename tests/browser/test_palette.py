"""The command palette and the list of keys, with the keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests import people
from tests.browser.axe import violations
from tests.browser.visitors import session_of
from tests.browser.workbench import open_as_ann

pytestmark = pytest.mark.browser


def test_palette_opens_with_a_key_is_filtered_by_typing_and_goes_where_enter_says(visit, cast) -> None:
    visitor = session_of(visit(), cast.ann)
    visitor.go("/p/bench/")
    page = visitor.page
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Go to")
    expect(field).to_be_focused()
    expect(page.get_by_role("option", name="My work")).to_be_visible()
    assert violations(page) == []
    page.keyboard.type("my wo")
    expect(page.get_by_role("option", selected=True)).to_have_text("My workProject bench")
    expect(field).to_have_attribute("aria-activedescendant", "palette-0")
    expect(page.get_by_role("option")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Search for “my wo”")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/bench/work/")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Go to a page")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_palette_leaves_the_workbench_its_keys(visit, cast) -> None:
    people.import_records(cast.project, [people.make_record(steps=2)])
    page = open_as_ann(visit, cast, people.claim(cast.ann, cast.project))
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search in this trajectory")).to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Go to")).to_be_focused()
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(page.locator("#m2")).not_to_have_attribute("data-value", "plus")
    page.locator("#m2").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("+1 for the focused step")
