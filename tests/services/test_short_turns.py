"""Long writes take short turns on SQLite: people save beside them, and a kill loses nothing.

What counts is how long the lock is held, in CPU time of the thread that holds it: the clock of a busy machine
says nothing about that.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from annotation.core.errors import ImportRefused
from annotation.models import (
    Assignment,
    AuditEvent,
    Consensus,
    Label,
    Release,
    ReleaseLabel,
    ReleaseRecord,
    SuggestedLabel,
    Suggestion,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR
from annotation.services import blocks, label, projects, release, suggest
from annotation.services.label import import_file as label_file
from annotation.services.release import contents, staging
from annotation.services.suggest import import_file as suggestion_file
from config.sqlite3 import queue
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, change
from tests.suggesting import suggest as suggest_values

pytestmark = pytest.mark.django_db(transaction=True)

# the package's own `triage` is the function
triage = importlib.import_module("annotation.services.projects.triage")

LONGEST_TURN = 0.1
"""Seconds of CPU for which nobody else can write."""
LONGEST_WAIT = 0.25
"""Seconds of others' turns that a save waits for: of the one writer there is."""


@dataclass
class Ledger:
    """Who held the lock for how long, and how much of others' holding each turn waited for."""

    total: float = 0.0
    holds: list[tuple[str, float]] = field(default_factory=list)
    waits: list[tuple[str, float]] = field(default_factory=list)

    def longest(self, entries: list[tuple[str, float]], who: str) -> float:
        return max(seconds for name, seconds in entries if name == who)


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Every turn of this process's, measured."""
    kept = Ledger()

    class Measured(queue.Turn):
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

    monkeypatch.setattr("config.sqlite3.base.Turn", Measured)
    return kept


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


def prepared(how_many: int) -> tuple[Cast, list[Trajectory], Assignment]:
    """Trajectories of four steps, of which the first is being labelled by cleo."""
    cast = people.make_cast()
    rows = people.import_records(cast.project, people.make_records(how_many, steps=4))
    return cast, rows, people.claim(cast.cleo, cast.project)


def lines(rows: list[Trajectory], value: int = 1) -> io.BytesIO:
    """A file with labels of these trajectories."""
    return io.BytesIO(
        b"".join(
            json.dumps(
                {
                    "record_id": row.record_id,
                    "step_labels": {str(index): value for index in people.step_indexes(row)},
                    "final_label": value,
                }
            ).encode()
            + b"\n"
            for row in rows
        )
    )


def import_labels(cast: Cast, rows: list[Trajectory], who: str = "humans") -> label.LabelImport:
    return label.import_labels(
        actor=OPERATOR, project=cast.project, annotator=who, stream=lines(rows), filename="labels.jsonl"
    )


def import_suggestions(cast: Cast, rows: list[Trajectory]) -> suggest.SuggestionImport:
    return suggest.import_suggestions(
        actor=OPERATOR, project=cast.project, judge_name="Sage", stream=lines(rows), filename="sage.jsonl"
    )


