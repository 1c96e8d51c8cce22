"""Keys of one's own, and the choices beside a label: where an error began, why it ends."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.core.guidelines import default_guideline
from annotation.models import Guideline
from annotation.services import accounts, projects
from tests.browser.stored import eventually, labels_of, values_of
from tests.browser.workbench import click, open_as_ann, press, press_unsaved, ready
from tests.people import claim, import_records, make_record

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_keys_that_were_changed_act_and_are_shown(visit: Callable, cast) -> None:
    accounts.change_keys(actor=cast.ann, user=cast.ann, keys={"plus": "p", "flag": "1"})
    import_records(cast.project, [make_record(steps=2)])
    assignment = claim(cast.ann, cast.project)
    page = open_as_ann(visit, cast, assignment)
    press(page, "1", "p", "Shift+P")
    eventually(lambda: labels_of(assignment, "step__message_index", "value", "flagged"), [(2, 1, True)])
    expect(page.locator("#m2 input[value='1']")).to_have_attribute("aria-keyshortcuts", "p")
    expect(page.locator("[data-outcome] input[value='1']")).to_be_checked()
    press(page, "?")
    expect(page.locator(".keys dt").first).to_have_text("p")


def test_closing_reason_is_asked_after_a_plus_that_ends_an_error_and_the_hand_goes_on(bench) -> None:
    page, assignment = bench(make_record(steps=7))
    ask = page.locator('[data-role="closing-reason"]')
    press(page, "-", "1")
    expect(ask).to_contain_text("Step 2 ends the error of step 1. Why?")
    expect(page.locator("#m6")).to_be_focused()
    press(page, "c")
    expect(ask).to_be_hidden()
    press(page, "-", "1")
    click(ask.get_by_role("button", name="Independent"))
    expect(ask).to_be_hidden()
    wanted = [(-1, ""), (1, "corrected"), (-1, ""), (1, "independent")]
    eventually(lambda: labels_of(assignment, "value", "closes"), wanted)
    # until the next label
    press(page, "-", "1", "0")
    expect(ask).to_be_hidden()
    eventually(lambda: values_of(assignment), [-1, 1, -1, 1, -1, 1, 0])


WHERE = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const [ask, step] = [box("[data-role=closing-reason]"), box("#m4")];
  const meets = (one) => one.width > 0 && one.left < ask.right && ask.left < one.right
    && one.top < ask.bottom && ask.top < one.bottom;
  return {
    inside: step.top <= ask.top && ask.bottom <= step.bottom,
    covers: [".bar", ".thumb", ".find", ".desk__steps h2"].filter((selector) => meets(box(selector))),
  };
}"""


def test_closing_reason_stands_in_its_step_and_escape_leaves_it_open(bench) -> None:
    page, assignment = bench(make_record(steps=5))
    ask = page.locator('[data-role="closing-reason"]')
    for size in ({"width": 1440, "height": 900}, {"width": 390, "height": 844}):
        page.set_viewport_size(size)
        page.locator("#m2").focus()
        press(page, "Backspace", "j", "Backspace", "k", "/")
        press(page, "Escape")
        page.get_by_role("button", name="Search in this trajectory").click()
        page.locator("#m2").focus()
        press(page, "-", "1")
        expect(ask).to_be_in_viewport(ratio=1)
        expect(page.locator("#m4").locator(ask)).to_have_count(1)
        assert page.evaluate(WHERE) == {"inside": True, "covers": []}, size
        expect(page.locator('[data-role="live"]')).to_contain_text("c: corrected. i: independent. Escape")
        # backwards from the step that has the focus, with the keyboard alone
        press(page, "Shift+Tab")
        expect(ask.get_by_role("button", name="Leave it open")).to_be_focused()
        press(page, "Escape")
        expect(ask).to_be_hidden()
        expect(page.locator("#m6")).to_be_focused()
        eventually(lambda: labels_of(assignment)[:2], [(2, -1, "explicit"), (4, 1, "explicit")])
        press(page, "f")
        expect(ask).to_be_hidden()
        press(page, "f")
    # it can still be said: with its key, while nothing else was judged
    press(page, "c")
    eventually(lambda: labels_of(assignment, "closes")[1], ("corrected",))


