"""Long writes: killed in the middle they count nowhere, and they take short turns on SQLite."""

from __future__ import annotations

import gc
import importlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
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
    Judge,
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
from annotation.reports.judging.runs import judges as summaries
from annotation.reports.judging.suggestions import anonymised_order
from annotation.services import assign, batched_writes, label, projects, release, suggest
from annotation.services.label import import_rows as label_rows
from annotation.services.release import contents, staging
from annotation.services.suggest import import_file as suggestion_file
from config.management import archive
from config.sqlite3 import queue
from tests import people
from tests.databases import empty_everything
from tests.people import Cast, change
from tests.services.long_writes import (
    freeze_writer,
    import_labels,
    import_suggestions,
    labels_writer,
    prepared,
    suggestions_writer,
    triage_writer,
)

pytestmark = pytest.mark.django_db(transaction=True)

# the package's own `triage` is the function
triage = importlib.import_module("annotation.services.projects.triage")


class Killed(BaseException):
    """As much of a kill as a test can have of itself."""


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One piece in a transaction, and of labels one trajectory in a piece."""
    monkeypatch.setattr(batched_writes, "BLOCK_SECONDS", 0.0)
    monkeypatch.setattr(label_rows, "MOST_AT_ONCE", 1)


def _after(patch: pytest.MonkeyPatch, where: Any, name: str, calls: int) -> None:
    """Let the process be killed at this call of a function, counted from 0."""
    original, made = getattr(where, name), []

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(made) == calls:
            raise Killed
        made.append(1)
        return original(*args, **kwargs)

    patch.setattr(where, name, call)


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["_store", "finish"])
def test_labels_whose_import_was_killed_count_nowhere_and_are_completed_by_the_same_file(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None, where: str
) -> None:
    cast, rows, _saver = prepared(6)
    import_labels(cast, rows[1:], "first")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, label_rows, where, 2)
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


@pytest.mark.postgres
def test_labels_whose_import_was_killed_are_swept_away_after_an_hour(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(5)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, label_rows, "_store", 2)
        import_labels(cast, rows[1:])
    assert label.sweep_half_imports() == 0
    assert label.sweep_half_imports(now=timezone.now() + timedelta(hours=2)) == 2
    assert not Assignment.objects.filter(annotator=User.objects.get(username="humans")).exists()
    assert [row.free_slots for row in Trajectory.objects.order_by("position")] == [1, 2, 2, 2, 2]


@pytest.mark.postgres
def test_labels_of_which_one_lost_its_place_meanwhile_are_taken_away_again(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(4)
    original = assign.take_slots

    def take_slots(trajectories: Collection[int], project_id: int, *, annotator: int) -> dict[int, int]:
        if rows[3].pk in trajectories:
            Trajectory.objects.filter(pk=rows[3].pk).update(free_slots=0)
        return original(trajectories, project_id, annotator=annotator)

    monkeypatch.setattr(assign, "take_slots", take_slots)
    with pytest.raises(ImportRefused) as refused:
        import_labels(cast, rows[1:])
    assert rows[3].record_id in refused.value.report["errors"][0]["reason"]
    assert Assignment.objects.count() == 1
    assert [row.free_slots for row in Trajectory.objects.order_by("position")][:3] == [1, 2, 2]


@pytest.fixture
def half_imported(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> tuple[people.Cast, list[Trajectory]]:
    """Suggestions for six trajectories, of which four are stored, and the process is killed."""
    cast, rows, _saver = prepared(6)
    monkeypatch.setattr(suggestion_file, "STORED_AT_ONCE", 2)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, SuggestedLabel.stored, "bulk_create", 2)
        import_suggestions(cast, rows)
    assert Suggestion.stored.count() == 4 and SuggestedLabel.stored.count() == 16
    return cast, rows


@pytest.mark.postgres
def test_suggestions_whose_import_was_killed_are_known_to_nobody_until_the_same_file_completes_them(
    half_imported: tuple[people.Cast, list[Trajectory]],
) -> None:
    cast, rows = half_imported
    judge = Judge.objects.get(name="Sage")
    assert not Suggestion.objects.exists() and not SuggestedLabel.objects.exists()
    assert summaries(viewer=OPERATOR, project=cast.project)[0].suggestions == 0
    assert anonymised_order(rows[0]) == []

    again = import_suggestions(cast, rows)

    assert (again.created, again.unchanged, again.labels) == (6, 0, 24)
    assert Suggestion.objects.filter(judge=judge).count() == 6 and SuggestedLabel.objects.count() == 24
    assert anonymised_order(rows[0]) == [judge.pk]
    third = import_suggestions(cast, rows)
    assert (third.created, third.unchanged, third.labels) == (0, 6, 0)


@pytest.mark.postgres
def test_suggestions_whose_import_was_killed_give_way_to_another_file_and_to_time(
    half_imported: tuple[people.Cast, list[Trajectory]],
) -> None:
    cast, rows = half_imported
    assert suggest.sweep_half_imports() == 0
    other = import_suggestions(cast, rows[3:])

    assert (other.created, other.unchanged) == (3, 0)
    assert set(Suggestion.stored.values_list("trajectory", flat=True)) == {row.pk for row in rows[3:]}
    Suggestion.objects.filter(trajectory=rows[5]).update(live=False)
    assert suggest.sweep_half_imports(now=timezone.now() + timedelta(hours=2)) == 1
    assert Suggestion.stored.count() == Suggestion.objects.count() == 2


@pytest.mark.postgres
def test_triage_that_was_killed_leaves_an_order_and_is_completed(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(12)
    write = triage_writer(cast, rows[1:])
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


@pytest.mark.parametrize("changed", [False, True])
def test_freeze_that_was_killed_is_seen_nowhere_and_taken_up_as_far_as_it_holds(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None, settings: Any, tmp_path: Path, changed: bool
) -> None:
    settings.DATA_DIR = tmp_path
    cast, rows, _saver = prepared(8)
    freeze = freeze_writer(cast, rows[1:])
    monkeypatch.setattr(staging, "RECORDS_AT_ONCE", 2)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _after(patch, contents, "write", 2)
        freeze()
    assert ReleaseRecord.objects.count() == 4 and ReleaseLabel.objects.count() == 20
    assert not Release.objects.exists()
    rows_of = archive.backup(tmp_path / "meanwhile.tar.gz")["rows"]
    assert rows_of["tables/releaserecord.jsonl"] == rows_of["tables/releaselabel.jsonl"] == 0
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


def test_freeze_that_was_killed_is_swept_away_after_an_hour(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    cast, rows, _saver = prepared(4)
    freeze = freeze_writer(cast, rows[1:])
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


def test_turns_of_a_restore_are_short(ledger: Ledger, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = settings.UPLOAD_DIR = settings.MEDIA_ROOT = tmp_path
    cast, rows, _saver = prepared(60)
    suggestions_writer(cast, rows)()
    archive.backup(tmp_path / "b.tar.gz")
    empty_everything()
    ledger.holds.clear()

    archive.restore(tmp_path / "b.tar.gz")

    assert len(ledger.holds) > 5
    assert max(seconds for _name, seconds in ledger.holds) < LONGEST_TURN
    assert Trajectory.objects.count() == 60
