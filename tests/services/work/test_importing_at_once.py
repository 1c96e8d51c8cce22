"""Imports and people at the same time, on real threads."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connections

from annotation.core.errors import Conflict, ImportRefused
from annotation.core.vocabulary import ImportState
from annotation.models import ImportFile, Step, Task, Trajectory
from annotation.services import ingest, label
from tests import people
from tests.services.together import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("own_uploads"),
]


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


def test_import_abandoned_by_another_process_stops_by_itself(small_batches: None) -> None:
    cast = people.make_cast()
    source = ingest.receive_file(
        actor=cast.admin,
        project=cast.project,
        subset="tiny",
        filename="tiny.jsonl",
        chunks=[people.jsonl(people.make_records(300))],
        enqueue=False,
    )

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
