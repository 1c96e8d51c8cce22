"""Drive the workbench in a real browser: real key events, and what is on screen."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect, sync_playwright

from bench.client import Refused
from bench.installations import Failed
from bench.workbench.plan import Scene
from tests.chromium import FLAGS, Visitor, system_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

WIDE = (1440, 900)
READY = 'html[data-workbench="ready"]'
TIMEOUT_MS = 30_000

OUTCOME_KEYS = {1: "Shift+Digit1", 0: "Shift+Digit0", -1: "Shift+Minus"}
SUBMIT = "Control+Enter"
# the page asks for 150 ms on screen, by a timer that a busy machine starts late; a person looks longer
LOOK_MS = 400

LOOK = """() => {
  const lowest = ['.bar', '[data-role="find"]', '[data-role="pin"]'].map((what) => {
    const box = document.querySelector(what);
    return box && !box.hidden ? box.getBoundingClientRect().bottom : 0;
  });
  const values = {plus: 1, zero: 0, minus: -1};
  const steps = [...document.querySelectorAll('[data-step]')].map((article) => {
    const box = article.getBoundingClientRect();
    return {
      index: Number(article.dataset.step),
      top: box.top + window.scrollY,
      bottom: box.bottom + window.scrollY,
      value: values[article.dataset.value] ?? null,
      proposed: article.classList.contains('is-proposed'),
      labelled: article.classList.contains('is-labelled'),
      focused: article.classList.contains('is-focused'),
      says: ['state', 'marks', 'proposal', 'controls', 'closing-reason'].map((role) => {
        const part = article.querySelector(`[data-role="${role}"]`);
        return part && !part.hidden ? part.textContent.trim() : '';
      }).filter(Boolean).join('; '),
    };
  });
  const first = document.querySelector('[data-step]');
  const thumb = document.querySelector('.thumb');
  return {
    steps,
    covered: Math.max(...lowest),
    // a bar for the thumb covers the end of a narrow window
    height: thumb && thumb.offsetHeight ? thumb.getBoundingClientRect().top : window.innerHeight,
    width: document.documentElement.clientWidth,
    scroll: window.scrollY,
    most: document.documentElement.scrollHeight - window.innerHeight,
    margin: first ? parseFloat(getComputedStyle(first).scrollMarginBlockStart) || 0 : 0,
  };
}"""

# The page starts its own 150 ms in the frame after a change; this timer is set later and runs longer.
PAUSE = """(ms) => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done), ms)));
})"""


@dataclass(frozen=True)
class StepOnPage:
    """One step as it stands on the page; `says` is its mark, its proposal and what it asks, in words."""

    index: int
    value: int | None
    proposed: bool
    labelled: bool
    focused: bool
    says: str


@dataclass(frozen=True)
class Look:
    """The page at one moment as a person sees it."""

    steps: tuple[StepOnPage, ...]
    scene: Scene

    @property
    def focus(self) -> int:
        """The position of the focused step."""
        return next((at for at, step in enumerate(self.steps) if step.focused), -1)

    @property
    def values(self) -> tuple[int | None, ...]:
        """The labels; None where a step has none, or only a proposal."""
        return tuple(step.value if step.labelled else None for step in self.steps)

    def of(self, indexes: Sequence[int]) -> Look:
        """The same with a place for each of these steps. A long run comes in parts: those that are not there
        have no label and are on no screen."""
        here = {step.index: at for at, step in enumerate(self.steps)}
        places = [here.get(index) for index in indexes]
        nowhere = float("inf")
        return Look(
            tuple(
                StepOnPage(index, None, False, False, False, "") if at is None else self.steps[at]
                for index, at in zip(indexes, places, strict=True)
            ),
            replace(
                self.scene,
                tops=tuple(nowhere if at is None else self.scene.tops[at] for at in places),
                bottoms=tuple(nowhere if at is None else self.scene.bottoms[at] for at in places),
            ),
        )

    def proposals_on_screen(self) -> frozenset[int]:
        """Positions of the proposals of which enough is on screen."""
        return frozenset(
            at for at, step in enumerate(self.steps) if step.proposed and self.scene.on_screen(at)
        )


class Workbench:
    """One annotator at the workbench of one project."""

    def __init__(self, context: BrowserContext, home: str) -> None:
        context.set_default_timeout(TIMEOUT_MS)
        self.visitor = Visitor(context, home)
        self.page = self.visitor.page

    def sign_in(self, username: str, password: str) -> None:
        """Through the page, as people do."""
        self.visitor.go("/sign-in/")
        self.page.get_by_label("Name or e-mail address").fill(username)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(lambda url: "/sign-in/" not in url)

    def take_first(self, slug: str) -> None:
        """From the list of one's work; later ones follow each submission."""
        self.visitor.go(f"/p/{slug}/work/")
        self.page.locator('form[action$="/claim/"] button').first.click()
        self.ready()

    def ready(self) -> None:
        """Wait until the workbench takes keys."""
        self.page.locator(READY).wait_for(state="attached")

    @property
    def record(self) -> str:
        """The record on the page, by its title."""
        return self.page.title().partition(" · ")[0]

    def press(self, key: str) -> None:
        """A real key press: the browser's input pipeline, not a script's event."""
        self.page.keyboard.press(key)

    def pause(self, milliseconds: int = LOOK_MS) -> None:
        """Look at what stands there."""
        self.page.evaluate(PAUSE, milliseconds)

    def look(self) -> Look:
        """The present content of the screen."""
        seen: dict[str, Any] = self.page.evaluate(LOOK)
        steps = tuple(
            StepOnPage(
                step["index"],
                step["value"],
                step["proposed"],
                step["labelled"],
                step["focused"],
                step["says"],
            )
            for step in seen["steps"]
        )
        scene = Scene(
            tops=tuple(step["top"] for step in seen["steps"]),
            bottoms=tuple(step["bottom"] for step in seen["steps"]),
            covered=seen["covered"],
            height=seen["height"],
            margin=seen["margin"],
            most=seen["most"],
            scroll=seen["scroll"],
        )
        return Look(steps, scene)

    def hand_in(self, outcome: int, odd: bool) -> tuple[int, int]:
        """Set the outcome and submit; the next trajectory opens, or the list after the last one. How many
        presses the outcome and the submission took. Raises Refused when the page does not let it go."""
        before = self.page.url
        self.press(OUTCOME_KEYS[outcome])
        self.press(SUBMIT)
        presses = 1
        if odd:  # asked once whether that is meant
            expect(self.page.locator('[data-role="missing"]')).to_be_visible()
            self.press(SUBMIT)
            presses += 1
        try:
            self.page.wait_for_url(lambda url: url != before, wait_until="commit")
        except Exception as error:
            said = self.page.locator('[data-role="missing"]').text_content()
            raise Refused(f"{before} could not be submitted: {said or error}") from error
        if "/assignments/" in self.page.url:
            self.ready()
        return 1, presses

    def complaints(self) -> list[str]:
        """Console errors, violations of the content policy, requests to another host."""
        return self.visitor.watch.unexpected()

    def close(self) -> None:
        """Go home."""
        self.visitor.context.close()


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, else Playwright's. Raises Failed without either."""
    with sync_playwright() as playwright:
        path = system_chromium() or playwright.chromium.executable_path
        if not Path(path).exists():
            raise Failed("No Chromium: install one (package chromium), or run `playwright install chromium`.")
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield running
        finally:
            running.close()


def open_workbench(browser: Browser, home: str, size: tuple[int, int] = WIDE) -> Workbench:
    """A browser window of that size, of a person who has never been here."""
    width, height = size
    return Workbench(browser.new_context(viewport={"width": width, "height": height}), home)
