"""Imports: what they bring in, what is refused with its place and reason, and what is swept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.core.errors import Conflict, ImportRefused, Invalid
from annotation.core.text import unescape
from annotation.core.vocabulary import ImportState
from annotation.models import (
    AuditEvent,
    ImportFile,
    Step,
    Subset,
    Task,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import assign, ingest
from annotation.services.ingest.reaper import FORGOTTEN
from tests import people
from tests.people import Cast, import_file, import_records, jsonl, make_record, make_records
from tests.services.receiving import GOLDEN, die_half_way, nothing_is_left, received, report_of, stored

pytestmark = pytest.mark.usefixtures("own_uploads")


# ── What comes in ─────────────────────────
def test_import_says_what_it_brought(cast: Cast) -> None:
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


def test_import_keeps_the_bytes_of_each_record_as_they_came(cast: Cast) -> None:
    lines = [b'{ "data_source":"a", "query_index" : 0,"sample_index":1,"messages":[{"role":"assistant"}]}  ']
    lines.append(jsonl([make_record(1)]).strip())
    import_file(cast.project, b"\n".join(lines))

    rows = Trajectory.objects.order_by("line")
    assert [row.content.raw_bytes().strip() for row in rows] == [line.strip() for line in lines]


@pytest.mark.parametrize("name", ["agentprocessbench", "openai_chat"])
def test_import_sniffs_the_golden_files(cast: Cast, name: str) -> None:
    source = import_file(cast.project, (GOLDEN / f"{name}.jsonl").read_bytes())

    assert (source.format, source.state) == (name, ImportState.PUBLISHED)
    assert source.created_count == Trajectory.objects.filter(live=True).count() > 0
    assert source.step_count == Step.objects.count()


@pytest.mark.postgres
@pytest.mark.parametrize("text", ["\x00", "\ud800", "\udfff\ufdd0", "<script>x</script>", "a" * 3000])
def test_import_takes_what_real_logs_contain(cast: Cast, text: str) -> None:
    record = make_record(data_source=f"d{text}"[:150], question=text, answer_text=text, extra={text: text})
    record["messages"][3] = {"role": "tool", "content": text}
    record["messages"][2]["tool_calls"][0]["function"]["arguments"] = "{" + text
    record["policy_model"] = f"m{text}"[:60]

    (row,) = import_records(cast.project, [record])

    assert unescape(row.record_id) == f"{record['data_source']}:0:0"
    assert unescape(row.policy_model) == record["policy_model"]
    assert unescape(row.task.question) == text
    assert row.content.parsed()["messages"] == record["messages"]
    assert row.content.parsed()["hints"]["extra"] == {text: text}


def test_labels_in_a_file_are_never_made_labels(cast: Cast) -> None:
    with_labels = make_record(step_labels={"2": 1, "4": -1}, final_label=-1)
    (row,) = import_records(cast.project, [with_labels])

    assignment = people.claim(cast.ann, cast.project)

    assert not assignment.labels.exists()
    assert "step_labels" not in row.content.parsed()
    assert import_file(cast.project, jsonl([make_record()])).unchanged_count == 1


@pytest.mark.postgres
def test_file_name_of_any_kind_is_kept_readable(cast: Cast) -> None:
    source = import_file(cast.project, jsonl([make_record()]), filename="C:\\logs\\r\x00un\udcff.jsonl")

    assert unescape(source.filename) == "r\x00un\udcff.jsonl"


@pytest.mark.postgres
def test_import_tells_the_planner_of_postgresql_at_once_unless_it_is_small(cast: Cast) -> None:
    def planned(table: str) -> int:
        if connection.vendor != "postgresql":
            return 150
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [table])
            return int(cursor.fetchone()[0])

    import_records(cast.project, 150)
    assert all(planned(f"annotation_{name}") >= 150 for name in ("trajectory", "step", "task"))
    known = planned("annotation_trajectory")
    import_records(cast.project, 10, subset="later")
    assert planned("annotation_trajectory") == known


# ── Again ─────────────────────────────────
def test_import_of_the_same_file_again_changes_nothing_and_says_so(cast: Cast) -> None:
    data = jsonl(make_records(5))
    import_file(cast.project, data)
    before = list(Trajectory.objects.order_by("pk").values())

    again = import_file(cast.project, data)

    assert (again.state, again.created_count, again.unchanged_count) == (ImportState.PUBLISHED, 0, 5)
    assert (again.replaced_count, again.step_count) == (0, 0)
    assert list(Trajectory.objects.order_by("pk").values()) == before


def test_import_of_a_longer_file_adds_what_is_new(cast: Cast) -> None:
    import_records(cast.project, 3)

    again = import_file(cast.project, jsonl(make_records(5)))

    assert (again.created_count, again.unchanged_count) == (2, 3)


def test_import_refuses_a_changed_record_by_name_and_nothing_else_comes_in(cast: Cast) -> None:
    import_records(cast.project, 3)

    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, jsonl([make_record(7), make_record(1, question="Changed?")]))

    ((line, field, reason),) = report_of(refusal.value)
    assert (line, field) == (2, "record_id")
    assert "tiny:1:0" in reason
    assert Trajectory.objects.count() == 3


def test_import_replaces_a_changed_record_on_purpose(cast: Cast) -> None:
    rows = import_records(cast.project, 3)

    source = import_file(
        cast.project, jsonl([make_record(0), make_record(1, question="Changed?", steps=3)]), replace=True
    )

    assert (source.created_count, source.unchanged_count, source.replaced_count) == (0, 1, 1)
    live = Trajectory.objects.filter(live=True, record_id="tiny:1:0").get()
    assert live.pk != rows[1].pk
    assert live.content.parsed()["question"] == "Changed?"
    assert Trajectory.objects.filter(live=True).count() == 3
    claimed = {people.claim(cast.ann, cast.project).trajectory_id for _ in range(3)}
    assert claimed == {rows[0].pk, rows[2].pk, live.pk}


@pytest.mark.parametrize("how", ["claimed", "given back", "labelled"])
def test_record_somebody_has_claimed_is_never_replaced(cast: Cast, how: str) -> None:
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


def test_import_takes_the_same_records_into_two_subsets(cast: Cast) -> None:
    import_records(cast.project, 2, subset="a")
    import_records(cast.project, 2, subset="b")

    assert Trajectory.objects.filter(live=True).count() == 4


# ── All or nothing, whatever the mixture ──
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


@pytest.mark.postgres
@given(
    good=st.lists(GOOD, min_size=1, max_size=8),
    bad=st.lists(st.tuples(st.integers(0, 8), DAMAGE), max_size=2),
    cut=st.sampled_from([0, 0, 0, 5]),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_import_of_any_mixture_of_records_is_whole_or_nothing(
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
        assert [json.loads(row.content.raw_bytes()) for row in live.order_by("position")] == good


# ── Bad input ─────────────────────────────
NESTED = b'{"data_source":"a","query_index":0,"sample_index":0,"messages":' + b"[" * 100_000
# made when they are asked for: every process collects this module
BAD: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "cut off": (lambda: jsonl([make_record(0), make_record(1)])[:-30], "", "cut"),
    "not utf-8": (lambda: jsonl([make_record(0)]) + b'{"a": "\xff\xfe"}\n', "", "not UTF-8"),
    "deeply nested": (lambda: jsonl([make_record(0)]) + NESTED + b"\n", "", "level"),
    "twice": (lambda: jsonl([make_record(0), make_record(1), make_record(0)]), "record_id", "lines 1 and 3"),
    "no steps": (
        lambda: jsonl([make_record(0), make_record(1, messages=[{"role": "user", "content": "Hi"}])]),
        "messages",
        "no assistant message",
    ),
    "no messages": (lambda: jsonl([make_record(0), make_record(1, messages=[])]), "messages", "is empty"),
    "label of no step": (
        lambda: jsonl([make_record(0, step_labels={"1": 1})]),
        "step_labels.1",
        "not a step",
    ),
    "label of no message": (
        lambda: jsonl([make_record(0, step_labels={"99": 1})]),
        "step_labels.99",
        "no such message",
    ),
    "label of two": (lambda: jsonl([make_record(0, step_labels={"2": 2})]), "step_labels.2", "−1, 0 or 1"),
    "label of true": (
        lambda: jsonl([make_record(0, step_labels={"2": True})]),
        "step_labels.2",
        "−1, 0 or 1",
    ),
    "outcome of two": (lambda: jsonl([make_record(0, final_label=2)]), "final_label", "−1, 0 or 1"),
    "label of nul": (lambda: jsonl([make_record(0, step_labels={"\x00": 1})]), "step_labels", ""),
    "label of a surrogate": (lambda: jsonl([make_record(0, step_labels={"\ud800": 1})]), "step_labels", ""),
    "no identity": (
        lambda: jsonl([make_record(0), make_record(1, query_index="1")]),
        "query_index",
        "whole number",
    ),
    "not an object": (lambda: jsonl([make_record(0)]) + b"[1, 2]\n", "", ""),
    "too long": (
        lambda: jsonl(
            [make_record(0), make_record(1, messages=[{"role": "assistant", "content": "x"}] * 5_001)]
        ),
        "messages",
        "has 5,001 messages; this server takes at most 5,000 (TRISTEP_MAX_MESSAGES raises it)",
    ),
    "too large": (
        lambda: jsonl([make_record(0), make_record(1, question="x" * (17 * 1024 * 1024))]),
        "",
        "16 MB",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_refused_with_its_place_and_reason_and_leaves_nothing(cast: Cast, kind: str) -> None:
    made, field, reason = BAD[kind]

    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, made())

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
def test_file_of_no_known_format_is_not_even_taken_in(cast: Cast, data: bytes, code: str) -> None:
    with pytest.raises(Invalid) as refusal:
        import_file(cast.project, data)

    assert not code or refusal.value.code == code
    assert refusal.value.message.endswith(".")
    assert nothing_is_left()
    assert not ImportFile.objects.exists()
    assert not Subset.objects.exists()


@pytest.mark.parametrize("data", [b"\n\n  \n", b"[]", b"\xef\xbb\xbf"])
def test_file_without_a_record_is_refused(cast: Cast, data: bytes) -> None:
    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, data, format="agentprocessbench")

    assert refusal.value.report["count"] == 1
    assert nothing_is_left()


def test_import_refuses_an_unknown_format_by_name(cast: Cast) -> None:
    with pytest.raises(Invalid) as refusal:
        import_file(cast.project, jsonl([make_record()]), format="yaml")

    assert set(refusal.value.fields) == {"format"}


@pytest.mark.parametrize("name", ["", "a b", "../up", "x" * 65, "\x00"])
def test_subset_has_a_plain_name(cast: Cast, name: str) -> None:
    with pytest.raises(Invalid) as refusal:
        import_file(cast.project, jsonl([make_record()]), subset=name)

    assert set(refusal.value.fields) == {"subset"}
    assert nothing_is_left()


def test_line_of_200_mb_is_refused_by_its_line(cast: Cast) -> None:
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


def test_import_finds_all_errors_and_not_only_the_first(cast: Cast) -> None:
    data = jsonl([make_record(0), {"a": 1}, make_record(1, query_index=-1), make_record(2, messages=None)])

    with pytest.raises(ImportRefused) as refusal:
        import_file(cast.project, data)

    assert {2, 3, 4} == {line for line, _, _ in report_of(refusal.value)}


def test_first_thousand_errors_are_listed_and_all_are_counted(cast: Cast) -> None:
    records: list[dict[str, Any]] = [make_record(0)]
    records += [make_record(number, messages=[]) for number in range(1, 1_501)]

    with pytest.raises(ImportRefused, match=r"1,500 errors") as refusal:
        import_file(cast.project, jsonl(records))

    assert refusal.value.report["count"] == 1_500
    assert [line for line, _, _ in report_of(refusal.value)] == list(range(2, 1_002))
    assert (ImportFile.objects.get().error_count, len(ImportFile.objects.get().errors)) == (1_500, 1_000)
    assert nothing_is_left()


def test_import_that_is_refused_leaves_the_tasks_of_others_alone(cast: Cast) -> None:
    import_records(cast.project, [make_record(0, 0)])
    before = list(Task.objects.values_list("pk", flat=True))

    with pytest.raises(ImportRefused):
        import_file(cast.project, jsonl([make_record(0, 1), make_record(5, 0), {"a": 1}]))

    assert list(Task.objects.values_list("pk", flat=True)) == before
    assert Trajectory.objects.count() == 1


def test_upload_that_vanished_is_said_so(cast: Cast) -> None:
    source = received(cast, jsonl(make_records(3)))
    (Path(django_settings.UPLOAD_DIR) / source.stored_as).unlink()

    with pytest.raises(Conflict) as refusal:
        ingest.run_import(source_id=source.pk)

    assert refusal.value.code == "file_gone"
    source.refresh_from_db()
    assert source.state == ImportState.FAILED


def test_import_that_was_abandoned_is_swept_with_its_bytes(
    cast: Cast, small_batches: None, django_capture_on_commit_callbacks: Any
) -> None:
    source = received(cast, jsonl(make_records(6)))
    die_half_way(source)

    with django_capture_on_commit_callbacks(execute=True):
        ingest.abandon(actor=cast.admin, source=ImportFile.objects.get(pk=source.pk))
    ingest.reap()

    assert nothing_is_left()


def test_import_that_died_between_failing_and_sweeping_is_swept(cast: Cast, small_batches: None) -> None:
    source = received(cast, jsonl(make_records(6)))
    die_half_way(source)
    ImportFile.objects.update(state=ImportState.FAILED, lease_until=None)

    assert ingest.reap() == 1

    assert not Trajectory.objects.exists()
    assert not Task.objects.exists()


@pytest.mark.postgres
def test_import_nobody_began_and_bytes_nobody_needs_are_forgotten_after_an_hour(cast: Cast) -> None:
    source = received(cast, jsonl(make_records(1)))
    waiting = received(cast, jsonl(make_records(1)), enqueue=True)
    stray = Path(django_settings.UPLOAD_DIR) / "0123.import"
    stray.write_bytes(b"{}")
    cut_off = Path(django_settings.FILE_UPLOAD_TEMP_DIR) / "0123.upload"
    cut_off.write_bytes(b"{")
    ingest.reap()
    assert len(stored()) == 3
    assert cut_off.exists()

    ingest.reap(now=timezone.now() + FORGOTTEN + timedelta(minutes=1))
    ingest.reap(now=timezone.now() + FORGOTTEN + timedelta(minutes=1))

    source.refresh_from_db()
    assert source.state == ImportState.ABANDONED
    assert stored() == [waiting.stored_as]
    assert not cut_off.exists()
