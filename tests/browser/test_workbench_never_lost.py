"""The safety of labels: the database ends with every label that the page showed as made."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Dialog, Error, Page, Request, Route, expect

from annotation.models import Membership
from annotation.services import label
from tests.browser.stored import eventually, labels_of, outcome_of, saves_of, state_of, values_of
from tests.browser.visitors import session_of
from tests.browser.workbench import (
    NO_ANSWER,
    cut,
    cut_off,
    intercept,
    looks_again,
    press,
    press_unsaved,
    ready,
    saved,
    shown,
    status,
    submit,
    until,
)
from tests.chromium import Visitor
from tests.people import PASSWORD, Cast, claim, import_records, make_cast, make_record
from tests.servers import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
NONE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("no", "SecurityError"); },
})"""


def broken(**asked: object) -> None:
    raise RuntimeError("the server is not well")


def told(page: Page, text: str) -> None:
    expect(page.locator('[data-role="banner"]')).to_contain_text(text)


def kept(page: Page) -> list[str]:
    """The keys that the browser keeps of a trajectory: an explanation that was given does not count."""
    found: list[str] = page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('tristep'))")
    return [name for name in found if name != "tristep:propagation"]


def minute(page: Page) -> None:
    """A whole minute of the page's clock: each of its timers in turn, and the answers to what they save."""
    asked: set[Request] = set()
    page.on("request", lambda request: asked.add(request) if request.url.endswith("/labels/") else None)
    for end in ("requestfinished", "requestfailed"):
        page.on(end, lambda request: asked.discard(request))
    for _ in range(60):
        page.clock.run_for(1_000)
        page.wait_for_timeout(5)
        until(page, lambda: not asked)


@pytest.fixture
def process_environment(process_environment: dict[str, str]) -> dict[str, str]:
    """The server knows the sessions of this process."""
    return {**process_environment, "TRISTEP_SECRET_KEY": settings.SECRET_KEY}


def test_save_outlives_a_server_killed_in_a_burst_of_labels(
    web_server: WebServer, process_environment: dict[str, str], tmp_path: Path, browser: Browser
) -> None:
    people = make_cast()
    import_records(people.project, [make_record(steps=12)])
    assignment = claim(people.ann, people.project)
    visitor = Visitor(browser.new_context(viewport={"width": 1440, "height": 900}), web_server.url)
    page = visitor.page
    session_of(visitor, people.ann)
    visitor.go(f"/assignments/{assignment.pk}/")
    ready(page)
    press(page, "1", "0")
    killer = threading.Timer(0.02, web_server.kill)
    killer.start()
    press_unsaved(page, "-", "1", "0", "-", "1", "0", "1", "0", "1", "0", "Shift+Digit1")
    killer.join()
    press_unsaved(page, "k", "u", "u", "1", "0", "Shift+Digit1")
    status(page, "offline")
    made = shown(page)
    assert None not in made
    again = WebServer(process_environment, tmp_path / "again.log", port=web_server.port)
    try:
        saved(page)
        assert shown(page) == made
        eventually(lambda: values_of(assignment), made)
        eventually(lambda: outcome_of(assignment), 1)
        assert kept(page) == []
    finally:
        visitor.context.close()
        again.stop()


def test_save_outlives_reloading_before_anything_was_saved(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=4), expected=NO_ANSWER)
    asked: list[str] = []

    def leave(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    cut_off(page)
    press_unsaved(page, "1", "-", "1", "Shift+Minus")
    status(page, "offline")
    address = page.url
    with pytest.MonkeyPatch.context() as patch:
        # what a page sends while it is left goes through, whatever the browser plays at
        patch.setattr(label, "save_labels", broken)
        with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
            page.reload()
        assert asked == ["beforeunload"]
        page.context.set_offline(False)
        page.goto(address)
        ready(page)
        assert shown(page) == [1, -1, 1, None]
        eventually(lambda: values_of(assignment), [])
    saved(page)
    assert shown(page)[:3] == [1, -1, 1]
    eventually(lambda: values_of(assignment), [1, -1, 1])
    eventually(lambda: outcome_of(assignment), -1)
    assert kept(page) == []


def test_save_outlives_closing_the_tab_before_anything_was_saved(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=3), expected=NO_ANSWER)
    intercept(page, "**/labels/", cut)
    press_unsaved(page, "0", "-", "m")
    page.keyboard.type("half a no")
    status(page, "offline")
    address = page.url
    with page.expect_event("dialog") as asking:
        page.close(run_before_unload=True)
    assert asking.value.type == "beforeunload"
    asking.value.dismiss()
    assert shown(page) == [0, -1, None]
    page.close()
    # what a page sends at its very end is held up by no route: any part of it may arrive, and nothing else
    some = {(2, 0, "explicit"), (4, -1, "explicit"), (6, None, "")}
    eventually(lambda: set(labels_of(assignment)), some.issuperset)
    page = page.context.new_page()
    page.goto(address)
    ready(page)
    assert shown(page) == [0, -1, None]
    saved(page)
    eventually(lambda: labels_of(assignment)[:2], [(2, 0, "explicit"), (4, -1, "explicit")])
    expect(page.get_by_label("Note on step 3")).to_have_value("half a no")


def test_save_sends_what_is_left_while_the_page_goes_away(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=2), expected=NO_ANSWER)
    page.on("dialog", lambda dialog: dialog.accept())
    tries: list[str] = []
    page.on("requestfailed", lambda request: tries.append(request.url))
    intercept(page, "**/labels/", cut)
    press_unsaved(page, "1", "0")
    until(page, lambda: len(tries) == 3)  # the next one comes four seconds later
    page.unroute("**/labels/")
    page.goto("about:blank")
    eventually(lambda: values_of(assignment), [1, 0])