def test_guidelines_key_says_that_there_are_none_and_buttons_name_their_keys(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    Guideline.objects.all().delete()
    page.reload()
    ready(page)
    press(page, "g")
    dialog = page.get_by_role("dialog", name="Guidelines")
    expect(dialog).to_contain_text("This project has no guidelines yet.")
    press(page, "Escape")
    expect(dialog).to_be_hidden()
    places = ".desk__tools button, .own > button, .bar__tools > button, #m2 .controls button:visible"
    tools = page.locator(places).all()
    assert len(tools) >= 14
    for button in tools:
        keys = button.get_attribute("aria-keyshortcuts")
        assert keys, button.inner_html()
        assert "(" in (button.get_attribute("title") or ""), keys
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("title", "Undo (u)")
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Nothing is lost.")
    expect(dialog).to_contain_text("+1 for the focused step, and on to the next")
    press(page, "1", "Escape")
    expect(dialog).to_be_hidden()
    eventually(lambda: labels_of(assignment), [])


def test_guidelines_open_at_the_part_that_concerns_the_focused_step(visit: Callable, cast) -> None:
    written = default_guideline("en")
    guideline = projects.write_guidelines(actor=cast.admin, project=cast.project, text=written)
    projects.read_guidelines(actor=cast.ann, guideline=guideline)
    import_records(cast.project, [make_record(steps=3)])
    page = open_as_ann(visit, cast, claim(cast.ann, cast.project))
    dialog = page.get_by_role("dialog", name="Guidelines")
    heading = dialog.locator(".prose__part > :is(h2, h3)")
    marked = dialog.locator("tr.is-meant")
    for keys, part, rows in (
        (["0", "k"], "Frequent cases", written.count(" | 0 |\n")),
        (["j", "-"], "Errors propagate", 0),
        (["-"], "The outcome", 0),
    ):
        press(page, *keys, "g")
        expect(heading).to_have_text(part)
        expect(heading).to_be_focused()
        expect(heading).to_be_in_viewport()
        expect(marked).to_have_count(rows)
        press(page, "Escape")
        expect(dialog).to_be_hidden()


def test_propagation_is_explained_once_in_the_first_step_that_is_proposed(bench) -> None:
    page, _ = bench(make_record(steps=4))
    page.evaluate("localStorage.setItem('first-time', '1'); localStorage.removeItem('tristep:propagation')")
    page.reload()
    ready(page)
    note = page.get_by_role("note")
    expect(page.locator("[data-role=propagation-note]")).to_be_hidden()
    press(page, "-")
    expect(page.locator("#m4").get_by_role("note")).to_contain_text("An error propagates")
    expect(page.locator("#m4")).to_be_focused()
    press(page, "k", "Backspace")
    expect(note).to_have_count(0)
    press(page, "j", "-")
    expect(page.locator("#m6").get_by_role("note")).to_be_visible()
    click(note.get_by_role("button", name="Got it"))
    expect(note).to_have_count(0)
    page.reload()
    ready(page)
    expect(page.locator("#m6")).to_have_class(re.compile("is-proposed"))
    expect(note).to_have_count(0)


def test_root_of_a_minus_is_shown_and_one_key_changes_it(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "-")
    expect(page.locator("#m2 [data-role=marks]")).to_have_text("A new error")
    press(page, "-")
    expect(page.locator("#m4 [data-role=marks]")).to_have_text("A consequence of step 1")
    press(page, "r")
    expect(page.locator("#m4 [data-role=marks]")).to_have_text("A new error")
    expect(page.locator("#m6 [data-role=proposal]")).to_have_text("Proposed: a consequence of step 2")
    eventually(lambda: labels_of(assignment, "root__message_index"), [(2,), (4,)])


def test_trajectories_of_ones_own_are_reached_by_key_and_button_with_all_saved(visit: Callable, cast) -> None:
    import_records(cast.project, 3)
    first, second = claim(cast.ann, cast.project), claim(cast.ann, cast.project)
    page = open_as_ann(visit, cast, second)
    expect(page.locator(".own")).to_contain_text("0 of 3 submitted")
    press(page, "Shift+J")
    expect(page.locator('[data-role="live"]')).to_have_text("This is the last trajectory you have claimed.")
    press_unsaved(page, "1", "Shift+K")
    page.wait_for_url(f"**/assignments/{first.pk}/")
    ready(page)
    eventually(lambda: values_of(second), [1])
    page.get_by_role("link", name="My trajectory after this one").click()
    page.wait_for_url(f"**/assignments/{second.pk}/")
    ready(page)
    expect(page.locator("#m2")).to_have_attribute("data-value", "plus")
