"""Without a mouse, from signing in to the next trajectory; and what a screen reader is told on the way."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from annotation.services import label
from tests.browser.stored import about, eventually, labels_of, outcome_of, state_of
from tests.browser.workbench import looks_again, press, ready, seen, submit
from tests.chromium import Visitor
from tests.people import PASSWORD, Cast, change, import_records, make_record, make_records, op_id

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What the focused element is called and whether the focus shows: the element, what stands for it or the step
# that it is has a ring that it has not without the focus.
FOCUS = """() => {
  const ring = (element) => {
    const style = getComputedStyle(element);
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    return outlined ? style.outline : style.boxShadow;
  };
  const rings = (element) => [element, element.parentElement, element.nextElementSibling]
    .filter(Boolean).map(ring).join("|");
  const now = document.activeElement;
  if (!now || now === document.body) return {name: "", shows: false};
  const labels = [...now.labels ?? []].map((one) => one.textContent).join(" ");
  const called = now.getAttribute("aria-label") || labels || now.textContent || "";
  const name = called.trim().replace(/\\s+/g, " ");
  const before = rings(now);
  const step = now.matches(".step");
  if (step) return {name: now.id, shows: now.classList.contains("is-focused") && ring(now) !== "none"};
  const scroll = [scrollX, scrollY];
  now.blur();
  const after = rings(now);
  now.focus({preventScroll: true});
  scrollTo(...scroll);
  return {name, shows: before !== after};
}"""


def focus(page: Page) -> str:
    """The name of what has the focus, which must be something and must be seen to have it."""
    found = page.evaluate(FOCUS)
    assert found["shows"], f"the focus is not seen: {found['name'] or 'nothing has it'}"
    return str(found["name"])


def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    """Go on with Tab until something of that name has the focus."""
    passed = []
    for _ in range(60):
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_count(1)
        passed.append(focus(page))
        if re.search(name, passed[-1]):
            return
    raise AssertionError(f"Tab does not come to {name}: {passed}")


def test_keyboard_leads_from_signing_in_to_the_next_trajectory(
    visit: Callable[..., Visitor], cast: Cast
) -> None:
    import_records(cast.project, make_records(2, steps=4))
    visitor = visit()
    page = visitor.page
    visitor.go("/")
    if page.evaluate("document.activeElement === document.body"):
        tab_to(page, "Name or e-mail address")
    page.keyboard.type("ann")
    tab_to(page, "Password")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/sign-in/" not in url)
    tab_to(page, "Label the next one")
    page.keyboard.press("Enter")
    ready(page)

    press(page, "j", "k")
    assert focus(page) == "m2"
    press(page, "1", "-")
    assert focus(page) == "m6"
    seen(page)
    press(page, "Enter")
    expect(page.locator(".step.is-proposed")).to_have_count(0)
    assert focus(page) in ("m6", "m8")
    press(page, "k", "k", "k", "j", "j", "j")
    assert focus(page) == "m8"
    press(page, "1", "c", "m")
    assert focus(page) == "Note on step 4"
    page.keyboard.type("right in the end")
    press(page, "Escape")
    assert focus(page) == "m8"

    for key in ("?", "g", "/"):
        press(page, key)
        assert focus(page) != "m8"
        press(page, "Escape")
        assert focus(page) == "m8", f"after {key} and Escape"
    tab_to(page, "More for message 8")
    press(page, "Enter")
    assert focus(page) == "Copy the text"
    press(page, "Escape")
    assert focus(page) == "More for message 8"
    tab_to(page, "Return it")
    press(page, "Enter")
    assert focus(page) == "Reason"
    press(page, "Escape")
    assert focus(page) == "Return it…"

    press(page, "Control+Enter")
    assert focus(page) == "+1", "the outcome is missing"
    press(page, "ArrowDown", "ArrowUp", "ArrowDown")
    assert focus(page) == "0"
    tab_to(page, "Flag")
    press(page, "Space")
    tab_to(page, "Broken trajectory")
    press(page, "Space")
    first = eventually(lambda: Assignment.objects.get(annotator=cast.ann), bool)
    eventually(
        lambda: labels_of(first, "value", "source", "closes", "note"),
        [
            (1, "explicit", "", ""),
            (-1, "explicit", "", ""),
            (-1, "propagated", "", ""),
            (1, "explicit", "corrected", "right in the end"),
        ],
    )
    eventually(lambda: outcome_of(first), 0)
    eventually(lambda: about(first, "broken"), (True,))

    submit(page, lambda url: "/assignments/" in url and f"/{first.pk}/" not in url)
    ready(page)
    eventually(lambda: state_of(first), "submitted")
    press(page, "0")
    assert focus(page) == "m4"


def test_screen_reader_is_told_what_happens(bench: Callable, cast: Cast) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "-")
    press(page, "w", "a")
    expect(page.locator("#m2")).to_match_aria_snapshot(
        """
        - article "Step 1":
          - heading "Step 1" [level=3]
          - text: /−1 A new error/
          - button "More for message 2"
          - group "Label of step 1":
            - radio "+1"
            - radio "0"
            - radio "−1" [checked]
          - 'button "Reason: Wrong fact, reasoning or calculation"'
          - button "Remove label"
          - button "Unsure"
          - button "Flag"
          - button "Note"
        """
    )
    seen(page)
    expect(page.locator("#m4")).to_match_aria_snapshot(
        """
        - article "Step 2":
          - group "Label of step 2":
            - radio "+1"
            - radio "0"
            - radio "−1"
          - paragraph: "/Proposed: a consequence of step 1/"
          - button "Confirm 2–3 ↵"
        """
    )
    expect(page.locator(".desk")).to_match_aria_snapshot(
        """
        - complementary "Task"
        - main:
          - heading /Trajectory/ [level=1]
          - heading "Messages" [level=2]
        - complementary "Your labels":
          - heading /Steps/ [level=2]
          - toolbar "Steps"
          - list
          - region "Outcome"
          - region "Whole trajectory"
          - region "Labels"
        """
    )
    first = page.locator("#m2").get_by_role("radio", name="+1")
    expect(first).to_have_attribute("aria-keyshortcuts", "1")
    expect(page.get_by_role("link", name="1 −1, A new error")).to_be_visible()
    live = page.locator("[data-role=live]")
    expect(live).to_have_attribute("aria-live", "polite")
    press(page, "u")
    expect(live).to_have_text("Undone.")
    page.locator("#m2").focus()
    press(page, "-", "-", "r")
    expect(live).to_have_text("Step 2: A new error")
    expect(page.locator("[data-role=save]")).to_have_role("status")
    expect(page.get_by_role("status").filter(has_text="All changes saved")).to_be_visible()
    elsewhere = change(6, 0)
    label.save_labels(actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[elsewhere])
    looks_again(page)
    expect(page.locator("#m6")).to_match_aria_snapshot(
        """
        - article "Step 3":
          - group "Label of step 3":
            - radio "0" [checked]
        """
    )
