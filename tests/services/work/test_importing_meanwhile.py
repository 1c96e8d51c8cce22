"""Events during an import: other people's acts, on threads too, and the death or failure of its worker."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connections
from django.utils import timezone

from annotation.core.errors import Conflict, ImportRefused, StaleState, TristepError
from annotation.core.vocabulary import ImportState
from annotation.models import (
    ImportFile,
    Step,
    Task,
    Trajectory,
)
from annotation.policies import visible
from annotation.services import ingest, label, projects
from annotation.services.ingest import run as running
from tests import people
from tests.people import Cast, import_file, import_records, jsonl, make_record, make_records
from tests.services.receiving import die_half_way, nothing_is_left, received, stored
from tests.services.together import together

pytestmark = pytest.mark.usefixtures("own_uploads")


# ── Meanwhile ─────────────────────────────
@pytest.mark.postgres
def test_import_that_runs_is_seen_by_nobody(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(12)))
    seen: list[int] = []

    def look(done: int, total: int) -> None:
        seen.append(Trajectory.objects.filter(source=source).count())
        assert not visible(cast.admin, Trajectory.objects.all()).exists()
        assert not visible(cast.root, Trajectory.objects.all()).exists()
        with pytest.raises(Conflict) as nothing:
            people.claim(cast.ann, cast.project)
        assert nothing.value.code == "nothing_left"

    ingest.run_import(source_id=source.pk, progress=look)

    assert max(seen) > 0
    assert visible(cast.admin, Trajectory.objects.all()).count() == 12
    assert people.claim(cast.ann, cast.project).trajectory.record_id == "tiny:0:0"


def test_import_is_known_to_be_alive_while_interleaved_traces_are_gathered(
    cast: Cast, small_batches: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a file gives its first trajectory when all of it has been read, which may take minutes."""
    golden = (django_settings.BASE_DIR / "fixtures" / "golden" / "opentelemetry.json").read_bytes()
    source = received(cast, golden)
    events: list[str] = []
    renew, prepare = running.lease.renew, running.prepare
    monkeypatch.setattr(running.lease, "renew", lambda *given: (events.append("alive"), renew(*given)))
    monkeypatch.setattr(running, "prepare", lambda draft: (events.append("draft"), prepare(draft))[1])

    ingest.run_import(source_id=source.pk)

    assert events[0] == "alive"
    assert events.count("draft") == 3


def test_import_takes_on_a_change_of_n_while_it_runs(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(8)))
    pending = [3]

    def change(done: int, total: int) -> None:
        if pending:
            projects.update_project(
                actor=cast.admin,
                project=cast.project,
                values={"annotators_per_trajectory": pending.pop()},
            )

    ingest.run_import(source_id=source.pk, progress=change)

    assert set(Trajectory.objects.values_list("free_slots", flat=True)) == {3}


def overtaken(cast: Cast, *others: int) -> ImportFile:
    """An import of eight records; of these, others import so many meanwhile, one each time it is read."""
    records = make_records(8)
    source = received(cast, jsonl(records))
    waiting, rows = list(others), [0]

    def overtake(done: int, total: int) -> None:
        rows.append(Trajectory.objects.filter(source=source).count())
        if waiting and rows[-1] >= 2 > rows[-2]:
            import_file(cast.project, jsonl(records[: waiting.pop(0)]))

    try:
        ingest.run_import(source_id=source.pk, progress=overtake)
    finally:
        source.refresh_from_db()
        assert not waiting
        assert Trajectory.objects.count() == Trajectory.objects.filter(live=True).count() == 8
        assert Task.objects.count() == 8
    return source


def test_import_that_another_overtakes_is_read_once_more(cast: Cast, small_batches: None) -> None:
    source = overtaken(cast, 5)
    assert (source.state, source.created_count, source.unchanged_count) == (ImportState.PUBLISHED, 3, 5)
    assert stored() == []


def test_import_that_others_overtake_twice_says_so_and_leaves_nothing(
    cast: Cast, small_batches: None
) -> None:
    with pytest.raises(Conflict) as refusal:
        overtaken(cast, 4, 8)
    assert refusal.value.code == "overtaken"
    source = ImportFile.objects.earliest("pk")
    assert (source.state, source.error) == (ImportState.FAILED, refusal.value.message)


