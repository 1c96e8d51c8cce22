"""A key on the workbench touches what it is about, and nothing else of a long page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.workbench import press
from tests.people import make_record

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WATCH = """() => {
  window.touched = new Set();
  window.changes = 0;
  new MutationObserver((records) => {
    window.changes += records.length;
    for (const { target } of records) {
      const element = target instanceof Element ? target : target.parentElement;
      const step = element.closest("[data-step], [data-goto]");
      const place = element.closest("[data-role]");
      window.touched.add(step ? Number(step.dataset.step ?? step.dataset.goto)
        : element.closest(".thumb") ? "thumb"
        : element.closest("[data-outcome]") ? "outcome"
        : element.dataset.action ?? place?.dataset.role ?? element.tagName);
    }
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}"""

# What waits for a frame or an idle moment comes, too: until three of each have changed nothing.
QUIET = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const idle = () => new Promise((done) => requestIdleCallback(done));
  for (let calm = 0, before = -1; calm < 3; calm = window.changes === before ? calm + 1 : 0) {
    before = window.changes;
    await frame();
    await idle();
    await new Promise((done) => setTimeout(done, 50));
  }
}"""


def touched(page: Page, *keys: str) -> set[int | str]:
    """Steps by message index, and other places by name, that change by these keys and their saving."""
    page.evaluate("window.touched.clear()")
    press(page, *keys)
    page.evaluate(QUIET)
    found: set[int | str] = set(page.evaluate("[...window.touched]"))
    return found - {"save", "undo", "redo", "progress", "live", "pin", "thumb", "time"}


def test_label_touches_its_step_and_the_next(bench: Callable) -> None:
    page, _ = bench(make_record(steps=95))
    expect(page.locator(".step fieldset")).to_have_count(95)
    page.evaluate(WATCH)
    assert touched(page, "1") == {2, 4}
    assert touched(page, "q") == {4}
    assert touched(page, "f") == {4}
    assert touched(page, "j") == {4, 6}
    assert touched(page, "0") == {6, 8}
    assert touched(page, "Shift+Digit1") == {"outcome"}


def test_error_touches_its_proposals_and_the_far_ones_come_when_there_is_time(bench: Callable) -> None:
    page, _ = bench(make_record(steps=95))
    expect(page.locator(".step fieldset")).to_have_count(95)
    press(page, "1", "1")
    page.evaluate(WATCH)
    assert touched(page, "-") == {2 * step + 6 for step in range(93)}
    expect(page.locator(".step.is-proposed")).to_have_count(92)
    expect(page.locator(".rail .mark--proposal")).to_have_count(92)
    assert touched(page, "j", "j") == {8, 10, 12}
    # the question, too, which stood in the body before
    assert touched(page, "1") == {2 * step + 12 for step in range(90)} | {"BODY"}
    expect(page.locator(".step.is-proposed")).to_have_count(2)
