"""Records that are tasks in several turns which stand alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.core.trajectories.conversation_turns import turns_stand_alone

CALLS = [["cd(folder='a')", "ls()"], []]


def messages(roles: str) -> list[dict[str, Any]]:
    names = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    return [{"role": names[role], "content": "…"} for role in roles]


@pytest.mark.parametrize(
    ("roles", "reference", "alone"),
    [
        ("ssuatasuatas", None, True),
        ("suatauata", CALLS, True),
        ("suatauata", {"actions": [{"name": "ls"}]}, False),
        ("suatauata", [["cd()"], ["ls()"], ["pwd()"]], False),
        ("suatauata", [[], []], False),
        ("suatauata", [["cd()"], [{"name": "ls"}]], False),
        ("suatasuataua", None, False),
        ("ssuata", [["cd()"]], False),
        ("saua", CALLS, False),
        ("", None, False),
    ],
)
def test_turns_that_stand_alone(roles: str, reference: Any, alone: bool) -> None:
    assert turns_stand_alone(messages(roles), reference) is alone


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "alone"), [("bfcl.sample", 2), ("tau2.sample", 0), ("hotpotqa", 0), ("gaia_dev.sample", 0)]
)
def test_turns_of_published_records(published: Path, name: str, alone: int) -> None:
    lines = (published / f"agentprocessbench/{name}.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert sum(turns_stand_alone(record["messages"], record["ground_truth"]) for record in records) == alone
