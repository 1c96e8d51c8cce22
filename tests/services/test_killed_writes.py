"""Long writes that are killed in the middle: what is left counts nowhere, and asking again completes it."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
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
from tests import people
from tests.services.long_writes import (
    freeze_writer,
    import_labels,
    import_suggestions,
    prepared,
    triage_writer,
)

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

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


def test_labels_of_which_one_lost_its_place_meanwhile_are_taken_away_again(
    monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    cast, rows, _saver = prepared(4)
    original = assign.take_slots

    def take_slots(trajectories: Collection[int], project_id: int) -> dict[int, int]:
        if rows[3].pk in trajectories:
            Trajectory.objects.filter(pk=rows[3].pk).update(free_slots=0)
        return original(trajectories, project_id)

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


@pytest.mark.once
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