@pytest.mark.postgres
def test_import_does_not_replace_a_record_that_is_claimed_meanwhile(cast: Cast, small_batches: None) -> None:
    import_records(cast.project, 4)
    source = received(cast, jsonl([make_record(query, question="New?") for query in range(4)]), replace=True)

    def claim_late(done: int, total: int) -> None:
        if Trajectory.objects.filter(live=False).count() >= 3 and not cast.ann.assignments.exists():
            people.claim(cast.ann, cast.project)

    with pytest.raises(TristepError):
        ingest.run_import(source_id=source.pk, progress=claim_late)

    assert Trajectory.objects.filter(live=True, source=source).count() == 0
    assert Trajectory.objects.filter(live=True).count() == 4
    assert Trajectory.objects.count() == 4


@pytest.mark.postgres
def test_import_abandoned_while_it_runs_stops_and_is_swept_away(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(12)))

    def give_up(done: int, total: int) -> None:
        if Trajectory.objects.count() >= 3:
            ingest.abandon(actor=cast.admin, source=ImportFile.objects.get(pk=source.pk))

    with pytest.raises(StaleState):
        ingest.run_import(source_id=source.pk, progress=give_up)

    source.refresh_from_db()
    assert source.state == ImportState.ABANDONED
    assert not Trajectory.objects.exists()
    assert not Task.objects.exists()


def test_import_that_has_ended_cannot_be_abandoned(cast: Cast) -> None:
    source = import_file(cast.project, jsonl(make_records(1)))

    with pytest.raises(StaleState) as refusal:
        ingest.abandon(actor=cast.admin, source=source)

    assert refusal.value.code == "import_ended"


# ── Workers that die, stall or fail ───────
def later(seconds: float = 120) -> Any:
    return timezone.now() + timedelta(seconds=seconds)


def test_import_of_a_dead_worker_is_done_again_exactly_once(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(10)))
    die_half_way(source)
    assert Trajectory.objects.count() > 0
    assert ingest.reap() == 0  # its lease has not run out

    assert ingest.reap(now=later()) >= 1
    source.refresh_from_db()
    assert source.state == ImportState.QUEUED
    done = ingest.run_import(source_id=source.pk)

    assert (done.state, done.attempt, done.created_count) == (ImportState.PUBLISHED, 2, 10)
    assert Trajectory.objects.count() == 10
    assert Task.objects.count() == 10
    assert stored() == []
    assert ingest.run_import(source_id=source.pk).attempt == 2
    assert Trajectory.objects.count() == 10


def test_worker_that_stalled_and_wakes_up_spoils_nothing(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(10)))
    taken_over: list[ImportFile] = []

    def stall(done: int, total: int) -> None:
        if Trajectory.objects.filter(source=source).count() >= 3 and not taken_over:
            ingest.reap(now=later())
            taken_over.append(ingest.run_import(source_id=source.pk))

    with pytest.raises(StaleState) as stopped:
        ingest.run_import(source_id=source.pk, progress=stall, resumable=True)

    assert stopped.value.code == "import_stopped"
    source.refresh_from_db()
    assert (source.state, source.attempt, source.created_count) == (ImportState.PUBLISHED, 2, 10)
    assert Trajectory.objects.filter(live=True).count() == Trajectory.objects.count() == 10


@pytest.mark.postgres
def test_worker_that_wakes_up_while_another_is_at_it_does_not_sweep_its_rows(
    cast: Cast, small_batches: None
) -> None:
    source = received(cast, jsonl(make_records(10)))
    wakes: list[TristepError] = []

    def second(done: int, total: int) -> None:
        if Trajectory.objects.filter(source=source).count() == 6 and not wakes:
            # the first attempt, of which this worker's row still says 1, goes on
            stale = ImportFile.objects.select_related("project", "subset").get(pk=source.pk)
            stale.attempt = 1
            try:
                running._read(stale, None, None)
            except StaleState as error:
                running._stop(stale, error)
                wakes.append(error)
            assert Trajectory.objects.filter(source=source).count() == 6

    die_half_way(source)
    ingest.reap(now=later())
    ingest.run_import(source_id=source.pk, progress=second)

    assert wakes
    assert Trajectory.objects.filter(live=True).count() == 10


def test_import_that_kills_its_worker_three_times_is_given_up(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(6)))
    for _ in range(3):
        die_half_way(source)
        ingest.reap(now=later())

    source.refresh_from_db()
    assert source.state == ImportState.FAILED
    assert source.error == "The import stopped unexpectedly 3 times; see the server’s log."
    assert nothing_is_left()


