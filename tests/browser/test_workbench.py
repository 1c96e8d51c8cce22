"""The workbench in a real browser: keys, mouse, proposals, saving, submitting; nothing may complain."""

import pytest
from playwright.sync_api import Route, expect

from annotation.models import Label, LabelEvent
from annotation.services import label
from tests.browser.workbench import outcome_of, press, saved, seen, stored
from tests.people import (
    change,
    make_record,
    op_id,
    step_indexes,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_keys_alone_label_a_whole_trajectory(bench) -> None:
    page, assignment = bench(make_record(steps=4))
    press(page, "1", "-")
    expect(page.locator(".step.is-proposed")).to_have_count(2)
    seen(page)
    press(page, "Enter")
    expect(page.locator(".step.is-proposed")).to_have_count(0)
    press(page, "Shift+Digit0")
    saved(page)
    assert stored(assignment) == [
        (2, 1, "explicit"),
        (4, -1, "explicit"),
        (6, -1, "propagated"),
        (8, -1, "propagated"),
    ]
    assert outcome_of(assignment) == 0
    press(page, "Control+Enter")
    page.wait_for_url("**/bench/work/**")
    assignment.refresh_from_db()
    assert assignment.state == "submitted"


def test_labels_are_saved_at_once_and_there_after_a_reload(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "0")
    saved(page)
    assert stored(assignment) == [(2, 0, "explicit")]
    page.reload()
    expect(page.locator("#m2")).to_have_attribute("data-value", "zero")
    expect(page.locator("#m4")).to_have_class("msg msg--step step is-focused")


def test_submitting_goes_to_what_is_missing(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "1", "j", "1", "Control+Enter")
    missing = page.locator('[data-role="missing"]')
    expect(missing).to_have_text("Step 2 has no label yet.")
    expect(page.locator("#m4")).to_be_focused()
    press(page, "1", "Control+Enter")
    expect(missing).to_have_text("The outcome is not set yet.")
    assignment.refresh_from_db()
    assert assignment.state == "open"


def test_mouse_and_fields_do_what_keys_do(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    first, second, third = (page.locator(f"#m{index}") for index in (2, 4, 6))
    first.locator("label.minus").click()
    second.locator("label.minus").click()
    second.get_by_label("Where this error began").select_option(label="A new error")
    seen(page)
    third.get_by_role("button", name="Confirm").click()
    first.get_by_label("Reason").select_option(label="Wrong tool for what is needed")
    first.get_by_role("button", name="Unsure").click()
    first.get_by_role("button", name="Note").click()
    first.get_by_role("textbox").fill("1 0 - j k: typed, not pressed")
    page.locator("[data-outcome] label.zero").click()
    saved(page)
    rows = (
        Label.objects.filter(assignment=assignment)
        .order_by("step__message_index")
        .select_related("step", "root")
    )
    assert [(row.value, row.source, row.root.message_index) for row in rows] == [
        (-1, "explicit", 2),
        (-1, "explicit", 4),
        (-1, "propagated", 4),
    ]
    assert rows[0].reason == "wrong_tool" and rows[0].unsure
    assert rows[0].note == "1 0 - j k: typed, not pressed"
    assert outcome_of(assignment) == 0


def test_keys_label_nothing_while_a_note_is_written(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    press(page, "m")
    page.keyboard.type("10-jkn?u")
    press(page, "Escape")
    saved(page)
    label_row = Label.objects.get(assignment=assignment)
    assert (label_row.value, label_row.note) == (None, "10-jkn?u")
    expect(page.locator("#m2")).to_be_focused()


def test_submitting_from_within_a_note_takes_the_note_along(bench) -> None:
    page, assignment = bench(make_record(steps=1))
    press(page, "1", "Shift+Digit1", "m")
    page.keyboard.type("last words")
    press(page, "Control+Enter")
    page.wait_for_url("**/bench/work/**")
    assert Label.objects.get(assignment=assignment).note == "last words"


def test_undo_takes_back_a_whole_cascade(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    press(page, "-")
    seen(page)
    press(page, "Enter", "k", "k", "k", "1")
    saved(page)
    assert stored(assignment) == [(2, 1, "explicit"), (4, None, ""), (6, None, "")]
    press(page, "u")
    saved(page)
    assert stored(assignment) == [(2, -1, "explicit"), (4, -1, "propagated"), (6, -1, "propagated")]
    assert LabelEvent.objects.filter(assignment=assignment, kind="orphan").count() == 2


def test_proposal_that_was_not_on_screen_cannot_be_confirmed(bench) -> None:
    tall = make_record(steps=3)
    for message in tall["messages"]:
        if message["role"] == "assistant":
            message["content"] = "\n".join(["line"] * 60)
    page, assignment = bench(tall)
    press(page, "-")
    seen(page)
    press(page, "Enter")
    saved(page)
    assert stored(assignment) == [(2, -1, "explicit"), (4, -1, "propagated")]
    expect(page.locator("#m6")).to_be_focused()


def test_save_never_overwrites_a_change_in_another_window_silently(bench, cast) -> None:
    page, assignment = bench(make_record(steps=2))
    label.save_labels(
        actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[change(2, 0, note="elsewhere")]
    )
    press(page, "1")
    expect(page.locator("#m2 [data-role=problem]")).to_contain_text("+1 was not saved")
    expect(page.locator("#m2")).to_have_attribute("data-value", "zero")
    assert stored(assignment) == [(2, 0, "explicit")]
    page.locator("#m2 label.plus").click()
    saved(page)
    assert stored(assignment) == [(2, 1, "explicit")]
    expect(page.locator("#m2 [data-role=problem]")).to_be_hidden()


def test_save_waits_for_a_connection_and_is_sent(bench) -> None:
    page, assignment = bench(make_record(steps=3), expected="ERR_FAILED")

    def fail(route: Route) -> None:
        route.abort()

    page.route("**/labels/", fail)
    press(page, "1", "0")
    expect(page.locator('[data-role="banner"]')).to_contain_text("No connection")
    page.unroute("**/labels/", fail)
    saved(page)
    expect(page.locator('[data-role="banner"]')).to_be_hidden()
    assert stored(assignment) == [(2, 1, "explicit"), (4, 0, "explicit")]


def test_save_stops_and_says_so_when_closed_elsewhere(bench, cast) -> None:
    page, assignment = bench(make_record(steps=2), expected="409")
    changes = [change(index, 1) for index in step_indexes(assignment.trajectory_id)]
    label.save_labels(
        actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[*changes, change(None, 1)]
    )
    label.submit(actor=cast.ann, assignment=assignment)
    press(page, "-")
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
    assignment.refresh_from_db()
    assert (assignment.state, assignment.return_reason) == ("returned", "I know the author")
    assert stored(assignment) == [(2, 1, "explicit")]


def test_keys_are_listed_under_a_question_mark(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    press(page, "?")
    expect(page.get_by_role("dialog")).to_contain_text("+1 for the focused step, and on to the next")
    press(page, "1")
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stored(assignment) == []


def test_outputs_that_are_long_open_in_place(bench) -> None:
    record = make_record(steps=2)
    record["messages"][3]["content"] = "\n".join(f"line {n}" for n in range(200))
    page, _ = bench(record)
    output = page.locator("#m3 .text")
    folded = output.bounding_box()["height"]
    press(page, "x")
    expect(page.locator("#m3 [data-unfold]")).to_have_attribute("aria-expanded", "true")
    assert output.bounding_box()["height"] > 5 * folded
    press(page, "x")
    expect(page.get_by_role("button", name="Show all (200 lines, 1689 characters)")).to_be_visible()


HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def test_hostile_text_runs_nothing(bench) -> None:
    record = make_record(steps=2, question=HOSTILE)
    for message in record["messages"]:
        message["content"] = HOSTILE
    page, _ = bench(record)
    press(page, "-", "m")
    page.keyboard.type(HOSTILE)
    press(page, "Escape")
    saved(page)
    assert "owned" not in page.title()
    assert page.locator("img").count() == 0
    expect(page.locator("#m2 .text").first).to_have_text(HOSTILE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_that_hinders_anybody(bench, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page, _ = bench(
        make_record(steps=4, tools=[{"function": {"name": "search", "parameters": {}}}]),
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    press(page, "1", "-", "q", "f", "m")
    page.keyboard.type("a note")
    press(page, "Escape")
    saved(page)
    found = Axe().run(page)
    violations = [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found.response["violations"]]
    assert not violations, "\n".join(violations)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
