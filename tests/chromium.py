"""Chromium for tests: real pages, with everything the console says collected and expected to be nothing."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # two processes less to talk to, a tenth of what a page costs
    "--in-process-gpu",
    "--enable-features=NetworkServiceInProcess2",
    # a request to another host fails, and the console tells of it
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
# A page of a test is gone before compiling its scripts a second time, for speed, has paid. Not in
# FLAGS: bench/ measures what people have.
UNOPTIMISED = "--js-flags=--no-opt --no-maglev"
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
    """Complaints of a page: console errors, CSP violations, exceptions, requests to other hosts.

    By FLAGS the browser finds no other host, which is a console error: to be told of every request costs a
    tenth of a page.
    """

    def __init__(self, page: Page) -> None:
        self.complaints: list[str] = []
        self._allowed: list[re.Pattern[str]] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))

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


# What the workbench explains once moves what stands below it; a test of that sets "first-time".
KNOWS_PROPAGATION: Final = """
try {
  if (!localStorage.getItem("first-time")) localStorage.setItem("tristep:propagation", "understood");
} catch {}
"""


class Visitor:
    """One person at a browser of their own: `page`, `context`, and the `watch` over it. Propagation has been
    explained to them. The page may be one that was opened in the context."""

    def __init__(self, context: BrowserContext, home: str, page: Page | None = None) -> None:
        self.context = context
        self.home = home
        if page is None:
            context.add_init_script(KNOWS_PROPAGATION)
        self.page = page or context.new_page()
        self.watch = Watch(self.page)

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
        running = playwright.chromium.launch(executable_path=path, args=[*FLAGS, UNOPTIMISED])
        yield running
        running.close()


def fits_the_window(page: Page) -> None:
    """Nothing is wider than the window, once the page has its styles: a form’s answer is read before that."""
    page.wait_for_load_state()
    over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert over <= 0, f"{page.url} is {over} px too wide"


OPEN: Final = "{ const opened = window.open('about:blank'); opened.opener = null; }"


class KeptContext:
    """A context that one test after the other has to itself: emptied in between, with every page closed but
    one, whose process the pages of the next test are opened in. A process, its modules and its cached files
    are 40 % of what a first page costs."""

    def __init__(self, browser: Browser, home: str, options: Mapping[str, Any]) -> None:
        self.home = home
        self._context = browser.new_context(**options)
        self._context.set_default_timeout(PATIENCE)
        self._context.add_init_script(KNOWS_PROPAGATION)
        self._first = self._context.new_page()
        self._first.goto(f"{home}/healthz")

    def visitor(self, viewport: ViewportSize) -> Visitor:
        """A person who has never been here."""
        with self._first.expect_popup() as opened:
            self._first.evaluate(OPEN)
        opened.value.set_viewport_size(viewport)
        return Visitor(self._context, self.home, opened.value)

    def empty(self) -> None:
        """Take away all that a person leaves in a browser."""
        for page in self._context.pages:
            if page is not self._first:
                page.close()
        self._context.set_offline(False)
        self._context.clear_cookies()
        self._first.evaluate("localStorage.clear()")


Kept = dict[tuple[str, str], list[KeptContext]]
"""By server and options, those that nobody has."""
KEPT_WITH: Final = frozenset({"viewport", "has_touch", "is_mobile"})


@pytest.fixture(scope="session")
def kept_contexts() -> Kept:
    """The contexts that this process keeps from test to test."""
    return defaultdict(list)


@contextmanager
def arrivals(browser: Browser, home: str, kept: Kept | None = None) -> Iterator[Callable[..., Visitor]]:
    """`arrive(**context_options)` opens one more browser at `home`; at the end none has complained.

    It is one of the `kept` ones, unless its options are uncommon or it is to be `alone`, as it must be for a
    test that stops its clock.
    """
    visitors: list[Visitor] = []
    with ExitStack() as leaving:

        def arrive(*, alone: bool = False, **options: Any) -> Visitor:
            viewport = options.setdefault("viewport", {"width": 1440, "height": 900})
            if alone or kept is None or options.keys() - KEPT_WITH:
                visitor = Visitor(browser.new_context(**options), home)
                visitor.context.set_default_timeout(PATIENCE)
                leaving.callback(visitor.context.close)
            else:
                free = kept[home, repr(sorted(options.keys() - {"viewport"}))]
                one = free.pop() if free else KeptContext(browser, home, options)
                visitor = one.visitor(viewport)
                leaving.callback(free.append, one)
                leaving.callback(one.empty)
            visitors.append(visitor)
            return visitor

        yield arrive
        complaints = [line for visitor in visitors for line in visitor.watch.unexpected()]
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


@pytest.fixture(scope="session")
def files_read_once() -> Iterator[None]:
    """Static files of the server inside the tests: read once, and kept by browsers, as in production."""
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.contrib.staticfiles.views import serve
    from django.http import HttpRequest, HttpResponse

    contents: dict[str, tuple[bytes, str]] = {}

    def quickly(self: StaticFilesHandler, request: HttpRequest) -> HttpResponse:
        path = self.file_path(request.path)
        if path not in contents:
            answer = serve(request, path, insecure=True)
            contents[path] = answer.getvalue(), answer["Content-Type"]
        content, kind = contents[path]
        return HttpResponse(content, content_type=kind, headers={"Cache-Control": "max-age=86400"})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFilesHandler, "serve", quickly)
        yield


@pytest.fixture
def visit(
    browser: Browser,
    live_server: object,
    all_answered: Callable[[], None],
    files_read_once: None,
    kept_contexts: Kept,
) -> Iterator[Callable[..., Visitor]]:
    """`visit(**context_options)` opens another person's browser on the server inside the test."""
    try:
        with arrivals(browser, str(live_server), kept_contexts) as arrive:
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