def test_failures_of_the_server_and_lost_answers_are_outlived_and_nothing_is_done_twice(
    bench: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, assignment = bench(make_record(steps=3), expected=NO_ANSWER)
    whole = label.save_labels
    failures = iter([RuntimeError("before"), RuntimeError("after")])

    def failing(**asked: object) -> object:
        failure = next(failures, None)
        if failure and failure.args == ("before",):
            raise failure
        answer = whole(**asked)  # type: ignore[arg-type]
        if failure:
            raise failure
        return answer

    monkeypatch.setattr(label, "save_labels", failing)
    press(page, "1")
    assert next(failures, None) is None
    eventually(lambda: values_of(assignment), [1])

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    intercept(page, "**/labels/", lose, times=1)
    press(page, "0")
    eventually(lambda: values_of(assignment), [1, 0])
    eventually(lambda: saves_of(assignment), 2)


def test_save_outlives_a_minute_offline(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=6), expected=NO_ANSWER, alone=True)
    page.clock.install()
    page.reload()
    ready(page)
    press(page, "1")
    tries: list[str] = []
    page.on("requestfailed", lambda request: tries.append(request.url))
    cut_off(page)
    press_unsaved(page, "-", "1")
    status(page, "offline")
    told(page, "No connection")
    minute(page)
    labels = [url for url in tries if url.endswith("/labels/")]
    assert 5 <= len(labels) <= 20, "it goes on trying, and not in haste"
    press_unsaved(page, "0", "u", "1", "Shift+Digit0")
    status(page, "offline")
    made = shown(page)
    eventually(lambda: values_of(assignment), [1])
    page.context.set_offline(False)
    saved(page)
    assert shown(page) == made == [1, -1, 1, 1, None, None]
    eventually(lambda: values_of(assignment)[:4], [1, -1, 1, 1])
    eventually(lambda: outcome_of(assignment), 0)
    minute(page)
    saved(page)
    eventually(lambda: saves_of(assignment), lambda number: number <= 4)


def test_save_outlives_signing_out_and_in_again_in_another_tab(bench: Callable) -> None:
    # refused without a session, and with the token of before while signing in makes a new one
    page, assignment = bench(make_record(steps=3), expected=r"401 \(Unauthorized\)|403 \(Forbidden\)")
    press(page, "1")
    Session.objects.all().delete()
    press_unsaved(page, "-", "0", "Shift+Digit1")
    told(page, "You have been signed out. Sign in again in another tab")
    status(page, "signed_out")
    eventually(lambda: values_of(assignment), [1])
    other = page.context.new_page()
    other.goto(page.url.split("/assignments/")[0])
    other.get_by_label("Name or e-mail address").fill("ann")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Sign in").click()
    other.wait_for_url(lambda url: "/sign-in/" not in url)
    # from here on the page may save whenever it tries again
    looks_again(page)
    saved(page)
    expect(page.locator('[data-role="banner"]')).to_be_hidden()
    assert shown(page) == [1, -1, 0]
    eventually(lambda: values_of(assignment), [1, -1, 0])
    eventually(lambda: outcome_of(assignment), 1)
    submit(page)
    eventually(lambda: state_of(assignment), "submitted")


def test_refusal_is_shown_and_not_asked_for_over_and_over(bench: Callable, cast: Cast) -> None:
    page, assignment = bench(make_record(steps=3), expected=r"40[034] \(", alone=True)
    page.clock.install()
    page.reload()
    ready(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    Membership.objects.filter(user=cast.ann).update(is_annotator=False, is_adjudicator=True)
    press_unsaved(page, "1", "0")
    told(page, "The server could not save this: ")
    minute(page)
    assert 0 < sum(url.endswith("/labels/") for url in asked) <= 6
    told(page, "The server could not save this: ")
    eventually(lambda: values_of(assignment), [])
    Membership.objects.filter(user=cast.ann).update(is_annotator=True)
    press_unsaved(page, "1")
    saved(page)
    assert shown(page) == [1, 0, 1]
    eventually(lambda: values_of(assignment), [1, 0, 1])


def test_save_that_refuses_one_label_does_not_show_it_and_holds_up_no_other(bench: Callable) -> None:
    page, assignment = bench(make_record(steps=3))

    def spoil(route: Route) -> None:
        body = json.loads(route.request.post_data or "")
        for one in body["changes"]:
            one.update({"reason": "no such reason"} if one["message_index"] == 2 else {})
        route.continue_(post_data=json.dumps(body))

    intercept(page, "**/labels/", spoil)
    press(page, "1", "0")
    expect(page.locator("#m2 [data-role=problem]")).to_contain_text("+1 was not saved: ")
    assert shown(page)[:2] == [None, 0]
    eventually(lambda: labels_of(assignment), [(4, 0, "explicit")])


@pytest.mark.parametrize("storage", [FULL, NONE], ids=["full", "none"])
def test_save_without_room_in_the_browser_says_so_and_loses_nothing_while_it_is_open(
    bench: Callable, storage: str
) -> None:
    page, assignment = bench(make_record(steps=2), expected=NO_ANSWER)
    page.add_init_script(storage)
    page.reload()
    ready(page)
    intercept(page, "**/labels/", cut)
    press_unsaved(page, "1", "0", "Shift+Digit1", "Control+Enter")
    expect(page.locator("[data-role=missing]")).to_contain_text("not saved yet")
    told(page, "keep this page open until your changes are saved")
    page.unroute("**/labels/", cut)
    saved(page)
    assert shown(page) == [1, 0]
    eventually(lambda: values_of(assignment), [1, 0])