def _labels(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    return lambda: import_labels(cast, rows)


def _suggestions(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    return lambda: import_suggestions(cast, rows)


def _triage(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    judges = [make_imported_judge(cast.project, name) for name in ("one", "other")]
    for number, row in enumerate(rows):
        suggest_values(judges[0], row, 1)
        suggest_values(judges[1], row, (-1) ** number)
    return lambda: projects.triage(actor=OPERATOR, project=cast.project, batch_size=50, seed=3)


def _freeze(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    for who in ("first", "second"):
        import_labels(cast, rows, who)
    return lambda: release.freeze(actor=OPERATOR, project=cast.project, version="1.0")


WRITERS = {_labels: 60, _suggestions: 150, _triage: 150, _freeze: 80}


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


# ── Killed in the middle ────────────────────────────────────────────────────
class Killed(BaseException):
    """As much of a kill as a test can have of itself."""


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One piece in a transaction."""
    monkeypatch.setattr(blocks, "BLOCK_SECONDS", 0.0)


def _after(patch: pytest.MonkeyPatch, where: Any, name: str, calls: int) -> None:
    """Let the process be killed at this call of a function, counted from 0."""
    original, made = getattr(where, name), []

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(made) == calls:
            raise Killed
        made.append(1)
        return original(*args, **kwargs)

    patch.setattr(where, name, call)


@pytest.mark.parametrize("where", ["_store", "finish"])
def test_labels_whose_import_was_killed_count_nowhere_and_are_completed_by_the_same_file(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None, where: str
) -> None:
    cast, rows, _saver = prepared(6)
    import_labels(cast, rows[1:], "first")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, label_file, where, 2)
        import_labels(cast, rows[1:], "second")

    halves = Assignment.objects.filter(annotator__username="second")
    submitted = 0 if where == "_store" else 2
    assert halves.count() == (2 if where == "_store" else 5)
    assert halves.filter(state="submitted").count() == submitted
    assert Trajectory.objects.filter(state="unanimous").count() == submitted
    second = import_labels(cast, rows[1:], "second")

    assert (second.created, second.unchanged) == (5 - submitted, submitted)
    assert set(halves.values_list("state", flat=True)) == {"submitted"}
    assert Trajectory.objects.filter(state="unanimous", free_slots=0).count() == 5
    assert Consensus.objects.count() == Label.objects.filter(assignment__in=halves).count() == 20
    assert AuditEvent.objects.filter(verb="labels.import").count() == 2


def test_labels_whose_import_was_killed_are_swept_away_after_an_hour(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(5)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, label_file, "_store", 2)
        import_labels(cast, rows[1:])
    assert label.sweep_half_imports() == 0
    assert label.sweep_half_imports(now=timezone.now() + timedelta(hours=2)) == 2
    assert not Assignment.objects.filter(annotator=User.objects.get(username="humans")).exists()
    assert [row.free_slots for row in Trajectory.objects.order_by("position")] == [1, 2, 2, 2, 2]


def test_labels_of_which_one_lost_its_place_meanwhile_are_taken_away_again(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(4)
    original = label_file._store

    def store(user: User, row: Trajectory, *more: Any) -> int:
        if row.pk == rows[3].pk:
            Trajectory.objects.filter(pk=row.pk).update(free_slots=0)
        return original(user, row, *more)

    monkeypatch.setattr(label_file, "_store", store)
    with pytest.raises(ImportRefused) as refused:
        import_labels(cast, rows[1:])
    assert rows[3].record_id in refused.value.report["errors"][0]["reason"]
    assert Assignment.objects.count() == 1
    assert [row.free_slots for row in Trajectory.objects.order_by("position")][:3] == [1, 2, 2]


def test_suggestions_whose_import_was_killed_are_completed_by_the_same_file(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(6)
    monkeypatch.setattr(suggestion_file, "STORED_AT_ONCE", 2)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, SuggestedLabel.objects, "bulk_create", 2)
        import_suggestions(cast, rows)
    assert Suggestion.objects.count() == 4
    assert all(suggestion.labels.count() == 4 for suggestion in Suggestion.objects.all())
    again = import_suggestions(cast, rows)
    assert (again.created, again.unchanged) == (2, 4)


def test_triage_that_was_killed_leaves_an_order_and_is_completed(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(12)
    write = _triage(cast, rows[1:])
    monkeypatch.setattr(triage, "PAIRS", 2)
    places = sorted(row.position for row in rows)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, triage, "_place", 2)
        write()
    assert sorted(Trajectory.objects.values_list("position", flat=True)) == places
    write()
    once = list(Trajectory.objects.order_by("position").values_list("pk", flat=True))
    projects.undo_triage(actor=OPERATOR, project=cast.project)
    assert list(Trajectory.objects.order_by("position")) == rows
    write()
    assert list(Trajectory.objects.order_by("position").values_list("pk", flat=True)) == once


@pytest.mark.once
@pytest.mark.parametrize("changed", [False, True])
def test_freeze_that_was_killed_is_seen_nowhere_and_taken_up_as_far_as_it_holds(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None, settings: Any, tmp_path: Path, changed: bool
) -> None:
    settings.DATA_DIR = tmp_path
    cast, rows, _saver = prepared(8)
    freeze = _freeze(cast, rows[1:])
    monkeypatch.setattr(staging, "RECORDS_AT_ONCE", 2)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, contents, "write", 2)
        freeze()
    assert ReleaseRecord.objects.count() == 4 and ReleaseLabel.objects.count() == 20
    assert not Release.objects.exists()
    staged = ReleaseRecord.objects.order_by("pk").values_list("release_id", flat=True)[0]
    if changed:
        first = Consensus.objects.filter(trajectory=rows[1]).order_by("pk")[0]
        Consensus.objects.filter(pk=first.pk).update(value=0)
    made = freeze()

    assert (made.pk == staged) is not changed
    assert (made.record_count, ReleaseRecord.objects.count()) == (7, 7)
    assert ReleaseLabel.objects.count() == 7 * 5
    assert release.verify(actor=OPERATOR, release=made).ok
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA foreign_key_check").fetchall() == []
        assert cursor.execute("PRAGMA foreign_keys").fetchone() == (1,)


@pytest.mark.once
def test_freeze_that_was_killed_is_swept_away_after_an_hour(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    cast, rows, _saver = prepared(4)
    freeze = _freeze(cast, rows[1:])
    monkeypatch.setattr(staging, "RECORDS_AT_ONCE", 1)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, contents, "write", 2)
        freeze()
    assert release.sweep_staged() == 0
    with staging._lock_file().open("rb") as file:
        os.utime(file.fileno(), (0, 0))
    assert release.sweep_staged() == 1
    assert not ReleaseRecord.objects.exists() and not ReleaseLabel.objects.exists()
    assert release.sweep_staged() == 0
    assert release.verify(actor=OPERATOR, release=freeze()).ok
