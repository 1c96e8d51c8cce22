"""The workbench in a real browser: keys, mouse, proposals, saving, submitting, and from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from annotation.policies import OPERATOR
from annotation.services import label, projects
from tests.browser.axe import violations
from tests.browser.frames import FRAME
from tests.browser.stored import (
    about,
    events_of,
    eventually,
    exposures,
    labels_of,
    outcome_of,
    saves_of,
    state_of,
    values_of,
)
from tests.browser.workbench import (
    NO_ANSWER,
    PHONE,
    choose,
    click,
    cut,
    cut_off,
    intercept,
    looks_again,
    mark,
    note,
    open_as_ann,
    press,
    press_unsaved,
    ready,
    saved,
    seen,
    shown,
    submit,
    tap,
    thumb,
)
from tests.chromium import fits_the_window
from tests.fixtures.judges import make_imported_judge
from tests.frontend.chinese import speak_chinese
from tests.people import (
    Cast,
    change,
    claim,
    import_records,
    label_all,
    make_disputed,
    make_record,
    op_id,
    open_case,
    step_indexes,
)
from tests.suggesting import suggest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def missing(page: Page, text: str) -> None:
    expect(page.locator('[data-role="missing"]')).to_have_text(text)


def test_labels_and_flags_are_saved_at_once_and_there_after_a_reload(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "0")
    eventually(lambda: labels_of(assignment), [(2, 0, "explicit")])
    for name in ("Needs discussion", "Broken trajectory", "Needs discussion"):
        click(page.get_by_role("button", name=name))
    eventually(lambda: about(assignment, "needs_discussion", "broken"), (False, True))
    page.reload()
    expect(page.locator("#m2")).to_have_attribute("data-value", "zero")
    expect(page.locator("#m4")).to_have_class("msg msg--step step is-focused")
    expect(page.get_by_role("button", name="Broken trajectory")).to_have_attribute("aria-pressed", "true")


def test_mouse_and_fields_do_what_keys_do(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    first, second, third = (page.locator(f"#m{index}") for index in (2, 4, 6))
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_disabled()
    click(first.locator("label.minus"))
    click(page.get_by_role("button", name="Next step", exact=True))
    seen(page)
    click(page.get_by_role("button", name="Confirm the proposals"))
    eventually(lambda: values_of(assignment), [-1, -1, -1])
    click(undo)
    eventually(lambda: values_of(assignment), [-1, None, None])
    click(page.get_by_role("button", name="Redo"))
    eventually(lambda: values_of(assignment), [-1, -1, -1])
    click(undo)
    click(second.locator("label.minus"))
    choose(second.get_by_label("Where this error began"), label="A new error")
    seen(page)
    click(third.get_by_role("button", name="Confirm"))
    first.get_by_role("button", name="Reason").click()
    click(page.get_by_role("dialog").get_by_role("button", name="Wrong tool for what is needed"))
    click(first.get_by_role("button", name="Unsure"))
    click(first.get_by_role("button", name="Note"))
    first.get_by_role("textbox").fill("1 0 - j k: typed, not pressed")
    click(page.locator("[data-outcome] label.zero"))
    eventually(
        lambda: labels_of(assignment, "value", "source", "root__message_index"),
        [(-1, "explicit", 2), (-1, "explicit", 4), (-1, "propagated", 4)],
    )
    eventually(
        lambda: labels_of(assignment, "reason", "unsure", "note")[0],
        ("wrong_tool", True, "1 0 - j k: typed, not pressed"),
    )
    eventually(lambda: outcome_of(assignment), 0)


def test_reason_is_one_key_and_a_letter_for_the_step_just_judged(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "-", "w", "c")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#m4")).to_be_focused()
    eventually(lambda: labels_of(assignment, "value", "reason"), [(-1, "wrong_tool")])
    # the reasons of another value; digits and labelling keys mean nothing in them
    press(page, "1", "w", "1")
    dialog = page.get_by_role("dialog", name="Reason for +1 of step 2")
    expect(dialog.get_by_role("button", name="Checks a finding against another source")).to_be_visible()
    press(page, "d")
    expect(dialog).to_be_hidden()
    press(page, "k", "k", "w")
    expect(page.get_by_role("button", name="Wrong tool for what is needed", pressed=True)).to_be_focused()
    press(page, "Backspace")
    eventually(lambda: labels_of(assignment, "value", "reason"), [(-1, ""), (1, "cross_check")])


def test_keys_are_letters_in_a_note_which_goes_along_when_submitting_from_within_it(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    note(page, "10-jkn?u")
    eventually(lambda: labels_of(assignment, "value", "note"), [(None, "10-jkn?u")])
    expect(page.locator("#m2")).to_be_focused()
    press(page, "1", "1", "Shift+Digit1", "m")
    page.keyboard.type("last words")
    submit(page)
    eventually(lambda: labels_of(assignment, "value", "note"), [(1, "10-jkn?u"), (1, "last words")])


def test_proposal_that_was_not_on_screen_cannot_be_confirmed(bench) -> None:
    tall = make_record(steps=3)
    for message in tall["messages"]:
        if message["role"] == "assistant":
            message["content"] = "\n".join(["line"] * 60)
    page, assignment = bench(tall)
    press(page, "-")
    seen(page)
    press(page, "Enter")
    eventually(lambda: labels_of(assignment), [(2, -1, "explicit"), (4, -1, "propagated")])
    expect(page.locator("#m6")).to_be_focused()


def test_save_stops_and_says_so_when_closed_elsewhere(bench, cast) -> None:
    page, assignment = bench(make_record(steps=2), expected="409")
    changes = [change(index, 1) for index in step_indexes(assignment.trajectory_id)]
    label.save_labels(
        actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[*changes, change(None, 1)]
    )
    label.submit(actor=cast.ann, assignment=assignment)
    press_unsaved(page, "-")
    expect(page.locator('[data-role="banner"]')).to_contain_text("no longer open for labelling")
    expect(page.locator("#m2 fieldset input").first).to_be_disabled()


def test_return_needs_a_reason_and_keeps_the_draft(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    press(page, "1")
    page.get_by_role("button", name="Return it…").click()
    page.get_by_role("button", name="Return it", exact=True).click()
    expect(page.locator("#give-back")).to_be_visible()
    page.get_by_label("Reason").last.fill("I know the author")
    page.get_by_role("button", name="Return it", exact=True).click()
    page.wait_for_url("**/bench/work/**")
    eventually(lambda: about(assignment, "state", "return_reason"), ("returned", "I know the author"))
    eventually(lambda: labels_of(assignment), [(2, 1, "explicit")])


def test_submit_names_all_that_is_missing_and_asks_once_about_an_odd_outcome(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "1", "Control+Enter")
    missing(page, "Step 2 has no label yet.")
    expect(page.locator('[data-role="missing-rest"]')).to_have_text("Also missing: 3, Outcome.")
    expect(page.locator("#m4")).to_be_focused()
    press(page, "1")
    expect(page.locator('[data-role="missing"]')).to_be_hidden()
    press(page, "1", "Control+Enter")
    missing(page, "The outcome is not set yet.")
    page.locator("#m6").focus()
    press(page, "-", "Shift+Digit1", "Control+Enter")
    missing(page, "The last step is −1, but the outcome is +1.")
    page.locator("#m6").focus()
    press(page, "0", "Shift+Minus", "Control+Enter")
    missing(page, "The outcome is −1, but no step is −1.")
    eventually(lambda: state_of(assignment), "open")
    submit(page)
    eventually(lambda: state_of(assignment), "submitted")


def test_reopen_from_the_submissions_own_page_and_from_the_list(visit, cast) -> None:
    import_records(cast.project, [make_record(steps=1)])
    assignment = claim(cast.ann, cast.project)
    label_all(assignment)
    for place in ("workbench", "list"):
        label.submit(actor=cast.ann, assignment=assignment)
        page = open_as_ann(visit, cast, assignment)
        expect(page.get_by_text("You have submitted this trajectory.")).to_be_visible()
        if place == "list":
            page.goto(page.url.split("/assignments/")[0] + "/p/bench/work/?state=submitted")
        page.get_by_role("button", name="Reopen").click()
        ready(page)
        expect(page.locator(".desk__submit")).to_be_visible()
        eventually(lambda: state_of(assignment), "open")
    eventually(lambda: events_of(assignment, "reopen"), 2)


def test_reopen_is_refused_in_words_when_the_other_has_submitted(visit, cast) -> None:
    import_records(cast.project, [make_record(steps=1)])
    mine, other = claim(cast.ann, cast.project), claim(cast.ben, cast.project)
    label_all(mine)
    label.submit(actor=cast.ann, assignment=mine)
    page = open_as_ann(visit, cast, mine, expected="409")
    label_all(other)
    label.submit(actor=cast.ben, assignment=other)
    page.get_by_role("button", name="Reopen").click()
    expect(page.get_by_text("can no longer be reopened")).to_be_visible()
    eventually(lambda: state_of(mine), "submitted")


def test_activity_is_reported_when_leaving_and_idle_time_is_not(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    press(page, "j")
    page.wait_for_timeout(600)
    press(page, "k")
    page.goto("about:blank")
    eventually(lambda: about(assignment, "active_ms"), lambda ms: 500 <= ms[0] < 60_000)


def test_labelling_in_chinese(visit, cast) -> None:
    import_records(cast.project, [make_record(steps=3)])
    assignment = claim(cast.ann, cast.project)
    speak_chinese(cast)
    page = open_as_ann(visit, cast, assignment)
    press(page, "-")
    expect(page.get_by_text("提议：步骤 1 的后果").first).to_be_visible()
    expect(page.locator("[data-role=save]")).to_have_text("已保存")
    press(page, "?")
    expect(page.get_by_role("dialog", name="快捷键")).to_contain_text("下一个没有标注的步骤")


def test_touch_alone_labels_a_whole_trajectory(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=4), **PHONE)
    mark(page, 2, "+1")
    mark(page, 4, "−1")
    for index in (6, 8):
        page.locator(f"#m{index}").scroll_into_view_if_needed()
        seen(page)
    tap(page.locator("#m6 .msg__role"))
    thumb(page, "Confirm the proposals that you have seen, up to here")
    expect(page.locator(".step.is-proposed")).to_have_count(0)
    mark(page, 8, "+1")
    tap(page.get_by_role("button", name="Corrected"))
    tap(page.locator("#m8").get_by_role("button", name="Unsure"))
    tap(page.locator("[data-outcome] label.zero"))
    eventually(
        lambda: labels_of(assignment, "value", "source", "closes", "unsure"),
        [
            (1, "explicit", "", False),
            (-1, "explicit", "", False),
            (-1, "propagated", "", False),
            (1, "explicit", "corrected", True),
        ],
    )
    eventually(lambda: outcome_of(assignment), 0)
    page.get_by_role("button", name="Submit").tap()
    page.wait_for_url("**/bench/work/**")
    eventually(lambda: state_of(assignment), "submitted")


def test_touch_bar_labels_moves_confirms_and_submits(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=4), **PHONE)
    steps = page.locator('[data-role="mobile-here"]')
    # what the bar does stands there alone, names no keys, and looks after a tap as it did before
    expect(page.locator(".step:visible")).to_have_count(4)
    expect(page.locator(".step .controls__value:visible, .step [data-role=confirm]:visible")).to_have_count(0)
    expect(page.locator("kbd:visible")).to_have_count(0)
    tone = "document.querySelector('.thumb__next').computedStyleMap().get('background-color').toString()"
    at_rest = page.evaluate(tone)
    page.locator(".thumb__next").tap()
    expect(steps).to_have_text("2 / 4")
    assert page.evaluate(tone) == at_rest
    page.locator(".thumb__previous").tap()
    expect(steps).to_have_text("1 / 4")
    bar = page.locator(".thumb").bounding_box()
    assert bar and bar["y"] + bar["height"] == 844 and bar["width"] == 390
    for button in page.locator(".thumb button").all():
        box = button.bounding_box()
        assert box and box["height"] >= 44 and box["width"] >= 44 and box["x"] + box["width"] <= 390
    thumb(page, "+1")
    thumb(page, "−1")
    expect(steps).to_have_text("3 / 4")
    seen(page)
    thumb(page, "Next step")
    expect(steps).to_have_text("4 / 4")
    seen(page)
    thumb(page, "Confirm the proposals that you have seen, up to here")
    expect(page.locator(".step.is-proposed")).to_have_count(0)
    eventually(
        lambda: labels_of(assignment, "value", "source"),
        [(1, "explicit"), (-1, "explicit"), (-1, "propagated"), (-1, "propagated")],
    )
    thumb(page, "Undo")
    expect(page.locator(".step.is-proposed")).to_have_count(2)
    thumb(page, "−1")
    expect(page.locator(".thumb [data-value='-1']")).to_have_attribute("aria-pressed", "false")
    page.locator('[data-role="mobile-steps"]').tap()
    page.locator('.rail [data-goto="2"]').tap()
    expect(steps).to_have_text("1 / 4")
    expect(page.locator(".rail")).to_be_hidden()
    expect(page.locator(".thumb [data-value='1']")).to_have_attribute("aria-pressed", "true")
    thumb(page, "Submit")
    expect(page.locator('[data-role="missing"]')).to_be_in_viewport()
    fits_the_window(page)


def test_touch_scrolling_takes_the_focus_along(bench: Callable) -> None:
    page, _ = bench(make_record(steps=12), **PHONE)
    # its click would take the focus back if it came after the scrolling
    tap(page.locator("#m4 .msg__role"))
    expect(page.locator("#m4")).to_contain_class("is-focused")
    page.locator("#m24").evaluate("step => step.scrollIntoView()")
    expect(page.locator(".step.is-focused")).to_be_in_viewport()
    expect(page.locator('[data-role="mobile-here"]')).not_to_have_text("2 / 12")


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
QUIET = f"""async () => {{{FRAME}
  const idle = () => new Promise((done) => requestIdleCallback(done, {{timeout: 2000}}));
  for (let calm = 0, before = -1; calm < 3; calm = window.changes === before ? calm + 1 : 0) {{
    before = window.changes;
    await frame();
    await idle();
    await new Promise((done) => setTimeout(done, 50));
  }}
}}"""


def touched(page: Page, *keys: str) -> set[int | str]:
    """Steps by message index, and other places by name, that change by these keys and their saving."""
    page.evaluate("window.touched.clear()")
    press(page, *keys)
    page.evaluate(QUIET)
    found: set[int | str] = set(page.evaluate("[...window.touched]"))
    return found - {"save", "undo", "redo", "progress", "live", "pin", "thumb", "time"}


def test_label_touches_its_step_and_the_next_and_an_error_its_proposals(bench: Callable) -> None:
    page, _ = bench(make_record(steps=95))
    expect(page.locator(".step fieldset")).to_have_count(95)
    assert page.locator("*").count() < 9000
    page.evaluate(WATCH)
    # far steps are made ready when there is time, on a busy machine after the first key
    page.evaluate(QUIET)
    assert touched(page, "1") == {2, 4}
    assert touched(page, "q") == {4}
    assert touched(page, "f") == {4}
    assert touched(page, "j") == {4, 6}
    assert touched(page, "0") == {6, 8}
    assert touched(page, "Shift+Digit1") == {"outcome"}
    # the far ones come when there is time
    assert touched(page, "-") == {2 * step + 8 for step in range(92)}
    expect(page.locator(".step.is-proposed")).to_have_count(91)
    expect(page.locator(".rail .mark--proposal")).to_have_count(91)
    assert touched(page, "j", "j") == {10, 12, 14}
    # the question, too, which stood in the body before
    assert touched(page, "1") == {2 * step + 14 for step in range(89)} | {"BODY"}
    expect(page.locator(".step.is-proposed")).to_have_count(2)


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
    intercept(second, "**/labels/", cut)
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
    cut_off(page)
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
    fits_the_window(page)
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


def test_reveal_has_no_button_where_it_is_no_use_and_the_key_says_why(
    cast: Cast, visit: Callable[..., Any]
) -> None:
    mine = prepared(cast, "never")
    page = open_as_ann(visit, cast, mine)
    press(page, "1", "k", "s")
    refused = page.locator("#m2 [data-role='refused']")
    expect(refused).to_have_text("This project does not show suggestions while labelling.")
    expect(page.locator("[data-action='reveal']")).to_have_count(0)
    projects.update_project(
        actor=OPERATOR, project=cast.project, values={"suggestion_policy": "after_submit"}
    )
    page.reload()
    ready(page)
    page.locator("#m2").focus()
    press(page, "s")
    expect(refused).to_have_text("Suggestions are shown once you have submitted.")
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
