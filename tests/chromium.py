"""Chromium for tests: real pages, with everything the console says collected and expected to be nothing."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# How long a page may take on a busy machine, in ms; only a failing test waits for so long.
PATIENCE = 30_000
# The headless shell draws no window: a context costs it a third of what it costs a whole browser.
SYSTEM_NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell"),
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)


def system_chromium() -> str | None:
    """The browser of this machine, if it has one."""
    return next((found for name in SYSTEM_NAMES if (found := shutil.which(name))), None)


class Watch:
    """Complaints of a page: console errors, CSP violations, exceptions, requests to other hosts."""

    def __init__(self, page: Page, home: str) -> None:
        self.complaints: list[str] = []
        self._allowed: list[re.Pattern[str]] = []
        self._host = urlsplit(home).netloc
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", self._request)

    def allow(self, pattern: str) -> None:
        """Expect complaints that match `pattern` (the browser logs every 4xx answer as an error)."""
        self._allowed.append(re.compile(pattern))

    def unexpected(self) -> list[str]:
        """The complaints that nobody expected."""
        return [line for line in self.complaints if not any(rule.search(line) for rule in self._allowed)]

    def _console(self, message: ConsoleMessage) -> None:
        violation = "Content Security Policy" in message.text or "Trusted" in message.text
        if message.type == "error" or violation:
            self.complaints.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != self._host:
            self.complaints.append(f"request to another host: {request.url}")


# What the workbench explains once moves what stands below it; a test of that sets "first-time".
KNOWS_PROPAGATION: Final = """
try {
  if (!localStorage.getItem("first-time")) localStorage.setItem("tristep:propagation", "understood");
} catch {}
"""


class Visitor:
    """One person at a browser of their own: `page`, `context`, and the `watch` over it. Propagation has been
    explained to them."""

    def __init__(self, context: BrowserContext, home: str) -> None:
        self.context = context
        self.home = home
        context.add_init_script(KNOWS_PROPAGATION)
        self.page = context.new_page()
        self.watch = Watch(self.page, home)

    def go(self, path: str) -> None:
        """Open a path of the server under test."""
        self.page.goto(self.home + path)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, else the one Playwright installed, else a skip (which CI refuses)."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    # Playwright's synchronous API keeps an event loop in this thread; Django would refuse to query beside it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        path = system_chromium() or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.skip("No Chromium: install one (package chromium), or run `playwright install chromium`.")
        running = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


def fits_the_window(page: Page) -> None:
    """Nothing is wider than the window, once the page has its styles: a form’s answer is read before that."""
    page.wait_for_load_state()
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over <= 0, f"{page.url} is {over} px too wide"


@contextmanager
def arrivals(browser: Browser, home: str) -> Iterator[Callable[..., Visitor]]:
    """`arrive(**context_options)` opens one more browser at `home`; at the end none has complained."""
    visitors: list[Visitor] = []

    def arrive(**options: object) -> Visitor:
        options.setdefault("viewport", {"width": 1440, "height": 900})
        visitor = Visitor(browser.new_context(**options), home)  # type: ignore[arg-type]
        visitor.context.set_default_timeout(PATIENCE)
        visitors.append(visitor)
        return visitor

    yield arrive
    complaints = [line for visitor in visitors for line in visitor.watch.unexpected()]
    for visitor in visitors:
        visitor.context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def all_answered() -> Iterator[Callable[[], None]]:
    """Wait until the server inside the tests is idle: it would go on in the next test's database."""
    from django.core.servers.basehttp import ServerHandler

    change, underway, run = threading.Condition(), [0], ServerHandler.run

    def counted(self: ServerHandler, application: Any) -> None:
        with change:
            underway[0] += 1
        try:
            run(self, application)
        finally:
            with change:
                underway[0] -= 1
                change.notify_all()

    def wait() -> None:
        with change:
            assert change.wait_for(lambda: not underway[0], PATIENCE / 1000), "a request has no answer"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServerHandler, "run", counted)
        yield wait


@pytest.fixture
def visit(
    browser: Browser, live_server: object, all_answered: Callable[[], None]
) -> Iterator[Callable[..., Visitor]]:
    """`visit(**context_options)` opens another person's browser on the server inside the test."""
    try:
        with arrivals(browser, str(live_server)) as arrive:
            yield arrive
    finally:
        all_answered()


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    """One person at a browser."""
    return visit()


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The page of that one person."""
    return visitor.page


def main() -> int:
    """Before a test run: let Playwright install its Chromium when this machine has none. Never fails."""
    import subprocess
    import sys

    from playwright.sync_api import sync_playwright

    if system_chromium():
        return 0
    with sync_playwright() as playwright:
        if Path(playwright.chromium.executable_path).exists():
            return 0
    print("No Chromium here: asking Playwright for one", file=sys.stderr)
    if subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False).returncode:
        print("Without a Chromium the browser tests are skipped.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
