"""Fixtures of the page tests: each of the cast in a browser of their own (Django's test client)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.callers import signed_in
from tests.people import Cast


@pytest.fixture
def at() -> Callable[..., str]:
    """The address of a page by name: `at("members", "bench")`."""
    return lambda name, *args: reverse(f"frontend:{name}", args=args)


@pytest.fixture
def browse(cast: Cast) -> Callable[[str], Client]:
    """A signed-in client for one of the cast, by name; "nobody" is not signed in."""

    def open_browser(name: str) -> Client:
        return signed_in(None if name == "nobody" else cast.everybody[name])

    return open_browser


@pytest.fixture
def text() -> Callable[[Any], str]:
    """The body of an answer as text."""
    return lambda response: response.content.decode()
