"""Whatever happens, the database ends with every label that the page showed as made."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from annotation.models import Assignment, SaveOperation
from tests.browser import Visitor
from tests.frontend.test_workbench_browser import bench, cast, open_as_ann, outcome_of, press, saved, stored
from tests.people import Cast, change, claim, import_records, make_cast, make_record, op_id, signed_in
from tests.servers import WebServer

__all__ = ["bench", "cast"]

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

VALUES = {"plus": 1, "zero": 0, "minus": -1}
NO_ANSWER = "ERR_|Failed to load resource"


def shown(page: Page) -> list[int | None]:
    """What the page shows as labelled, step by step."""
    steps = page.locator("[data-step]").all()
    return [
        VALUES[str(step.get_attribute("data-value"))]
        if "is-labelled" in str(step.get_attribute("class"))
        else None
        for step in steps
    ]


def values(assignment: Assignment) -> list[int | None]:
    return [value for _, value, _ in stored(assignment)]


def cut(route: Route) -> None:
    route.abort()


def ready(page: Page) -> None:
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")


def offline(page: Page) -> None:
    expect(page.locator('[data-role="save"]')).to_have_attribute("data-status", "offline")


def accept(dialog: Dialog) -> None:
    dialog.accept()


@pytest.fixture
def process_environment(process_environment: dict[str, str]) -> dict[str, str]:
    """The server knows the sessions of this process."""
    return {**process_environment, "TRISTEP_SECRET_KEY": settings.SECRET_KEY}


def test_killing_the_server_in_a_burst_of_labels(
    web_server: WebServer, process_environment: dict[str, str], tmp_path: Path, browser: Browser
) -> None:
    people = make_cast()
    import_records(people.project, [make_record(steps=12)])
    assignment = claim(people.ann, people.project)
    visitor = Visitor(browser.new_context(viewport={"width": 1440, "height": 900}), web_server.url)
    page = visitor.page
    session = signed_in(people.ann).cookies[settings.SESSION_COOKIE_NAME].value
    cookie = {"name": settings.SESSION_COOKIE_NAME, "value": session, "url": web_server.url}
    visitor.context.add_cookies([cookie])  # type: ignore[list-item]
    visitor.go(f"/assignments/{assignment.pk}/")
    ready(page)
    press(page, "1", "0", "-", "1", "0")
    web_server.kill()
    press(page, "-", "1", "0", "1", "0", "1", "0", "Shift+Digit1")
    offline(page)
    made = shown(page)
    assert None not in made
    again = WebServer(process_environment, tmp_path / "again.log", port=web_server.port)
    try:
        expect(page.locator('[data-role="save"]')).to_have_attribute("data-status", "saved", timeout=30_000)
        assert shown(page) == made == values(assignment)
        assert outcome_of(assignment) == 1
    finally:
        visitor.context.close()
        again.stop()


def test_reloading_before_anything_was_saved(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=4), expected=NO_ANSWER)
    page.on("dialog", accept)
    page.route("**/labels/", cut)
    press(page, "1", "-", "1", "Shift+Minus")
    offline(page)
    page.reload()
    ready(page)
    assert shown(page) == [1, -1, 1, None]
    page.unroute("**/labels/", cut)
    saved(page)
    assert shown(page)[:3] == values(assignment) == [1, -1, 1]
    assert outcome_of(assignment) == -1
    assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('tristep'))") == []


def test_closing_the_tab_before_anything_was_saved(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=3), expected=NO_ANSWER)
    page.route("**/labels/", cut)
    press(page, "0", "-")
    offline(page)
    address = page.url
    page.close()
    assert stored(assignment) == []
    page = page.context.new_page()
    page.goto(address)
    ready(page)
    assert shown(page) == [0, -1, None]
    saved(page)
    assert values(assignment) == [0, -1]


def test_an_answer_that_got_lost_is_asked_for_again_and_nothing_is_done_twice(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=2), expected=NO_ANSWER)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/labels/", lose, times=1)
    press(page, "1")
    saved(page)
    assert values(assignment) == [1]
    assert SaveOperation.objects.filter(assignment=assignment).count() == 1


def test_offline_for_a_while(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=6), expected=NO_ANSWER)
    press(page, "1")
    saved(page)
    page.context.set_offline(True)
    for key in ("-", "1", "0"):
        press(page, key)
        page.wait_for_timeout(1_000)
    offline(page)
    press(page, "u", "1", "Shift+Digit0")
    made = shown(page)
    page.context.set_offline(False)
    saved(page)
    assert shown(page) == made == [1, -1, 1, 1, None, None]
    assert values(assignment)[:4] == [1, -1, 1, 1]
    assert outcome_of(assignment) == 0


def test_two_tabs_show_and_store_the_same(bench: Callable) -> None:
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
    for page in (first, second):
        saved(page)
    expect(first.locator("#m4")).to_have_attribute("data-value", "zero")
    assert shown(first) == shown(second)
    assert values(assignment) == [value for value in shown(first) if value is not None]


def test_a_conflict_of_two_tabs_is_told_and_settled_by_the_person(bench: Callable) -> None:
    first, assignment = bench(make_record(steps=2), expected=NO_ANSWER)
    second = first.context.new_page()
    second.goto(first.url)
    ready(second)
    second.route("**/labels/", cut)
    press(second, "1")
    press(first, "0")
    saved(first)
    expect(second.locator("#m2 [data-role=problem]")).to_contain_text("+1 was not saved")
    expect(second.locator("#m2")).to_have_attribute("data-value", "zero")
    second.unroute("**/labels/", cut)
    second.get_by_role("button", name="Use +1 after all").click()
    saved(second)
    expect(first.locator("#m2")).to_have_attribute("data-value", "plus")
    assert values(assignment) == [1]


def test_another_device_is_noticed_and_merged(visit: Callable, cast: Cast) -> None:
    import_records(cast.project, [make_record(steps=3)])
    assignment = claim(cast.ann, cast.project)
    desk, phone = (open_as_ann(visit, cast, assignment) for _ in range(2))
    press(desk, "1")
    saved(desk)
    phone.locator("#m4 label.zero").click()
    saved(phone)
    expect(phone.locator("#m2")).to_have_attribute("data-value", "plus")
    expect(phone.locator("#m2 [data-role=problem]")).to_have_text("This was changed in another window.")
    assert values(assignment) == [1, 0]


def test_a_window_that_is_looked_at_again_asks_what_is_stored(bench: Callable, cast: Cast) -> None:
    from annotation.services import label

    page, assignment = bench(make_record(steps=2))
    label.save_labels(actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[change(2, 0)])
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator("#m2")).to_have_attribute("data-value", "zero")
    assert SaveOperation.objects.filter(assignment=assignment).count() == 1
