"""One caller for each of the cast."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.callers import Caller, token_of
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast


@dataclass(frozen=True)
class Callers:
    """The cast, each with a token; `nobody` has none."""

    admin: Caller
    ann: Caller
    ben: Caller
    cleo: Caller
    judith: Caller
    oscar: Caller
    root: Caller
    nobody: Caller


@shared_rows
def tokens(cast: Cast) -> dict[str, str]:
    """A token for each of the cast, by name."""
    return {name: token_of(user) for name, user in cast.everybody.items()}


@pytest.fixture
def by(tokens: dict[str, str]) -> Callers:
    """`by.ann.get("/me/")`"""
    return Callers(**{name: Caller(token=token) for name, token in tokens.items()}, nobody=Caller(None))
