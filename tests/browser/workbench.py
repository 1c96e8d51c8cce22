"""The workbench in a browser: opening it, and acts that return once the page says that they are saved."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from annotation.models import Assignment
from tests.browser.frames import FRAME, KEPT
from tests.browser.visitors import session_of
from tests.chromium import PATIENCE
from tests.people import Cast

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
VALUES = {"plus": 1, "zero": 0, "minus": -1}
KEYS = {1: "1", 0: "0", -1: "-"}
OUTCOME_KEYS = {1: "Shift+Digit1", 0: "Shift+Digit0", -1: "Shift+Minus"}
AT_WORK = "**/bench/work/**"
NO_ANSWER = "ERR_|Failed to load resource"


def open_as_ann(
    visit: Callable, cast: Cast, assignment: Assignment, expected: str = "", **options: object
) -> Page:
    """The assignment in a browser of Ann's; complaints of the console that hold `expected` are expected."""
    visitor = session_of(visit(**options), cast.ann)
    if expected:
        visitor.watch.allow(expected)
    visitor.go(f"/assignments/{assignment.pk}/")
    ready(visitor.page)
    return visitor.page


def ready(page: Page) -> None:
    """The workbench takes keys."""
    expect(page.locator("html[data-workbench=ready]")).to_have_count(1)


def status(page: Page, *names: str) -> None:
    """Wait for one of these states of saving: "saved", "offline" ….

    By counting: whatever else is not so yet, Playwright describes in full at each look, for its message.
    """
    wanted = ",".join(f'[data-role="save"][data-status="{name}"]' for name in names)
    expect(page.locator(wanted)).to_have_count(1)


def saved(page: Page) -> None:
    """The page says that all is saved."""
    status(page, "saved")


def acknowledged(page: Page) -> None:
    """The server has answered everything, and the page shows its answers. An act says "saving" at once."""
    status(page, "saved", "conflict")


# ── Acts ──────────────────────────────────
def press(page: Page, *keys: str) -> None:
    """Press keys one after the other, and wait for what they save."""
    press_unsaved(page, *keys)
    acknowledged(page)


def press_unsaved(page: Page, *keys: str) -> None:
    """Press keys one after the other, of which nothing may be saved yet."""
    for key in keys:
        page.keyboard.press(key)


def click(place: Locator) -> None:
    """Click, and wait for what it saves."""
    place.click()
    acknowledged(place.page)


def choose(place: Locator, **option: str | int) -> None:
    """Choose in a list, and wait for what it saves."""
    place.select_option(**option)  # type: ignore[arg-type]
    acknowledged(place.page)


def note(page: Page, text: str) -> None:
    """Write a note on the focused step, and wait until it is saved."""
    page.keyboard.press("m")
    page.keyboard.type(text)
    press(page, "Escape")


def submit(page: Page, to: str | Callable[[str], bool] = AT_WORK) -> None:
    """Submit with the key, and wait for the page that follows."""
    page.keyboard.press("Control+Enter")
    page.wait_for_url(to)


def home(page: Page) -> str:
    """The server that a page is on."""
    return "/".join(page.url.split("/")[:3])


def label_next(
    page: Page, *said: tuple[Sequence[int], int], look: Callable[[Page], object] = lambda page: None
) -> None:
    """Claim the next trajectory and those after it, `look` at each, label it whole, steps and outcome, and
    submit it."""
    page.get_by_role("button", name="Label the next one").first.click()
    for left, (values, outcome) in reversed(list(enumerate(reversed(said)))):
        ready(page)
        look(page)
        press(page, *(KEYS[value] for value in values), OUTCOME_KEYS[outcome])
        here = page.url
        submit(page, (lambda url, here=here: "/assignments/" in url and url != here) if left else AT_WORK)


CLICK_TO_COME = f"""() => {{{KEPT}
  const click = new Promise((done) => {{
    document.addEventListener("click", () => setTimeout(done), {{ once: true }});
  }});
  window.clickThatCame = kept(click, "no click came");
}}"""


@contextmanager
def clicked(page: Page) -> Iterator[None]:
    """Wait at the end for a click: a tap returns before the one that the browser makes of it."""
    page.evaluate(CLICK_TO_COME)
    yield
    page.evaluate("window.clickThatCame")


def tap(place: Locator) -> None:
    """Tap, and wait for what it saves."""
    with clicked(place.page):
        place.tap()
    acknowledged(place.page)


def thumb(page: Page, name: str) -> None:
    """Tap a button of the thumb bar."""
    tap(page.locator(".thumb").get_by_role("button", name=name, exact=True))


def mark(page: Page, index: int, value: str) -> None:
    """Point at a step, and label it with the thumb bar."""
    tap(page.locator(f"#m{index} .msg__role"))
    expect(page.locator(f"#m{index}")).to_have_class(re.compile("is-focused"))
    thumb(page, value)


# What the page waits for before a step counts as seen was asked for before what we wait for here: the drawing
# that follows a save, the look at what is on screen, and the timer of 150 ms.
LOOKED_AT = f"""async () => {{{FRAME}
  for (let i = 0; i < 4; i += 1) await frame();
  await new Promise((done) => setTimeout(done, 200));
  await frame();
}}"""


def seen(page: Page) -> None:
    """Wait until the screen counts as seen: all is saved and drawn, and 150 ms of the page's time are
    over."""
    saved(page)
    page.evaluate(LOOKED_AT)


def looks_again(page: Page) -> None:
    """The window comes to the front again."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def until(page: Page, happened: Callable[[], object]) -> None:
    """Listen to the browser until something that it tells of has happened."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not happened():
        assert time.monotonic() < deadline, "it has not happened"
        page.wait_for_timeout(10)


def intercept(page: Page, pattern: str, handler: Callable[[Route], object], **options: Any) -> None:
    """Answer the page's requests in the server's place, from here on.

    Chromium says that it intercepts before the page's own process knows: a key that is pressed right after
    `page.route` sent its request past it once in 300 times. So this waits until a request was caught.
    """
    caught: list[Route] = []

    def catch(route: Route) -> None:
        caught.append(route)
        route.fulfill(body="")

    page.route("**/healthz", catch)
    page.route(pattern, handler, **options)
    while not caught:
        page.evaluate("fetch('/healthz').then((answer) => answer.text())")


def cut_off(page: Page) -> None:
    """Take the page's connection away, until `set_offline(False)`. As with `intercept`, what is sent right
    after Chromium says so may go through; so this waits until a request did not."""
    page.context.set_offline(True)
    while page.evaluate("fetch('/healthz').then(() => true, () => false)"):
        pass


def cut(route: Route) -> None:
    """No answer comes."""
    route.abort()


def shown(page: Page) -> list[int | None]:
    """The labels shown on the page, step by step."""
    steps = page.locator("[data-step]").all()
    return [
        VALUES[str(step.get_attribute("data-value"))]
        if "is-labelled" in str(step.get_attribute("class"))
        else None
        for step in steps
    ]
