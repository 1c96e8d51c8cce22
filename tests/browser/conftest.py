"""Browsers on two kinds of server: the one `make run` starts (`house`), and one inside the test (`visit`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.house import House
from tests.chromium import PATIENCE, Visitor

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DESKTOP = {"width": 1440, "height": 900}


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The product as `make run` starts it, with the demo project; one for all tests that ask for it."""
    running = House(tmp_path_factory.mktemp("house") / "data")
    try:
        yield running.ready()
    finally:
        running.stop()


@pytest.fixture
def guest(browser: Browser, house: House) -> Iterator[Callable[..., Visitor]]:
    """`guest()` opens another person's browser in the house; at the end no console has complained."""
    visitors: list[Visitor] = []

    def arrive(**options: object) -> Visitor:
        options.setdefault("viewport", DESKTOP)
        visitor = Visitor(browser.new_context(**options), house.url)  # type: ignore[arg-type]
        visitor.context.set_default_timeout(PATIENCE)
        visitors.append(visitor)
        return visitor

    yield arrive
    complaints = [line for visitor in visitors for line in visitor.watch.unexpected()]
    for visitor in visitors:
        visitor.context.close()
    assert complaints == []
