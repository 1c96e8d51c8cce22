"""Importing: all of a file or nothing of it, whatever stands in it and whatever happens meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError, connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.core.errors import Conflict, Denied, ImportRefused, Invalid, StaleState, TristepError
from annotation.core.text import unescape
from annotation.core.vocabulary import ImportState
from annotation.models import (
    AuditEvent,
    ImportFile,
    Step,
    Subset,
    Task,
    Trajectory,
    TrajectoryContent,
)
from annotation.policies import OPERATOR, visible
from annotation.reports.content import content_of, raw_of
from annotation.services import assign, ingest, projects
from annotation.services.ingest import run as running
from annotation.services.ingest.sweep import FORGOTTEN
from tests import people
from tests.people import Cast, import_file, import_records, jsonl, make_record, make_records

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "golden"


def nothing_is_left() -> bool:
    """No row of a refused file, and no bytes of it."""
    tables = (Task, Trajectory, Step, TrajectoryContent)
    return not any(table._default_manager.exists() for table in tables) and stored() == []


def stored() -> list[str]:
    return sorted(path.name for path in Path(django_settings.UPLOAD_DIR).glob("*.import"))


@pytest.fixture(autouse=True)
def own_uploads(settings: Any, tmp_path: Path) -> None:
    settings.UPLOAD_DIR = tmp_path / "uploads"


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BATCH_RECORDS", 3)
    monkeypatch.setattr(running, "HEARTBEAT_SECONDS", 0.0)


def received(cast: Cast, data: bytes, **more: Any) -> ImportFile:
    return ingest.receive_file(
        actor=cast.admin,
        project=cast.project,
        subset="tiny",
        filename="tiny.jsonl",
        chunks=[data],
        **{"enqueue": False, **more},
    )


def report_of(refusal: ImportRefused) -> list[tuple[int, str, str]]:
    return [(one["line"], one["field"], one["reason"]) for one in refusal.report["errors"]]


# ── What comes in ───────────────────────────────────────────────────────────
def test_an_import_says_what_it_brought(cast: Cast) -> None:
    source = import_file(cast.project, jsonl([make_record(0, steps=3), make_record(1, steps=2)]))

    assert (source.state, source.created_count, source.step_count) == (ImportState.PUBLISHED, 2, 5)
    assert (source.progress_done, source.progress_total) == (source.size, source.size)
    assert (source.attempt, source.error, source.lease_until) == (1, "", None)
    assert stored() == []
    assert AuditEvent.objects.get(verb="import.publish").detail == {
        "created": 2,
        "unchanged": 0,
        "replaced": 0,
    }


def test_the_bytes_of_each_record_are_kept_as_they_came(cast: Cast) -> None:
    lines = [b'{ "data_source":"a", "query_index" : 0,"sample_index":1,"messages":[{"role":"assistant"}]}  ']
    lines.append(jsonl([make_record(1)]).strip())
    import_file(cast.project, b"\n".join(lines))

    rows = Trajectory.objects.order_by("line")
    assert [raw_of(row).strip() for row in rows] == [line.strip() for line in lines]


@pytest.mark.parametrize("name", ["agentprocessbench", "openai_chat"])
def test_the_golden_files_are_sniffed_and_imported(cast: Cast, name: str) -> None:
    source = import_file(cast.project, (GOLDEN / f"{name}.jsonl").read_bytes())

    assert (source.format, source.state) == (name, ImportState.PUBLISHED)
    assert source.created_count == Trajectory.objects.filter(live=True).count() > 0
    assert source.step_count == Step.objects.count()


@pytest.mark.parametrize("text", ["\x00", "\ud800", "\udfff\ufdd0", "<script>x</script>", "a" * 3000])
def test_what_real_logs_contain_is_not_bad_input(cast: Cast, text: str) -> None:
    record = make_record(data_source=f"d{text}"[:150], question=text, answer_text=text, extra={text: text})
    record["messages"][3] = {"role": "tool", "content": text}
    record["messages"][2]["tool_calls"][0]["function"]["arguments"] = "{" + text
    record["policy_model"] = f"m{text}"[:60]

    (row,) = import_records(cast.project, [record])

    assert unescape(row.record_id) == f"{record['data_source']}:0:0"
    assert unescape(row.policy_model) == record["policy_model"]
    assert unescape(row.task.question) == text
    assert content_of(row)["messages"] == record["messages"]
    assert content_of(row)["hints"]["extra"] == {text: text}


def test_labels_in_a_file_are_never_made_labels(cast: Cast) -> None:
    with_labels = make_record(step_labels={"2": 1, "4": -1}, final_label=-1)
    (row,) = import_records(cast.project, [with_labels])

    assignment = people.claim(cast.ann, cast.project)

    assert not assignment.labels.exists()
    assert "step_labels" not in content_of(row)
    assert import_file(cast.project, jsonl([make_record()])).unchanged_count == 1


def test_a_file_name_of_any_kind_is_kept_readable(cast: Cast) -> None:
    source = import_file(cast.project, jsonl([make_record()]), filename="C:\\logs\\r\x00un\udcff.jsonl")

    assert unescape(source.filename) == "r\x00un\udcff.jsonl"


@pytest.mark.parametrize("table", ["annotation_trajectory", "annotation_step", "annotation_task"])
def test_the_planner_of_postgresql_knows_at_once_what_came_in(cast: Cast, table: str) -> None:
    import_records(cast.project, 150)

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [table])
            assert cursor.fetchone()[0] >= 150


# ── Bad input ───────────────────────────────────────────────────────────────
NESTED = b'{"data_source":"a","query_index":0,"sample_index":0,"messages":' + b"[" * 100_000
BAD: dict[str, tuple[bytes, str, str]] = {
    "cut off": (jsonl([make_record(0), make_record(1)])[:-30], "", "cut"),
    "not utf-8": (jsonl([make_record(0)]) + b'{"a": "\xff\xfe"}\n', "", "not UTF-8"),
    "deeply nested": (jsonl([make_record(0)]) + NESTED + b"\n", "", "level"),
    "twice": (jsonl([make_record(0), make_record(1), make_record(0)]), "record_id", "lines 1 and 3"),
    "no steps": (
        jsonl([make_record(0), make_record(1, messages=[{"role": "user", "content": "Hi"}])]),
        "messages",
        "no assistant message",
    ),
    "no messages": (jsonl([make_record(0), make_record(1, messages=[])]), "messages", "is empty"),
    "label of no step": (jsonl([make_record(0, step_labels={"1": 1})]), "step_labels.1", "not a step"),
    "label of no message": (
        jsonl([make_record(0, step_labels={"99": 1})]),
        "step_labels.99",
        "no such message",
    ),
    "label of two": (jsonl([make_record(0, step_labels={"2": 2})]), "step_labels.2", "−1, 0 or 1"),
    "label of true": (jsonl([make_record(0, step_labels={"2": True})]), "step_labels.2", "−1, 0 or 1"),
    "outcome of two": (jsonl([make_record(0, final_label=2)]), "final_label", "−1, 0 or 1"),
    "label of nul": (jsonl([make_record(0, step_labels={"\x00": 1})]), "step_labels", ""),
    "label of a surrogate": (jsonl([make_record(0, step_labels={"\ud800": 1})]), "step_labels", ""),
    "no identity": (jsonl([make_record(0), make_record(1, query_index="1")]), "query_index", "whole number"),
    "not an object": (jsonl([make_record(0)]) + b"[1, 2]\n", "", ""),
    "too large": (
        jsonl([make_record(0), make_record(1, question="x" * (17 * 1024 * 1024))]),
        "",
        "16 MB",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_refused_with_its_place_and_reason_and_leaves_nothing(cast: Cast, kind: str) -> None:
    data, field, reason = BAD[kind]

    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, data)

    found = report_of(refusal.value)
    assert any(field in one[1] and reason in one[2] and one[0] >= 1 for one in found), found
    assert "nothing was imported" in refusal.value.message
    source = ImportFile.objects.get()
    assert (source.state, source.error_count) == (ImportState.FAILED, len(found))
    assert source.error == refusal.value.message
    assert len(source.errors) == len(found)
    assert nothing_is_left()


@pytest.mark.parametrize(
    ("data", "code"), [(b"", "empty_file"), (b"PK\x03\x04not text", ""), (b"just words\n", "")]
)
def test_a_file_of_no_known_format_is_not_even_taken_in(cast: Cast, data: bytes, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        import_file(cast.project, data)

    assert not code or refusal.value.code == code
    assert refusal.value.message.endswith(".")
    assert nothing_is_left()
    assert not ImportFile.objects.exists()
    assert not Subset.objects.exists()


@pytest.mark.parametrize("data", [b"\n\n  \n", b"[]", b"\xef\xbb\xbf"])
def test_a_file_without_a_record_is_refused(cast: Cast, data: bytes) -> None:
    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, data, format="agentprocessbench")

    assert refusal.value.report["count"] == 1
    assert nothing_is_left()


def test_an_unknown_format_is_refused_by_name(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        import_file(cast.project, jsonl([make_record()]), format="yaml")

    assert set(refusal.value.fields) == {"format"}


@pytest.mark.parametrize("name", ["", "a b", "../up", "x" * 65, "\x00"])
def test_a_subset_has_a_plain_name(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        import_file(cast.project, jsonl([make_record()]), subset=name)

    assert set(refusal.value.fields) == {"subset"}
    assert nothing_is_left()


def test_a_line_of_200_mb_is_refused_by_its_line(cast: Cast) -> None:
    def chunks() -> Iterator[bytes]:
        yield jsonl([make_record(0)])
        yield b'{"data_source": "'
        for _ in range(200):
            yield b"x" * (1 << 20)
        yield b'"}\n' + jsonl([make_record(1), {"data_source": 5}])

    source = ingest.receive_file(
        actor=OPERATOR,
        project=cast.project,
        subset="tiny",
        filename="l.jsonl",
        chunks=chunks(),
        enqueue=False,
    )
    with pytest.raises(ImportRefused) as refusal:
        ingest.run_import(source_id=source.pk)

    lines = {line for line, _, _ in report_of(refusal.value)}
    assert lines == {2, 4}
    assert nothing_is_left()


def test_all_errors_are_found_and_not_only_the_first(cast: Cast) -> None:
    data = jsonl([make_record(0), {"a": 1}, make_record(1, query_index=-1), make_record(2, messages=None)])

    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, data)

    assert {2, 3, 4} == {line for line, _, _ in report_of(refusal.value)}


def test_the_first_thousand_errors_are_listed_and_all_are_counted(cast: Cast) -> None:
    records: list[dict[str, Any]] = [make_record(0)]
    records += [make_record(number, messages=[]) for number in range(1, 1_501)]

    with pytest.raises(ImportRefused, match=r"1,500 errors") as refusal:
        import_file(cast.project, jsonl(records))

    assert refusal.value.report["count"] == 1_500
    assert [line for line, _, _ in report_of(refusal.value)] == list(range(2, 1_002))
    assert (ImportFile.objects.get().error_count, len(ImportFile.objects.get().errors)) == (1_500, 1_000)
    assert nothing_is_left()


def test_a_refused_file_leaves_the_tasks_of_others_alone(cast: Cast) -> None:
    import_records(cast.project, [make_record(0, 0)])
    before = list(Task.objects.values_list("pk", flat=True))

    with pytest.raises(ImportRefused):
        import_file(cast.project, jsonl([make_record(0, 1), make_record(5, 0), {"a": 1}]))

    assert list(Task.objects.values_list("pk", flat=True)) == before
    assert Trajectory.objects.count() == 1


@pytest.mark.parametrize("who", ["ann", "judith", "oscar"])
def test_only_admins_import(cast: Cast, who: str) -> None:
    with pytest.raises(Denied):
        import_file(cast.project, jsonl([make_record()]), actor=cast.everybody[who])

    assert nothing_is_left()


# ── Again ───────────────────────────────────────────────────────────────────
def test_a_second_import_of_the_same_file_changes_nothing_and_says_so(cast: Cast) -> None:
    data = jsonl(make_records(5))
    import_file(cast.project, data)
    before = list(Trajectory.objects.order_by("pk").values())

    again = import_file(cast.project, data)

    assert (again.state, again.created_count, again.unchanged_count) == (ImportState.PUBLISHED, 0, 5)
    assert (again.replaced_count, again.step_count) == (0, 0)
    assert list(Trajectory.objects.order_by("pk").values()) == before


def test_a_longer_file_adds_what_is_new(cast: Cast) -> None:
    import_records(cast.project, 3)

    again = import_file(cast.project, jsonl(make_records(5)))

    assert (again.created_count, again.unchanged_count) == (2, 3)


def test_a_changed_record_is_refused_by_name_and_nothing_else_comes_in(cast: Cast) -> None:
    import_records(cast.project, 3)

    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, jsonl([make_record(7), make_record(1, question="Changed?")]))

    ((line, field, reason),) = report_of(refusal.value)
    assert (line, field) == (2, "record_id")
    assert "tiny:1:0" in reason
    assert Trajectory.objects.count() == 3


def test_a_changed_record_is_replaced_on_purpose(cast: Cast) -> None:
    rows = import_records(cast.project, 3)

    source = import_file(
        cast.project, jsonl([make_record(0), make_record(1, question="Changed?", steps=3)]), replace=True
    )

    assert (source.created_count, source.unchanged_count, source.replaced_count) == (0, 1, 1)
    live = Trajectory.objects.filter(live=True, record_id="tiny:1:0").get()
    assert live.pk != rows[1].pk
    assert content_of(live)["question"] == "Changed?"
    assert Trajectory.objects.filter(live=True).count() == 3
    claimed = {people.claim(cast.ann, cast.project).trajectory_id for _ in range(3)}
    assert claimed == {rows[0].pk, rows[2].pk, live.pk}


@pytest.mark.parametrize("how", ["claimed", "given back", "labelled"])
def test_a_record_somebody_has_claimed_is_never_replaced(cast: Cast, how: str) -> None:
    import_records(cast.project, 1)
    assignment = people.claim(cast.ann, cast.project)
    if how == "given back":
        assign.return_assignment(actor=cast.ann, assignment=assignment, reason="No.")
    elif how == "labelled":
        people.label_all(assignment)

    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, jsonl([make_record(0, question="Changed?")]), replace=True)

    ((_, field, reason),) = report_of(refusal.value)
    assert field == "record_id"
    assert "tiny:0:0" in reason
    assert Trajectory.objects.filter(live=True).get().pk == assignment.trajectory_id


def test_the_same_records_may_stand_in_two_subsets(cast: Cast) -> None:
    import_records(cast.project, 2, subset="a")
    import_records(cast.project, 2, subset="b")

    assert Trajectory.objects.filter(live=True).count() == 4


# ── Meanwhile ───────────────────────────────────────────────────────────────
def test_a_running_import_is_seen_by_nobody(cast: Cast, small_batches: None) -> None:
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


def test_a_change_of_n_while_an_import_runs_reaches_its_rows(cast: Cast, small_batches: None) -> None:
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


def test_an_import_that_another_overtakes_says_so_and_leaves_nothing(cast: Cast, small_batches: None) -> None:
    data = jsonl(make_records(8))
    source = received(cast, data)
    once = [lambda: import_file(cast.project, data)]

    def overtake(done: int, total: int) -> None:
        if once and Trajectory.objects.filter(source=source).count() >= 3:
            once.pop()()

    with pytest.raises(Conflict) as refusal:
        ingest.run_import(source_id=source.pk, progress=overtake)

    assert refusal.value.code == "overtaken"
    source.refresh_from_db()
    assert (source.state, source.error) == (ImportState.FAILED, refusal.value.message)
    assert Trajectory.objects.count() == Trajectory.objects.filter(live=True).count() == 8
    assert Task.objects.count() == 8


def test_a_replacement_whose_record_is_claimed_meanwhile_is_refused(cast: Cast, small_batches: None) -> None:
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


def test_an_import_abandoned_while_it_runs_stops_and_is_swept_away(cast: Cast, small_batches: None) -> None:
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


def test_an_import_that_has_ended_cannot_be_abandoned(cast: Cast) -> None:
    source = import_file(cast.project, jsonl(make_records(1)))

    with pytest.raises(StaleState) as refusal:
        ingest.abandon(actor=cast.admin, source=source)

    assert refusal.value.code == "import_ended"


# ── Workers that die, stall or fail ─────────────────────────────────────────
class Killed(BaseException):
    """What a test throws to leave an import as a killed process leaves it."""


def die_half_way(source: ImportFile, at: int = 3, *, rows: int = 3) -> None:
    def die(done: int, total: int) -> None:
        if Trajectory.objects.filter(source=source).count() >= rows:
            raise Killed

    with pytest.raises(Killed):
        ingest.run_import(source_id=source.pk, progress=die, resumable=True)


def later(seconds: float = 120) -> Any:
    return timezone.now() + timedelta(seconds=seconds)


def test_what_a_dead_worker_left_is_done_again_exactly_once(cast: Cast, small_batches: None) -> None:
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


def test_a_worker_that_stalled_and_wakes_up_spoils_nothing(cast: Cast, small_batches: None) -> None:
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


def test_a_worker_that_wakes_up_while_another_is_at_it_does_not_sweep_its_rows(
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
                running._read(stale, None)
            except StaleState as error:
                running._stop(stale, error)
                wakes.append(error)
            assert Trajectory.objects.filter(source=source).count() == 6

    die_half_way(source)
    ingest.reap(now=later())
    ingest.run_import(source_id=source.pk, progress=second)

    assert wakes
    assert Trajectory.objects.filter(live=True).count() == 10


def test_an_import_that_kills_its_worker_three_times_is_given_up(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(6)))
    for _ in range(3):
        die_half_way(source)
        ingest.reap(now=later())

    source.refresh_from_db()
    assert source.state == ImportState.FAILED
    assert source.error == "The import died 3 times; see the server's log."
    assert nothing_is_left()


def test_a_database_that_fails_under_a_worker_leaves_the_import_to_the_reaper(
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
def test_whatever_stops_an_import_in_its_own_process_ends_it(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    source = received(cast, jsonl(make_records(3)))
    monkeypatch.setattr(running, "_publish", raises(error))

    with pytest.raises(type(error)):
        ingest.run_import(source_id=source.pk)

    source.refresh_from_db()
    assert source.state == ImportState.FAILED
    assert nothing_is_left()


def test_a_fault_of_ours_is_not_tried_again(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_an_upload_that_vanished_is_said_so(cast: Cast) -> None:
    source = received(cast, jsonl(make_records(3)))
    (Path(django_settings.UPLOAD_DIR) / source.stored_as).unlink()

    with pytest.raises(Conflict) as refusal:
        ingest.run_import(source_id=source.pk)

    assert refusal.value.code == "file_gone"
    source.refresh_from_db()
    assert source.state == ImportState.FAILED


def test_an_abandoned_import_is_swept_with_its_bytes(
    cast: Cast, small_batches: None, django_capture_on_commit_callbacks: Any
) -> None:
    source = received(cast, jsonl(make_records(6)))
    die_half_way(source)

    with django_capture_on_commit_callbacks(execute=True):
        ingest.abandon(actor=cast.admin, source=ImportFile.objects.get(pk=source.pk))
    ingest.reap()

    assert nothing_is_left()


def test_what_died_between_failing_and_sweeping_is_swept(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(6)))
    die_half_way(source)
    ImportFile.objects.update(state=ImportState.FAILED, lease_until=None)

    assert ingest.reap() == 1

    assert not Trajectory.objects.exists()
    assert not Task.objects.exists()


def test_an_import_nobody_began_and_bytes_nobody_needs_are_forgotten_after_an_hour(cast: Cast) -> None:
    source = received(cast, jsonl(make_records(1)))
    waiting = received(cast, jsonl(make_records(1)), enqueue=True)
    stray = Path(django_settings.UPLOAD_DIR) / "0123.import"
    stray.write_bytes(b"{}")
    ingest.reap()
    assert len(stored()) == 3

    ingest.reap(now=timezone.now() + FORGOTTEN + timedelta(minutes=1))
    ingest.reap(now=timezone.now() + FORGOTTEN + timedelta(minutes=1))

    source.refresh_from_db()
    assert source.state == ImportState.ABANDONED
    assert stored() == [waiting.stored_as]


# ── All or nothing, whatever the mixture ────────────────────────────────────
GOOD = st.builds(
    make_record, st.integers(0, 40), st.integers(0, 4), steps=st.integers(1, 3), question=st.text(max_size=5)
)
DAMAGE = st.sampled_from(
    [
        {"messages": []},
        {"messages": [{"role": "user", "content": "?"}]},
        {"query_index": None},
        {"sample_index": -1},
        {"step_labels": {"0": 1}},
        {"step_labels": {"2": 5}},
        {"final_label": "1"},
        {"tools": 5},
    ]
)


@given(
    good=st.lists(GOOD, min_size=1, max_size=8),
    bad=st.lists(st.tuples(st.integers(0, 8), DAMAGE), max_size=2),
    cut=st.sampled_from([0, 0, 0, 5]),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_mixture_of_records_comes_in_as_a_whole_or_not_at_all(
    cast: Cast,
    small_batches: None,
    good: list[dict[str, Any]],
    bad: list[tuple[int, dict[str, Any]]],
    cut: int,
) -> None:
    subset = f"s{Subset.objects.count()}"
    records = list(good)
    for place, damage in bad:
        records.insert(place, make_record(99, place, **damage))
    data = jsonl(records)
    identities = {(record["query_index"], record["sample_index"]) for record in good}
    sound = not bad and not cut and len(identities) == len(good)
    try:
        source = import_file(cast.project, data[: len(data) - cut], subset=subset, format="agentprocessbench")
    except ImportRefused as refused:
        assert not sound
        assert refused.report["count"] >= 1
        rows = Trajectory.objects.filter(subset__name=subset)
        assert not rows.exists()
        assert not Task.objects.filter(subset__name=subset).exists()
        assert not Step.objects.filter(trajectory__subset__name=subset).exists()
    else:
        assert sound
        live = Trajectory.objects.filter(subset__name=subset, live=True)
        assert source.created_count == live.count() == len(good)
        assert source.step_count == Step.objects.filter(trajectory__in=live).count()
        assert [json.loads(raw_of(row)) for row in live.order_by("position")] == good
