"""What scripts add to the pages, in a real browser: upload progress, deciding by key, menus, dialogs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from annotation.models import Adjudication, Decision, ImportFile, Membership
from annotation.services import ingest
from tests import people
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def open_as(cast: Cast, visit: Callable) -> Callable[..., Page]:
    """`open_as("ann", "/path/")`: a page in her browser; complaints that hold `expected` are expected."""

    def start(who: str, path: str, expected: str = "", **options: object) -> Page:
        visitor = visit(**options)
        if expected:
            visitor.watch.allow(expected)
        session = people.signed_in(cast.everybody[who]).cookies[settings.SESSION_COOKIE_NAME].value
        visitor.context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": visitor.home}]
        )
        visitor.go(path)
        return visitor.page

    return start


def test_upload_shows_its_progress_and_the_import_page_follows_it(cast, open_as, tmp_path: Path):
    file = tmp_path / "tiny.jsonl"
    file.write_bytes(people.jsonl(people.make_records(2)))
    page = open_as("admin", "/p/bench/import/")
    page.set_input_files("#id_file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tiny.jsonl")
    expect(page.locator("[data-state]")).to_have_text("waiting")
    ingest.run_import(source_id=ImportFile.objects.get().pk)
    expect(page.get_by_text("New trajectories")).to_be_visible()


def test_upload_that_is_refused_says_why_and_can_be_sent_again(cast, open_as, tmp_path: Path):
    file = tmp_path / "empty.jsonl"
    file.write_bytes(b"")
    page = open_as("admin", "/p/bench/import/", expected="status of 400")
    page.set_input_files("#id_file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-upload-errors]")).to_contain_text("is empty")
    file.write_bytes(people.jsonl(people.make_records(1)))
    page.set_input_files("#id_file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-state]")).to_be_visible()


@pytest.fixture
def case(cast: Cast) -> Adjudication:
    """A dispute on two steps and the outcome, taken by judith."""
    trajectory = people.import_records(cast.project, 1)[0]
    people.make_disputed(cast)
    return people.open_case(cast.judith, trajectory)


def decided() -> dict[int | None, int]:
    return dict(Decision.objects.values_list("step__message_index", "value"))


def test_case_is_decided_with_keys_alone(case, open_as):
    page = open_as("judith", f"/adjudications/{case.pk}/")
    page.get_by_role("button", name="Finish the case").click()
    expect(page.get_by_text("step 1 (message 2) is missing")).to_be_visible()
    expect(page.locator("#decide-m2")).to_be_focused()
    expect(page.locator("#m2")).to_be_in_viewport()
    for key in ("1", "-", "0"):
        page.keyboard.press(key)
    said = page.locator("[data-said]")
    expect(said).to_have_text(["decided", "decided", "decided"])
    assert decided() == {2: 1, 4: -1, None: 0}
    for key in ("k", "k", "0"):
        page.keyboard.press(key)
    expect(said.first).to_have_text("decided")
    page.get_by_role("button", name="Finish the case").click()
    expect(page.get_by_text("its labels are the consensus now")).to_be_visible()
    assert decided() == {2: 0, 4: -1, None: 0}


def test_keys_do_nothing_while_one_writes_and_a_note_is_saved_with_its_decision(case, open_as):
    page = open_as("judith", f"/adjudications/{case.pk}/")
    card = page.locator("[data-decision]").first
    card.get_by_text("Note").click()
    card.get_by_role("textbox").fill("")
    card.get_by_role("textbox").press_sequentially("10-j")
    assert not Decision.objects.exists()
    card.get_by_role("radio", name="−1").check()
    expect(card.locator("[data-said]")).to_have_text("decided")
    assert Decision.objects.get().note == "10-j"


def test_decision_made_elsewhere_is_not_overwritten(case, open_as):
    page = open_as("judith", f"/adjudications/{case.pk}/", expected="status of 409")
    people.decide_all(case, -1)
    page.keyboard.press("1")
    expect(page.locator("[data-said]").first).to_contain_text("changed elsewhere")
    assert set(Decision.objects.values_list("value", flat=True)) == {-1}


def test_case_is_decided_without_scripts(case, open_as):
    page = open_as("judith", f"/adjudications/{case.pk}/", java_script_enabled=False)
    for number in range(3):
        card = page.locator("[data-decision]").nth(number)
        card.get_by_role("radio", name="+1").check()
        card.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Finish the case").click()
    expect(page.get_by_text("its labels are the consensus now")).to_be_visible()


def test_member_is_removed_after_a_question(cast, open_as):
    page = open_as("admin", "/p/bench/members/")
    row = page.get_by_role("row", name="Ann")
    row.get_by_role("button", name="Remove Ann").click()
    dialog = page.get_by_role("dialog", name="Remove Ann?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    row.get_by_role("button", name="Remove Ann").click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("Ann is not a member any more.")).to_be_visible()
    assert not Membership.objects.filter(user=cast.ann).exists()


def test_menu_opens_by_keyboard_changes_the_theme_and_closes(cast, open_as):
    page = open_as("ann", "/")
    summary = page.locator("details.menu > summary")
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("details.menu")).not_to_have_attribute("open", "")
    expect(summary).to_be_focused()
    summary.click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_form_pressed_twice_is_sent_once(cast, open_as):
    people.import_records(cast.project, 3)
    page = open_as("ann", "/")
    page.get_by_role("button", name="Label the next one").dblclick()
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
    assert cast.ann.assignments.count() == 1


def test_first_stop_of_the_keyboard_skips_to_the_content(cast, open_as):
    page = open_as("admin", "/p/bench/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_are_never_wider_than_the_window(cast, open_as, width):
    people.import_records(cast.project, 2)
    people.make_unanimous(cast)
    page = open_as("admin", "/", viewport={"width": width, "height": 800})
    for path in (
        "",
        "import/",
        "trajectories/",
        "agreement/",
        "releases/",
        "members/",
        "settings/",
        "audit/",
    ):
        page.goto(page.url.split("/p/")[0].rstrip("/") + f"/p/bench/{path}")
        wide = page.locator("html").evaluate("node => node.scrollWidth - node.clientWidth")
        assert wide <= 0, path
