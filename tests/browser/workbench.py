"""Opening the workbench, working on it, and what it has stored."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.conf import settings
from playwright.sync_api import Page, Route, expect

from annotation.models import Assignment, Label, OutcomeLabel
from tests.callers import signed_in
from tests.people import Cast

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
VALUES = {"plus": 1, "zero": 0, "minus": -1}
NO_ANSWER = "ERR_|Failed to load resource"


def open_as_ann(
    visit: Callable, cast: Cast, assignment: Assignment, expected: str = "", **options: object
) -> Page:
    """The assignment in a browser of Ann's; complaints of the console that hold `expected` are expected."""
    visitor = visit(**options)
    if expected:
        visitor.watch.allow(expected)
    session = signed_in(cast.ann).cookies[settings.SESSION_COOKIE_NAME].value
    visitor.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": visitor.home}]
    )
    visitor.go(f"/assignments/{assignment.pk}/")
    ready(visitor.page)
    return visitor.page


def ready(page: Page) -> None:
    """The workbench takes keys."""
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")


def press(page: Page, *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        page.keyboard.press(key)


def saved(page: Page) -> None:
    """The page says that all is saved."""
    expect(page.locator('[data-role="save"]')).to_have_attribute("data-status", "saved")


def stored(assignment: Assignment) -> list[tuple[int, int | None, str]]:
    """Message index, value and source of each stored label."""
    rows = Label.objects.filter(assignment=assignment).order_by("step__message_index")
    return list(rows.values_list("step__message_index", "value", "source"))


def outcome_of(assignment: Assignment) -> int | None:
    """The stored outcome."""
    return OutcomeLabel.objects.values_list("value", flat=True).get(assignment=assignment)


# What the page waits for before a step counts as seen was asked for before what we wait for here: the drawing
# that follows a save, the look at what is on screen, and the timer of 150 ms.
LOOKED_AT = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  for (let i = 0; i < 4; i += 1) await frame();
  await new Promise((done) => setTimeout(done, 200));
  await frame();
}"""


def seen(page: Page) -> None:
    """What is on screen counts as seen: all is saved and drawn, and 150 ms of the page's time are over."""
    saved(page)
    page.evaluate(LOOKED_AT)


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
    """What is stored, step by step."""
    return [value for _, value, _ in stored(assignment)]


def cut(route: Route) -> None:
    """No answer comes."""
    route.abort()


def looks_again(page: Page) -> None:
    """The window comes to the front again."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def thumb(page: Page, name: str) -> None:
    """Tap a button of the thumb bar."""
    page.locator(".thumb").get_by_role("button", name=name, exact=True).tap()


def mark(page: Page, index: int, value: str) -> None:
    """Point at a step, and label it with the thumb bar."""
    page.locator(f"#m{index} .msg__role").tap()
    expect(page.locator(f"#m{index}")).to_have_class(re.compile("is-focused"))
    thumb(page, value)
