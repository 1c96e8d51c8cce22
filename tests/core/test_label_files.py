"""Label and prediction files: which line counts, what is missing, what is invalid, and how it is named."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import (
    LabelFile,
    LabelLine,
    counting_lines,
    excerpt,
    parse_label_line,
    problems_against,
    read_label_lines,
)
from tests.strategies import ANY_JSON

GOOD: dict[str, Any] = {"record_id": "s:0:1", "step_labels": {"2": 1, "4": -1}, "final_label": -1}


def read(*lines: Any) -> LabelFile:
    """The file read whole, which says what reading it line by line says."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()
    found = read_label_lines(io.BytesIO(text), "labels.jsonl")
    errors = FileErrors("labels.jsonl")
    one_by_one = counting_lines(io.BytesIO(text), "labels.jsonl", errors)
    assert {line.record_id: line for line in one_by_one} == found.lines and errors == found.errors
    return found


def only(**changes: Any) -> LabelLine:
    found = read({**GOOD, **changes})
    assert not found.errors
    return next(iter(found.lines.values()))


def refused(**changes: Any) -> list[str]:
    line = {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
    return [str(error) for error in read(line).errors.listed]


def test_line_needs_only_its_record_and_its_labels() -> None:
    assert only() == LabelLine("s:0:1", {2: 1, 4: -1}, -1, {}, "", "", "", False, 1)


def test_record_may_be_named_by_its_three_parts() -> None:
    parts = {"data_source": "s", "query_index": 0, "sample_index": 1}
    assert only(record_id=None, **parts).record_id == "s:0:1"
    assert only(record_id="mine", **parts).record_id == "mine"
    assert only(record_id=7).record_id == "7"


def test_reasons_come_along_and_other_keys_do_not() -> None:
    line = only(
        explanations={"steps": {"2": "good", "4": None, "x": "?"}, "final": "wrong"},
        comment="c",
        username="u",
    )
    assert (line.explanations, line.final_explanation, line.comment) == ({2: "good"}, "wrong", "c")
    assert only(explanations=["odd"], comment=None).explanations == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"record_id": ...},
            "labels.jsonl:1: record_id: is missing, and so is one of "
            "data_source, query_index and sample_index",
        ),
        ({"step_labels": ...}, "labels.jsonl:1: step_labels: is missing from the line of s:0:1"),
        ({"final_label": ...}, "labels.jsonl:1: final_label: is missing from the line of s:0:1"),
        ({"step_labels": [1]}, "labels.jsonl:1: step_labels: must be an object of message index and label"),
    ],
)
def test_line_that_says_nothing_usable_is_an_error(changes: dict[str, Any], sentence: str) -> None:
    assert refused(**changes) == [sentence]


def test_label_file_with_broken_lines_has_errors_and_the_others_are_read() -> None:
    found = read("[1]", '{"record_id', GOOD, "7")
    assert [str(error) for error in found.errors.listed] == [
        "labels.jsonl:1: is not a JSON object",
        "labels.jsonl:2: is cut off: the record ends in the middle of its JSON",
        "labels.jsonl:4: is not a JSON object",
    ]
    assert (found.errors.count, list(found.lines)) == (3, ["s:0:1"])


def test_first_thousand_errors_are_kept_and_all_are_counted() -> None:
    found = read(*["7"] * 1200)
    assert (len(found.errors.listed), found.errors.count) == (1000, 1200)


# ── Several lines about one record ────────
@pytest.mark.parametrize(
    ("times", "counts"),
    [
        ([None, None, None], 2),
        (["2026-01-03T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"], 0),
        (["2026-01-01", "2026-01-01", None], 1),
        (["2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00+00:00", "2026-01-01T10:30:00"], 1),
        (["soon", "2026-01-01", "later"], 1),
        (["0001-01-01T00:00:00+14:00", None, None], 2),
    ],
)
def test_label_file_counts_the_newest_line_else_the_last(times: list[str | None], counts: int) -> None:
    found = read(*({**GOOD, "updated_at": time, "comment": str(place)} for place, time in enumerate(times)))
    assert found.lines["s:0:1"].comment == str(counts)
    assert found.superseded == 2


# ── What is no label ──────────────────────
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (True, "must be −1, 0 or 1, not true"),
        (1.0, "must be −1, 0 or 1, not 1.0"),
        ("1", 'must be −1, 0 or 1, not "1"'),
        (2, "must be −1, 0 or 1, not 2"),
        ([1], "must be −1, 0 or 1, not a list"),
        ({"v": 1}, "must be −1, 0 or 1, not an object"),
        (float("nan"), "must be −1, 0 or 1, not nan"),
    ],
)
def test_label_file_names_what_is_no_label_and_leaves_it_missing(value: Any, reason: str) -> None:
    line = only(step_labels={"2": value, "4": 1}, final_label=value)
    assert (line.step_labels, line.final_label) == ({2: None, 4: 1}, None)
    assert line.problems == (("step_labels.2", reason), ("final_label", reason))


