"""Imports: what they bring in, again and in any mixture."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.core.errors import ImportRefused
from annotation.core.text import unescape
from annotation.core.vocabulary import ImportState
from annotation.models import (
    AuditEvent,
    Step,
    Subset,
    Task,
    Trajectory,
)
from annotation.services import assign
from tests import people
from tests.people import Cast, import_file, import_records, jsonl, make_record, make_records
from tests.services.receiving import GOLDEN, report_of, stored

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
@pytest.mark.parametrize("table", ["annotation_trajectory", "annotation_step", "annotation_task"])
def test_import_tells_the_planner_of_postgresql_at_once(cast: Cast, table: str) -> None:
    import_records(cast.project, 150)

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT reltuples FROM pg_class WHERE relname = %s", [table])
            assert cursor.fetchone()[0] >= 150


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
