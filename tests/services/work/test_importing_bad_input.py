"""Bad input: all of a file or nothing of it, every error with its place and reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from annotation.core.errors import Denied, ImportRefused, Invalid
from annotation.core.vocabulary import ImportState
from annotation.models import (
    ImportFile,
    Subset,
    Task,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import ingest
from tests.people import Cast, import_file, import_records, jsonl, make_record
from tests.services.receiving import nothing_is_left, report_of

pytestmark = pytest.mark.usefixtures("own_uploads")


# ── Bad input ─────────────────────────────
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
    "too long": (
        jsonl([make_record(0), make_record(1, messages=[{"role": "assistant", "content": "x"}] * 5_001)]),
        "messages",
        "has 5,001 messages; this server takes at most 5,000 (TRISTEP_MAX_MESSAGES raises it)",
    ),
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


@pytest.mark.parametrize("who", ["ann", "judith", "oscar"])
def test_import_is_for_admins_only(cast: Cast, who: str) -> None:
    with pytest.raises(Denied):
        import_file(cast.project, jsonl([make_record()]), actor=cast.everybody[who])

    assert nothing_is_left()
