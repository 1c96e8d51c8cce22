"""Which reads of the database `make check` finds in a browser test."""

from __future__ import annotations

import pytest

from tests.browser_reads import reads

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