def test_database_that_fails_under_a_worker_leaves_the_import_to_the_reaper(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = received(cast, jsonl(make_records(3)))
    with monkeypatch.context() as patch:
        patch.setattr(running, "_publish", raises(OperationalError("disk full")))
        with pytest.raises(OperationalError):
            ingest.run_import(source_id=source.pk, resumable=True)
    source.refresh_from_db()
    assert source.state == ImportState.RUNNING

    ingest.reap(now=later())

    assert ingest.run_import(source_id=source.pk).state == ImportState.PUBLISHED


@pytest.mark.parametrize("error", [OperationalError("disk full"), KeyboardInterrupt(), ZeroDivisionError()])
def test_import_ends_in_its_own_process_whatever_stops_it(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    source = received(cast, jsonl(make_records(3)))
    monkeypatch.setattr(running, "_publish", raises(error))

    with pytest.raises(type(error)):
        ingest.run_import(source_id=source.pk)

    source.refresh_from_db()
    assert source.state == ImportState.FAILED
    assert nothing_is_left()


def test_import_is_not_tried_again_after_a_fault_of_ours(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    source = received(cast, jsonl(make_records(3)))
    monkeypatch.setattr(running, "_publish", raises(ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        ingest.run_import(source_id=source.pk, resumable=True)

    source.refresh_from_db()
    assert source.state == ImportState.FAILED
    assert nothing_is_left()


def raises(error: BaseException) -> Any:
    def deed(*_: Any, **__: Any) -> None:
        raise error

    return deed


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_import_of_the_same_file_by_two_at_once_comes_in_once(small_batches: None) -> None:
    cast = people.make_cast()
    data = people.jsonl(people.make_records(100))

    results = together(*[lambda: people.import_file(cast.project, data)] * 2)

    done = [result for result in results if isinstance(result, ImportFile)]
    for result in results:
        assert isinstance(result, ImportFile | Conflict), result
    assert sum(source.created_count for source in done) == 100
    assert Trajectory.objects.filter(live=True).count() == Trajectory.objects.count() == 100
    assert Task.objects.count() == 100
    assert Step.objects.count() == 200


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_files_imported_into_one_subset_at_once_share_its_tasks(small_batches: None) -> None:
    cast = people.make_cast()
    files = [people.jsonl([people.make_record(query, sample) for query in range(50)]) for sample in range(4)]
    refused = people.jsonl([*[people.make_record(query, 9) for query in range(80)], {"a": 1}])

    results = together(
        *(lambda data=data: people.import_file(cast.project, data) for data in [*files, refused])
    )

    assert isinstance(results.pop(), ImportRefused)
    assert {source.state for source in results} == {ImportState.PUBLISHED}
    assert Trajectory.objects.filter(live=True).count() == Trajectory.objects.count() == 200
    assert Task.objects.count() == 50
    assert set(Task.objects.values_list("key", flat=True)) == {f"tiny:{query}" for query in range(50)}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_import_of_1000_records_lets_people_go_on_labelling() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 1)
    assignment = people.claim(cast.ann, cast.project)
    data = people.jsonl(people.make_records(1_000))
    waits: list[float] = []
    ended = threading.Event()

    def import_much() -> None:
        try:
            people.import_file(cast.project, data, subset="more")
        finally:
            ended.set()

    def keep_saving() -> None:
        version = 0
        while not ended.is_set():
            begun = time.monotonic()
            answer = label.save_labels(
                actor=cast.ann,
                assignment=assignment,
                op_id=f"save-{version}",
                changes=[people.change(2, 1, version=version)],
            )
            waits.append(time.monotonic() - begun)
            version = answer["labels"][0]["version"]
            time.sleep(0.02)
        connections.close_all()

    assert together(import_much, keep_saving) == [None, None]
    print(f"\n{len(waits)} saves, the longest {max(waits):.3f} s")
    assert len(waits) > 3
    assert max(waits) < 5
    assert Trajectory.objects.filter(live=True).count() == 1_001


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_import_abandoned_by_another_process_stops_by_itself(small_batches: None) -> None:
    cast = people.make_cast()
    source = received(cast, people.jsonl(people.make_records(300)))

    def give_up() -> None:
        while not Trajectory.objects.filter(source=source).exists():
            time.sleep(0.01)
        ingest.abandon(actor=cast.admin, source=ImportFile.objects.get(pk=source.pk))
        ingest.reap()

    results = together(lambda: ingest.run_import(source_id=source.pk), give_up)

    assert isinstance(results[0], Conflict), results[0]
    assert results[1] is None
    source.refresh_from_db()
    assert source.state == ImportState.ABANDONED
    assert (Trajectory.objects.count(), Task.objects.count()) == (0, 0)
