"""One caller for each of the cast."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.people import Caller, Cast


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


@pytest.fixture
def by(cast: Cast) -> Callers:
    """`by.ann.get("/me/")`"""
    people = {name: Caller(user) for name, user in cast.everybody.items()}
    return Callers(**people, nobody=Caller(None))
