"""Reads that `make check` finds in a browser test: of the database, and of a page right after an act."""

from __future__ import annotations

import pytest

from tests.browser_reads import early_reads, reads, too_soon

IMPORTS = """
from annotation.models import Label
from annotation.reports.cases import home
from tests.browser.stored import eventually, labels_of
from tests.callers import Caller

def test_press_is_stored(page: Page, label: Label) -> Label:
    press(page, "1")
"""


@pytest.mark.parametrize(
    ("act", "found"),
    [
        ("assert Label.objects.count() == 1", "Label"),
        ("rows = Label.objects.all()", "Label"),
        ("assert labels_of(mine) == []", "labels_of"),
        ("assert home(cast.ann).open == 1", "home"),
        ("Caller(cast.ann).get('/')", "Caller"),
        ("mine.refresh_from_db()", "refresh_from_db"),
        ("assert cast.ann.assignments.count() == 1", "assignments.count"),
        ("run(Label.objects.get().pk)", "Label"),
        ("Label.objects.filter(pk=Label.objects.get().pk).delete()", "Label"),
        ("eventually(labels_of(mine).copy, [])", "labels_of"),
        ("eventually(lambda: other(), labels_of(mine))", "labels_of"),
        ("eventually(lambda: labels_of(mine), [])", ""),
        ("eventually(Label.objects.count, lambda n: n < Label.objects.count())", ""),
        ("Label.objects.filter(value=1).update(value=0)", ""),
        ("expect(page.locator('.step')).to_have_count(1)", ""),
    ],
)
def test_read_that_does_not_wait_is_found(act: str, found: str) -> None:
    assert [name for _, name in reads(f"{IMPORTS}    {act}")] == ([found] if found else [])


HELPERS = """
def saved(page: Page) -> None:
    expect(page.locator(".save")).to_have_text("saved")

def press(page: Page, key: str) -> None:
    page.keyboard.press(key)
    saved(page)

def shown(page: Page) -> str:
    return page.locator(".step").inner_text()

def waits_itself(page: Page) -> str:
    page.reload()
    return shown(page)
"""


@pytest.mark.parametrize(
    ("acts", "found"),
    [
        ("page.locator('a').click(); assert page.locator('b').count() == 1", "count"),
        ("page.keyboard.press('1'); assert 'x' in page.content()", "content"),
        (
            "page.locator('a').tap(); page.evaluate('scrollTo(0, 1)'); page.evaluate('1') == 1 or fail()",
            "evaluate",
        ),
        ("page.locator('a').fill('x'); page.goto(page.locator('b').input_value())", "input_value"),
        ("page.locator('a').click(); assert shown(page) == '1'", "shown"),
        ("for key in '12':\n        assert shown(page)\n        page.locator('a').click()", "shown"),
        ("page.locator('a').click(); page.wait_for_timeout(50); shown(page)", "shown"),
        ("page.locator('a').click(); expect(page.locator('b')).to_be_visible(); shown(page)", ""),
        ("page.locator('a').click(); page.wait_for_url('**/b/'); shown(page)", ""),
        ("with page.expect_event('load'):\n        page.locator('a').click()\n    shown(page)", ""),
        ("page.locator('a').click(); waits_itself(page)", ""),
        ("press(page, '1'); shown(page)", ""),
        ("page.locator('a').click(); [1, 2].count(1); eventually(lambda: shown(page), '1')", ""),
    ],
)
def test_read_of_a_page_right_after_an_act_is_found(acts: str, found: str) -> None:
    source = f"def test_act(page: Page) -> None:\n    {acts}"
    assert [name for _, name in early_reads(source, [HELPERS])] == ([found] if found else [])


@pytest.mark.parametrize(
    ("act", "helper"), [("page.route('*', f)", "intercept"), ("page.context.set_offline(True)", "cut_off")]
)
def test_act_that_a_request_may_overtake_is_found(act: str, helper: str) -> None:
    source = f"def {helper}(page):\n    {act}\n\ndef test_act(page):\n    {act}\n    page.set_offline(False)"
    assert list(too_soon(source)) == [(5, helper)]