@pytest.mark.parametrize("key", ["x", "-1", "02", " 2", "2.0", "٢", "", "9" * 30])
def test_label_file_names_what_is_no_message_index(key: str) -> None:
    line = only(step_labels={key: 1})
    assert line.step_labels == {}
    assert line.problems == ((f"step_labels.{excerpt(key)}", "is not a message index"),)


def test_label_file_null_is_missing_and_no_problem() -> None:
    line = only(step_labels={"2": None}, final_label=None)
    assert (line.step_labels, line.final_label, line.problems, line.failed) == ({2: None}, None, (), False)


def test_step_labelled_twice_in_one_line_is_named() -> None:
    found = read('{"record_id": "a", "step_labels": {"2": 1, "2": -1}, "final_label": 1}')
    assert found.lines["a"].problems == (('step_labels."2"', "occurs twice"),)


def test_label_file_of_a_failed_judgement_has_no_outcome() -> None:
    line = only(step_labels={"2": None, "4": None}, final_label=0, comment="llm_annotate_failed: timeout")
    assert (line.failed, line.final_label) == (True, None)
    partly = only(step_labels={"2": None, "4": 1}, final_label=0, comment="llm_annotate_failed: timeout")
    assert (partly.failed, partly.final_label) == (False, 0)


# ── A person's finished labels ────────────
def against(steps: list[int], **changes: Any) -> list[str]:
    return [f"{error.field}: {error.reason}" for error in problems_against(only(**changes), steps, "f")]


def test_label_file_of_a_finished_labelling_has_no_problems() -> None:
    assert against([2, 4]) == []


def test_label_file_names_everything_that_is_missing_or_wrong_with_its_record() -> None:
    record = '(of record "s:0:1")'
    assert against([2, 4, 6]) == [f"step_labels.6: is missing: this step has no label {record}"]
    assert against([2]) == [f"step_labels.4: is not a step: that message is not the assistant’s {record}"]
    assert against([2, 4], final_label=None) == [
        f"final_label: is missing: the outcome has no label {record}"
    ]
    assert against([2, 4], step_labels={"2": 3, "4": None}, final_label=True) == [
        f"step_labels.2: must be −1, 0 or 1, not 3 {record}",
        f"final_label: must be −1, 0 or 1, not true {record}",
        f"step_labels.4: is missing: this step has no label {record}",
    ]
    assert against([2], step_labels={"2": None}, comment="llm_annotate_failed") == [
        f"comment: says that this judgement failed {record}"
    ]


def test_hostile_values_are_shown_short_and_plain() -> None:
    assert excerpt("é\x00\ud800\u202e") == '"\\xe9\\x00\\ud800\\u202e"'
    assert len(excerpt("x" * 10_000)) <= 62
    assert excerpt(10**4000)[-3:] == "..."
    assert excerpt(None) == "null"


@given(st.dictionaries(st.sampled_from([
    "record_id", "data_source", "query_index", "sample_index", "step_labels", "final_label", "comment",
    "updated_at", "explanations",
]), ANY_JSON | st.dictionaries(st.sampled_from(["0", "2", "x"]), ANY_JSON)))  # fmt: skip
def test_label_file_of_any_json_does_not_raise(value: dict[str, Any]) -> None:
    line = parse_label_line(value, "f", 1)
    if isinstance(line, RecordError):
        return
    assert all(label in (-1, 0, 1, None) and type(label) is not bool for label in line.step_labels.values())
    problems_against(line, [0, 2], "f")


# ── The published files ───────────────────
@pytest.mark.published
def test_label_files_that_are_published_read_as_described(published: Path) -> None:
    base = published / "agentprocessbench"

    def labels(path: Path) -> LabelFile:
        with path.open("rb") as stream:
            found = read_label_lines(stream, path.name)
        assert (len(found.lines), found.errors.count, found.superseded) == (250, 0, 0)
        assert not any(line.problems for line in found.lines.values())
        return found

    human = labels(base / "hotpotqa.jsonl")
    assert Counter(v for line in human.lines.values() for v in line.step_labels.values()) == {
        1: 499,
        -1: 179,
        0: 56,
    }
    assert Counter(line.final_label for line in human.lines.values()) == {1: 163, -1: 87}
    assert sum(-1 not in line.step_labels.values() for line in human.lines.values()) == 146
    failed = {}
    for path in sorted((base / "predictions").glob("*/*.jsonl")):
        found = labels(path)
        assert found.lines.keys() == human.lines.keys()
        failed[path.parent.name] = sum(line.failed for line in found.lines.values())
        assert all(line.explanations for line in found.lines.values() if not line.failed)
    assert failed == {"DeepSeek-V3.2": 0, "GPT-5.2": 0, "Llama-3.2-3B-Instruct": 4}
