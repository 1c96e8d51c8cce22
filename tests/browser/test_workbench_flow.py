"""From one trajectory to the next: submitting, what sits oddly, reopening, flags, time at work."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, LabelEvent
from annotation.services import label
from tests.browser.workbench import open_as_ann, press, saved, seen, stored
from tests.people import Cast, claim, import_records, label_all, make_record, make_records
from tests.servers import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def missing(page: Page, text: str) -> None:
    expect(page.locator('[data-role="missing"]')).to_have_text(text)


def test_submitting_takes_the_next_one(visit: Callable, cast: Cast) -> None:
    import_records(cast.project, make_records(2, steps=1))
    first = claim(cast.ann, cast.project)
    page = open_as_ann(visit, cast, first)
    press(page, "1", "Shift+Digit1", "Control+Enter")
    page.wait_for_url(lambda url: "/assignments/" in url and f"/{first.pk}/" not in url)
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
    press(page, "1", "Shift+Digit1", "Control+Enter")
    page.wait_for_url("**/bench/work/**")
    assert list(Assignment.objects.values_list("state", flat=True)) == ["submitted", "submitted"]


def test_submit_names_everything_that_is_missing(bench) -> None:
    page, _ = bench(make_record(steps=3))
    press(page, "1", "Control+Enter")
    missing(page, "Step 2 has no label yet.")
    expect(page.locator('[data-role="missing-rest"]')).to_have_text("Also missing: 3, Outcome.")
    expect(page.locator("#m4")).to_be_focused()
    press(page, "1")
    expect(page.locator('[data-role="missing"]')).to_be_hidden()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (("1", "-", "Shift+Digit1"), "The last step is −1, but the outcome is +1."),
        (("1", "0", "Shift+Minus"), "The outcome is −1, but no step is −1."),
    ],
)
def test_outcome_that_sits_oddly_is_asked_about_once(bench, keys: tuple[str, ...], words: str) -> None:
    page, assignment = bench(make_record(steps=2))
    press(page, *keys, "Control+Enter")
    missing(page, words)
    assignment.refresh_from_db()
    assert assignment.state == "open"
    press(page, "Control+Enter")
    page.wait_for_url("**/bench/work/**")
    assignment.refresh_from_db()
    assert assignment.state == "submitted"


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
        expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
        expect(page.locator(".desk__submit")).to_be_visible()
        assignment.refresh_from_db()
        assert assignment.state == "open"
    assert LabelEvent.objects.filter(assignment=assignment, kind="reopen").count() == 2


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
    mine.refresh_from_db()
    assert mine.state == "submitted"


def test_flags_on_the_whole_trajectory_are_saved_and_there_after_a_reload(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    page.get_by_role("button", name="Needs discussion").click()
    page.get_by_role("button", name="Broken trajectory").click()
    page.get_by_role("button", name="Needs discussion").click()
    saved(page)
    assignment.refresh_from_db()
    assert (assignment.needs_discussion, assignment.broken) == (False, True)
    page.reload()
    expect(page.get_by_role("button", name="Broken trajectory")).to_have_attribute("aria-pressed", "true")


def test_activity_is_reported_when_leaving_and_idle_time_is_not(bench) -> None:
    page, assignment = bench(make_record(steps=2))
    press(page, "j")
    page.wait_for_timeout(600)
    press(page, "k")
    page.goto("about:blank")

    def reported() -> bool:
        assignment.refresh_from_db()
        return bool(assignment.active_ms)

    wait_for(reported, "the time at work")
    assert 500 <= assignment.active_ms < 60_000


def test_mouse_undoes_redoes_moves_and_confirms(bench) -> None:
    page, assignment = bench(make_record(steps=3))
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.locator("#m2 label.minus").click()
    page.get_by_role("button", name="Next step", exact=True).click()
    seen(page)
    page.get_by_role("button", name="Confirm the proposals").click()
    saved(page)
    assert [value for _, value, _ in stored(assignment)] == [-1, -1, -1]
    page.get_by_role("button", name="Undo").click()
    saved(page)
    assert [value for _, value, _ in stored(assignment)] == [-1, None, None]
    page.get_by_role("button", name="Redo").click()
    saved(page)
    assert [value for _, value, _ in stored(assignment)] == [-1, -1, -1]
