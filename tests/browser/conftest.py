"""Browsers on two servers: the one `make run` starts (`server`), and one inside the test (`visit`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from annotation.models import Assignment
from tests.browser.server import Site
from tests.browser.visitors import session_of
from tests.browser.workbench import open_as_ann
from tests.chromium import Kept, Visitor, arrivals
from tests.people import Cast, claim, import_records

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def guest(browser: Browser, server: Site, kept_contexts: Kept) -> Iterator[Callable[..., Visitor]]:
    """`guest(**context_options)` opens another person's browser on the server that all tests share."""
    with arrivals(browser, server.url, kept_contexts) as arrive:
        yield arrive


@pytest.fixture
def bench(cast: Cast, visit: Callable) -> Callable:
    """`bench(record, expected="", **context)` imports a record, claims it for ann and opens it.

    Complaints of the console that hold `expected` are expected.
    """

    def start(record: dict, **options: object) -> tuple[Page, Assignment]:
        import_records(cast.project, [record])
        assignment = claim(cast.ann, cast.project)
        return open_as_ann(visit, cast, assignment, **options), assignment

    return start


@pytest.fixture
def open_as(cast: Cast, visit: Callable) -> Callable[..., Page]:
    """`open_as("ann", "/path/")`: a page in her browser; complaints that hold `expected` are expected."""

    def start(who: str, path: str, expected: str = "", **options: object) -> Page:
        visitor = session_of(visit(**options), cast.everybody[who])
        if expected:
            visitor.watch.allow(expected)
        visitor.go(path)
        return visitor.page

    return start
