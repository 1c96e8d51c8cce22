"""Divide the tasks of a release into train and test: by chance that is a seed, and never a task on both
sides."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any, Final

TRAIN: Final = "train"
TEST: Final = "test"


def task_of(record: Mapping[str, Any]) -> str:
    """The task of a record: its key, without one its subset and query index."""
    key = record.get("task_key")
    return key if isinstance(key, str) else f"{record['subset']}:{record['query_index']}"


def test_tasks(tasks: Mapping[str, Collection[str]], share: float, seed: int) -> set[str]:
    """The tasks of each subset that are for testing.

    Of each subset of two tasks or more it is `share` of its tasks, rounded half up, at least one and at most
    all but one; of a subset of one task none. A task that occurs in several subsets is on one side in all of
    them, which may shift the share of the later one. The order of chance is that of SHA-256 over seed and
    task: no library's generator is part of it.
    """
    chosen: set[str] = set()
    decided: set[str] = set()
    for subset in sorted(tasks):
        own = set(tasks[subset])
        wanted = min(max(int(share * len(own) + 0.5), 1), len(own) - 1)
        missing = wanted - len(own & chosen)
        for task in sorted(own - decided, key=lambda task: _chance(seed, task)):
            if missing <= 0:
                break
            chosen.add(task)
            missing -= 1
        decided |= own
    return chosen


def _chance(seed: int, task: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{task}".encode("utf-8", "surrogatepass")).digest()
