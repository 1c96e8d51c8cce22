"""Long writes take short turns on SQLite: people save beside them, and a kill loses nothing.

What counts is how long the lock is held, in CPU time of the thread that holds it: the clock of a busy machine
says nothing about that.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from annotation.models import Assignment, Trajectory
from annotation.services import label
from config.management import archive
from config.sqlite3 import queue
from tests import people
from tests.databases import empty_everything
from tests.people import Cast, change
from tests.services.long_writes import (
    freeze_writer,
    labels_writer,
    prepared,
    suggestions_writer,
    triage_writer,
)

pytestmark = pytest.mark.django_db(transaction=True)

LONGEST_TURN = 0.1
"""Seconds of CPU for which nobody else can write."""
LONGEST_WAIT = 0.25
"""Seconds of others' turns that a save waits for: of the one writer there is."""


@dataclass
class Ledger:
    """Holders of the lock with their times, and how much of others' holding each turn waited for."""

    total: float = 0.0
    holds: list[tuple[str, float]] = field(default_factory=list)
    waits: list[tuple[str, float]] = field(default_factory=list)

    def longest(self, entries: list[tuple[str, float]], who: str) -> float:
        return max(seconds for name, seconds in entries if name == who)


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    """Every turn of this process's, measured.

    Without the garbage collector: after a thousand tests, a full collection takes longer than any turn, and
    it may come in the middle of one.
    """
    kept = Ledger()

    class Measured(queue.WriteTurn):
        def __init__(self, *asked: Any) -> None:
            before = kept.total
            super().__init__(*asked)
            kept.waits.append((threading.current_thread().name, kept.total - before))
            self._since = time.thread_time()

        def end(self) -> None:
            if self._queue is not None:
                held = time.thread_time() - self._since
                kept.total += held
                kept.holds.append((threading.current_thread().name, held))
            super().end()

    monkeypatch.setattr("config.sqlite3.base.WriteTurn", Measured)
    gc.disable()
    yield kept
    gc.enable()


def beside_a_saver(saver: Assignment, write: Callable[[], Any]) -> int:
    """Let `write` run in a thread called "writer" while somebody saves label upon label; how many saves."""
    done = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            write()
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()
            connections.close_all()

    thread = threading.Thread(target=run, name="writer")
    thread.start()
    saves = 0
    while not done.is_set() or not saves:
        answer = label.save_labels(
            actor=saver.annotator,
            assignment=saver,
            op_id=people.op_id(),
            changes=[change(2, 1, version=saves)],
        )
        assert answer["results"][0]["status"] == "saved"
        saves += 1
    thread.join(60)
    if failed:
        raise failed[0]
    return saves


WRITERS = {labels_writer: 60, suggestions_writer: 150, triage_writer: 400, freeze_writer: 80}


@pytest.mark.once
@pytest.mark.parametrize(("writer", "how_many"), WRITERS.items())
def test_turns_of_a_long_write_are_short_and_saves_come_between(
    ledger: Ledger, writer: Callable[[Cast, list[Trajectory]], Callable[[], Any]], how_many: int
) -> None:
    cast, rows, saver = prepared(how_many)
    write = writer(cast, rows[1:])
    ledger.holds.clear()

    saves = beside_a_saver(saver, write)

    turns = sum(name == "writer" for name, _seconds in ledger.holds)
    assert turns > 1 and saves > 2
    assert ledger.longest(ledger.holds, "writer") < LONGEST_TURN
    assert ledger.longest(ledger.waits, threading.current_thread().name) < LONGEST_WAIT


@pytest.mark.once
def test_turns_of_a_restore_are_short(ledger: Ledger, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = settings.UPLOAD_DIR = tmp_path
    cast, rows, _saver = prepared(60)
    suggestions_writer(cast, rows)()
    archive.backup(tmp_path / "b.tar.gz")
    empty_everything()
    ledger.holds.clear()

    archive.restore(tmp_path / "b.tar.gz")

    assert len(ledger.holds) > 5
    assert max(seconds for _name, seconds in ledger.holds) < LONGEST_TURN
    assert Trajectory.objects.count() == 60
