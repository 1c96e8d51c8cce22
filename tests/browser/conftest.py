"""Browsers on two servers: the one `make run` starts (`server`), and one inside the test (`visit`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.server import Site
from tests.chromium import PATIENCE, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DESKTOP = {"width": 1440, "height": 900}


@pytest.fixture
def guest(browser: Browser, server: Site) -> Iterator[Callable[..., Visitor]]:
    """`guest()` opens another person's browser in the server; at the end no console has complained."""
    visitors: list[Visitor] = []

    def arrive(**options: object) -> Visitor:
        options.setdefault("viewport", DESKTOP)
        visitor = Visitor(browser.new_context(**options), server.url)  # type: ignore[arg-type]
        visitor.context.set_default_timeout(PATIENCE)
        visitors.append(visitor)
        return visitor

    yield arrive
    complaints = [line for visitor in visitors for line in visitor.watch.unexpected()]
    for visitor in visitors:
        visitor.context.close()
    assert complaints == []
