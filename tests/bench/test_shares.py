"""The probe of shares over HTTP; smaller."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import shares

pytestmark = pytest.mark.django_db(transaction=True)


def test_shares_of_many_clients_give_exactly_two_people_and_what_was_assigned_to_those_named(
    process_environment: dict[str, str], tmp_path: Path
) -> None:
    tokens = shares.prepare("12", "6", "with")["tokens"]

    shares.finish(process_environment, tmp_path / "web.log", tokens, 8, lambda: shares.again()["waiting"])

    found = shares.compare()
    assert {name: found[name] for name in ("trajectories", "wrong", "unfinished", "astray")} == {
        "trajectories": 12,
        "wrong": 0,
        "unfinished": 0,
        "astray": 0,
    }
