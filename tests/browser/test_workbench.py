"""The workbench in a real browser: keys, mouse, proposals, saving, submitting, and from one to the next."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment
from annotation.services import label
from tests.browser.stored import about, events_of, eventually, labels_of, outcome_of, state_of, values_of
from tests.browser.workbench import (
    choose,
    click,
    cut,
    note,
    open_as_ann,
    press,
    press_unsaved,
    ready,
    saved,
    seen,
    submit,
)
from tests.frontend.chinese import speak_chinese
from tests.people import (
    change,
    claim,
    import_records,
    label_all,
    make_record,
    make_records,
    op_id,
    step_indexes,
)

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
    choose(first.get_by_label("Reason"), label="Wrong tool for what is needed")
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


def test_keys_are_letters_in_a_note_which_goes_along_when_submitting_from_within_it(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    note(page, "10-jkn?u")
    eventually(lambda: labels_of(assignment, "value", "note"), [(None, "10-jkn?u")])
    expect(page.locator("#m2")).to_be_focused()
    press(page, "1", "1", "Shift+Digit1", "m")
    page.keyboard.type("last words")
    submit(page)
    eventually(lambda: labels_of(assignment, "value", "note"), [(1, "10-jkn?u"), (1, "last words")])


def test_undo_takes_back_a_whole_cascade(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "-")
    seen(page)
    press(page, "Enter", "k", "k", "k", "1")
    eventually(lambda: labels_of(assignment), [(2, 1, "explicit"), (4, None, ""), (6, None, "")])
    press(page, "u")
    eventually(
        lambda: labels_of(assignment), [(2, -1, "explicit"), (4, -1, "propagated"), (6, -1, "propagated")]
    )
    eventually(lambda: events_of(assignment, "orphan"), 2)


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


def test_save_never_overwrites_a_change_in_another_window_silently(bench, cast) -> None:
    page, assignment = bench(make_record(steps=2))
    label.save_labels(
        actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[change(2, 0, note="elsewhere")]
    )
    press(page, "1")
    expect(page.locator("#m2 [data-role=problem]")).to_contain_text("+1 was not saved")
    expect(page.locator("#m2")).to_have_attribute("data-value", "zero")
    eventually(lambda: labels_of(assignment), [(2, 0, "explicit")])
    click(page.locator("#m2 label.plus"))
    eventually(lambda: labels_of(assignment), [(2, 1, "explicit")])
    expect(page.locator("#m2 [data-role=problem]")).to_be_hidden()


def test_save_waits_for_a_connection_and_is_sent(bench) -> None:
    page, assignment = bench(make_record(steps=2), expected="ERR_FAILED")
    banner = page.locator('[data-role="banner"]')
    page.route("**/labels/", cut)
    press_unsaved(page, "1", "0", "Shift+Digit1")
    expect(banner).to_contain_text("No connection")
    expect(page.locator('[data-role="save"]')).to_have_text("Not saved yet")
    press_unsaved(page, "Control+Enter")
    expect(page.locator("[data-role=missing]")).to_contain_text("not saved yet")
    page.unroute("**/labels/", cut)
    saved(page)
    expect(banner).to_be_hidden()
    eventually(lambda: labels_of(assignment), [(2, 1, "explicit"), (4, 0, "explicit")])


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


def test_submit_names_all_that_is_missing_and_goes_there(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "1", "Control+Enter")
    missing(page, "Step 2 has no label yet.")
    expect(page.locator('[data-role="missing-rest"]')).to_have_text("Also missing: 3, Outcome.")
    expect(page.locator("#m4")).to_be_focused()
    press(page, "1")
    expect(page.locator('[data-role="missing"]')).to_be_hidden()
    press(page, "1", "Control+Enter")
    missing(page, "The outcome is not set yet.")
    eventually(lambda: state_of(assignment), "open")


def test_submit_takes_the_next_one(visit, cast) -> None:
    import_records(cast.project, make_records(2, steps=1))
    first = claim(cast.ann, cast.project)
    page = open_as_ann(visit, cast, first)
    press(page, "1", "Shift+Digit1")
    submit(page, lambda url: "/assignments/" in url and f"/{first.pk}/" not in url)
    ready(page)
    press(page, "1", "Shift+Digit1")
    submit(page)
    eventually(lambda: list(Assignment.objects.values_list("state", flat=True)), ["submitted", "submitted"])


def test_submit_asks_once_about_each_outcome_that_sits_oddly(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    press(page, "1", "-", "Shift+Digit1", "Control+Enter")
    missing(page, "The last step is −1, but the outcome is +1.")
    page.locator("#m4").focus()
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
