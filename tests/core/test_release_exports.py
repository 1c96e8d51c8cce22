"""Exports of a release, the pure part: labels under each protocol, splits, training rows, hostile text."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from annotation.core.errors import Invalid
from annotation.core.kinds import STEPS
from annotation.core.releases.exports import FORMATS, PLAIN, ExportOptions, export_options
from annotation.core.releases.exports.card import card
from annotation.core.releases.exports.checksums import checksums, named_files, read_checksums
from annotation.core.releases.exports.croissant import croissant
from annotation.core.releases.exports.formats import ExportFormat
from annotation.core.releases.exports.formats.huggingface import HUGGINGFACE, trajectory_rows
from annotation.core.releases.exports.formats.protocols import step_values
from annotation.core.releases.exports.formats.training import TRAINING, training_rows
from annotation.core.releases.exports.layout import data_files
from annotation.core.releases.exports.markup import markdown_quote, markdown_text, yaml_text
from annotation.core.releases.exports.split import test_tasks as tasks_to_test
from tests.servers import ROOT

MESSAGES = [
    {"role": "user", "content": "Book it."},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "a", "function": {"name": "book", "arguments": "{not json"}}],
    },
    {"role": "tool", "tool_call_id": "a", "name": "book", "content": "Done."},
    {"role": "user", "content": "Wrong day!"},
    {"role": "assistant", "content": "Sorry."},
    {"role": "assistant", "content": "Mended."},
    {"role": "system", "content": "end of state"},
]


def record(labels: dict[int, int], roots: dict[int, int] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "record_id": "s:0:0",
        "subset": "s",
        "policy_model": "m",
        "task_key": "s:0",
        "total_index": 0,
        "query_index": 0,
        "sample_index": 0,
        "question": "Book it.",
        "data_source": "s",
        "ground_truth": None,
        "task_description": None,
        "answer_text": None,
        "messages": MESSAGES,
        "tools": [],
        "tool_metrics": {},
        "hints": {},
        "step_labels": {str(index): value for index, value in labels.items()},
        "step_kinds": {str(index): "unanimous" for index in labels},
        "step_roots": {str(index): root for index, root in (roots or {}).items()},
        "step_reasons": {},
        "final_label": 1,
        "final_kind": "unanimous",
        "final_reason": "",
        "blind_labels": [],
        **more,
    }


def manifest(**more: Any) -> dict[str, Any]:
    return {
        "format": "tristep-release/4",
        "project": "bench",
        "name": "Bench",
        "version": "1.0",
        "number": 1,
        "note": "",
        "created_at": "2026-11-22T00:00:00+00:00",
        "digest": "0" * 64,
        "subsets": {"s": {}},
        "agreement": {"project": {"overall": {}}, "release": {"overall": {}}},
        **more,
    }


@pytest.mark.parametrize(
    ("labels", "roots", "independent"),
    [
        ({1: -1, 4: -1, 5: -1}, {1: 1, 4: 1, 5: 5}, {1: -1, 4: None, 5: -1}),
        # the first error began where it stands, whatever people said of its root
        ({1: 0, 4: -1, 5: -1}, {}, {1: 0, 4: -1, 5: None}),
        ({1: -1, 4: 1, 5: -1}, {1: 1, 5: 1}, {1: -1, 4: 1, 5: None}),
        ({}, {}, {}),
    ],
)
def test_consequence_has_no_label_when_steps_are_judged_for_themselves(
    labels: dict[int, int], roots: dict[int, int], independent: dict[int, int | None]
) -> None:
    made = record(labels, roots)

    assert step_values(made, "propagated") == labels
    assert step_values(made, "independent") == independent


def test_training_row_learns_no_label_with_hindsight() -> None:
    (row,) = training_rows(record({1: -1, 4: 0, 5: 1}), ExportOptions(TRAINING))

    assert row["prompt"] == "[user]\nBook it."
    call = '<tool_call>\n{"name":"book","arguments":"{not json"}\n</tool_call>'
    assert row["completions"] == [
        f"[assistant]\n{call}\n\n[tool book]\nDone.",
        # the user's answer comes after the first step was judged
        "[user]\nWrong day!\n\n[assistant]\nSorry.",
        "[assistant]\nMended.",
    ]
    assert (row["labels"], row["step_indexes"]) == ([False, True, True], [1, 4, 5])
    assert json.loads(row["messages"]) == MESSAGES


@pytest.mark.parametrize(
    ("zero", "labels", "indexes"),
    [
        ("true", [False, True, True], [1, 4, 5]),
        ("false", [False, False, True], [1, 4, 5]),
        ("merge", [False, True], [1, 5]),
        ("cut", [False], [1]),
    ],
)
def test_zero_becomes_what_was_chosen(zero: str, labels: list[bool], indexes: list[int]) -> None:
    (row,) = training_rows(record({1: -1, 4: 0, 5: 1}), ExportOptions(TRAINING, zero=zero))

    assert (row["labels"], row["step_indexes"]) == (labels, indexes)
    if zero == "merge":
        assert row["completions"][-1].endswith("Sorry.\n\n[assistant]\nMended.")


def test_trajectory_without_labelled_steps_makes_a_row_but_no_training_row() -> None:
    assert not list(training_rows(record({}), ExportOptions(TRAINING)))
    assert not list(training_rows(record({1: 0, 4: 0}), ExportOptions(TRAINING, zero="cut")))
    (row,) = trajectory_rows(record({}), ExportOptions(HUGGINGFACE))
    assert row["step_labels"] == []


def test_split_keeps_a_task_on_one_side_everywhere() -> None:
    tasks = {
        "a": [f"t{n}" for n in range(10)],
        "b": [f"t{n}" for n in range(5, 15)],
        "one": ["alone"],
        "no": [],
    }

    chosen = tasks_to_test(tasks, 0.3, 7)

    assert len(chosen & set(tasks["a"])) == 3
    assert len(chosen & set(tasks["b"])) == 3
    assert "alone" not in chosen
    assert chosen == tasks_to_test(dict(reversed(tasks.items())), 0.3, 7)
    assert chosen != tasks_to_test(tasks, 0.3, 8)
    # neither side is empty, however small the share
    assert len(tasks_to_test({"a": tasks["a"]}, 0.001, 1)) == 1
    assert len(tasks_to_test({"a": tasks["a"]}, 0.999, 1)) == 9


def test_what_a_column_cannot_hold_stands_exact_beside_it() -> None:
    odd = record({1: 1}, question="\ud83d?", total_index=10**30, messages=[{"content": "\udc00"}])
    (row,) = trajectory_rows(odd, ExportOptions(HUGGINGFACE))

    assert row["question"] == "\ufffd?" and row["total_index"] is None
    assert json.loads(row["other"]) == {"question": "\ud83d?", "total_index": 10**30}
    assert json.loads(row["messages"]) == [{"content": "\udc00"}]
    for value in row.values():
        if isinstance(value, str):
            value.encode()


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("format", {"format": "csv"}),
        *(
            ("split", {"format": "huggingface", "split": text})
            for text in ("0", "1", "-.5", "nan", "1e-1", "x")
        ),
        ("seed", {"format": "huggingface", "seed": "-1"}),
        ("seed", {"format": "huggingface", "seed": str(2**63)}),
        ("protocol", {"format": "huggingface", "protocol": "both"}),
        ("zero", {"format": "training", "zero": "drop"}),
        ("blind_labels", {"format": "training", "blind_labels": "true"}),
        ("blind_labels", {"format": "huggingface", "blind_labels": "maybe"}),
        ("format", {"split": "0.5"}),
        ("colour", {"format": "training", "colour": "red"}),
    ],
)
def test_choice_that_cannot_be_is_refused_by_its_name(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        export_options(given)
    assert list(refusal.value.fields) == [field]
    assert refusal.value.message.endswith(".")


HOSTILE = (
    'a"b\\c: [x]\n---\nlicense: mit # y',
    "<script>alert(1)</script> [l](javascript:x) ![i](http://x/i) http://auto.link `c` **b** | &amp; $$x$$",
    "\x00\x1b[31m\u2028\u2029\x85\u202etxt\ufeff 😀 \ud83d",
    "\n# Heading\n\n    code\n```\nfence\n> quote\n- item\n1. item\n===\n",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_the_card(text: str) -> None:
    safe = text.replace("\ud83d", "\ufffd")
    assert yaml.safe_load(yaml_text(text)) == safe
    assert "\n" not in yaml_text(text) + markdown_text(text)
    markdown = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    inline = markdown.parse(markdown_text(text))[1]
    assert {one.type for one in inline.children or ()} <= {"text", "text_special"}
    quoted = {token.type for token in markdown.parse(markdown_quote(text))}
    assert quoted <= {
        f"{kind}_{end}" for kind in ("blockquote", "paragraph") for end in ("open", "close")
    } | {"inline"}

    options = ExportOptions(HUGGINGFACE)
    files = data_files(["---", "s"], options, STEPS)
    files[1].rows = 1
    said = manifest(name=text, title=text, note=text, licence=text, version="1.0")
    written = card(said, options, files).decode()
    header = yaml.safe_load(written.split("\n---\n")[0])
    assert header["pretty_name"] == safe
    assert header["license"] == "other"
    # an empty subset is no configuration, because none of its rows could be loaded
    path = {"split": "test", "path": "data/s/test.parquet"}
    assert header["configs"] == [{"config_name": "s", "data_files": [path]}]
    assert json.loads(croissant(said, options, files))["name"] == safe


def test_checksums_name_only_files_within_their_folder() -> None:
    options = ExportOptions(HUGGINGFACE)
    for path in ("../x", "/etc/passwd", "a/../../x", "a\\b"):
        said = checksums(manifest(), options, {}, {path: ("0" * 64, 1)})
        assert read_checksums(said, manifest())[1] and named_files(said) == []
    said = checksums(manifest(), options, {}, {"data/s/test.parquet": ("0" * 64, 1)})
    assert read_checksums(said, manifest()) == ({"data/s/test.parquet": "0" * 64}, [])
    assert "another release" in read_checksums(said, manifest(version="2.0"))[1][0]
    for place in range(0, len(said), 37):
        changed = said[:place] + bytes([said[place] ^ 1]) + said[place + 1 :]
        assert read_checksums(changed, manifest())[1], place


BLIND = {"annotator": "annotator-1", "step_labels": {"1": 1}, "final_label": 1}


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_export_format_is_described_and_loadable(format: ExportFormat) -> None:
    described = (ROOT / "docs" / "formats.md").read_text("utf-8")
    assert format.title and (format is PLAIN.format or f"`{format.name}`" in described)
    assert {*format.options} <= {field.name for field in fields(ExportOptions)}
    for _title, code in format.snippets("subset", format.whole):
        compile(code, format.name, "exec")
    options = ExportOptions(format)
    for table in format.tables:
        for row in table.rows(record({1: 1}, blind_labels=[BLIND]), options):
            assert set(row) == {column.name for column in table.columns}
            if table.labels:
                assert set(row[table.labels]) <= {value for _name, value in format.labels}
