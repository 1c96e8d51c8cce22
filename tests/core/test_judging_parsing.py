"""Answers are read without charity: what was not given is missing and counted, and nothing is invented."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotation.core.judging import ParsedAnswer, ProblemKind, UnusableKind, parse
from annotation.core.judging.lenient_json import MAX_ANSWER_CHARS
from annotation.core.judging.parsing import MAX_PROBLEMS, MAX_REASON
from annotation.core.label_files import read_label_lines

STEPS = (2, 4, 6)


def answer(labels: dict[Any, Any], outcome: Any = 1) -> dict[str, Any]:
    """In the shape that the prompt asks for."""
    return {
        "steps": [{"index": i, "reasoning": "…", "label": v, "reason": f"r{i}"} for i, v in labels.items()],
        "outcome": {"reasoning": "…", "label": outcome, "reason": "end"},
    }


GOOD = json.dumps(answer({2: 1, 4: -1, 6: 0}))


def counts(found: ParsedAnswer) -> tuple[int, int, int]:
    return found.missing, found.extra, found.invalid


def kinds(found: ParsedAnswer, where: str) -> list[ProblemKind]:
    return [problem.kind for problem in found.problems if problem.where == where]


def unusable(text: str, **more: Any) -> UnusableKind:
    found = parse(text, STEPS, **more)
    assert found.unusable is not None
    assert found.labels == dict.fromkeys(STEPS) and found.outcome is None and found.reasons == {}
    return found.unusable.kind


def test_parsing_a_complete_answer() -> None:
    found = parse(GOOD, STEPS)
    assert found.labels == {2: 1, 4: -1, 6: 0}
    assert found.reasons == {2: "r2", 4: "r4", 6: "r6"}
    assert (found.outcome, found.outcome_reason) == (1, "end")
    assert counts(found) == (0, 0, 0) and found.problems == () and found.unusable is None


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f'<think>Perhaps {json.dumps(answer({2: -1, 4: -1, 6: -1}))}? No: "{{"</think>\n{GOOD}\nThat is all.',
        json.dumps({"judgement": json.loads(GOOD)}),
        f'{{"note": 1}} {GOOD} {{"confidence": 0.9}} {{}}',
        json.dumps(answer({2: 1, 4: -1, 6: 0}), indent=4),
        GOOD + " It has the keys “steps” and “outcome”.",
        # the published layout beside the one that was asked for
        json.dumps(json.loads(GOOD) | {"step_labels": {"2": -1}, "final_label": -1}),
    ],
)
def test_parsing_takes_the_last_object_with_the_right_keys(text: str) -> None:
    found = parse(text, STEPS)
    assert (found.labels, found.outcome, found.problems) == ({2: 1, 4: -1, 6: 0}, 1, ())


@pytest.mark.parametrize(
    "text",
    [
        '// judged\n{"steps": [ // "steps"\n{"index": 2, "label": 1}, /* {"index": 4, "label": 1} */ '
        '{"index": 6, "label": 0},], "outcome": 1,}',
        '{"steps": [{"index": 2, "label": +1}, {"index": 6, "label": 0, "reason": "a\nb // c, }"}], '
        '"outcome": +1}',
    ],
)
def test_parsing_reads_and_notes_what_is_not_quite_json_but_plain(text: str) -> None:
    found = parse(text, STEPS)
    assert (found.labels, found.outcome) == ({2: 1, 4: None, 6: 0}, 1)
    assert counts(found) == (1, 0, 0) and kinds(found, "answer") == [ProblemKind.NOTED]


def test_parsing_reads_an_object_by_index_too() -> None:
    found = parse('{"steps": {"2": 1, "4": {"label": -1, "reason": "no"}, "06": 1}, "outcome": 0}', STEPS)
    assert (found.labels, found.reasons, found.outcome) == ({2: 1, 4: -1, 6: None}, {4: "no"}, 0)
    assert counts(found) == (1, 1, 0)


@pytest.mark.parametrize(
    ("given", "meant"), [("1", 1), ("+1", 1), ("-1", -1), ("−1", -1), ("0", 0), (" 1 ", 1)]
)
def test_label_as_a_string_counts_and_is_noted(given: str, meant: int) -> None:
    found = parse(json.dumps(answer({2: given, 4: 1, 6: 1}, given)), STEPS)
    assert (found.labels[2], found.outcome) == (meant, meant)
    assert kinds(found, "steps.2") == kinds(found, "outcome") == [ProblemKind.NOTED]
    assert counts(found) == (0, 0, 0)


@pytest.mark.parametrize(
    "value", [True, False, 0.5, 1.0, -1.0, 2, -2, 10**30, "good", "1.0", "", [1], {"a": 1}]
)
def test_parsing_calls_what_is_no_label_invalid_and_never_0(value: Any) -> None:
    found = parse(json.dumps(answer({2: value, 4: 1, 6: 1}, value)), STEPS)
    assert (found.labels[2], found.outcome, found.outcome_reason) == (None, None, "")
    assert kinds(found, "steps.2") == kinds(found, "outcome") == [ProblemKind.INVALID]
    assert counts(found) == (0, 0, 1)
    assert 2 not in found.reasons


def test_parsing_calls_null_and_absence_missing() -> None:
    found = parse(
        json.dumps({"steps": [{"index": 2, "label": None}, {"index": 4}, {"index": 6, "label": 1}]}), STEPS
    )
    assert (found.labels, found.outcome) == ({2: None, 4: None, 6: 1}, None)
    assert counts(found) == (2, 0, 0)
    assert kinds(found, "outcome") == [ProblemKind.MISSING]


def test_parsing_never_moves_indexes_shifted_by_one_back() -> None:
    found = parse(json.dumps(answer({3: 1, 5: -1, 6: 1})), STEPS)
    assert found.labels == {2: None, 4: None, 6: 1}
    assert counts(found) == (2, 2, 0)
    assert kinds(found, "steps.3") == kinds(found, "steps.5") == [ProblemKind.EXTRA]


@pytest.mark.parametrize("index", [True, 2.0, -2, "two", "2.0", None, [2], "٢"])
def test_index_that_is_none_labels_nothing(index: Any) -> None:
    steps = [{"index": index, "label": 1}, {"index": 4, "label": 1}]
    found = parse(json.dumps({"steps": steps, "outcome": 1}), STEPS)
    assert found.labels == {2: None, 4: 1, 6: None}
    assert counts(found) == (2, 1, 0)


@pytest.mark.parametrize(
    ("twice", "labels", "invalid"),
    [
        ('[{"index": 2, "label": 1}, {"index": 2, "label": 1}, {"index": 4, "label": 1}]', {2: 1}, 0),
        ('[{"index": 2, "label": 1}, {"index": 2, "label": -1}, {"index": 4, "label": 1}]', {2: None}, 1),
        ('[{"index": 2, "label": 1}, {"index": 2, "label": null}, {"index": 4, "label": 1}]', {2: None}, 1),
        ('[{"index": 2, "label": 1}, {"index": 2, "label": 7}, {"index": 4, "label": 1}]', {2: None}, 1),
        ('[{"index": 2, "label": -1, "label": 1}, {"index": 4, "label": 1}]', {2: None}, 1),
        ('[{"index": 2, "label": 1, "label": true}, {"index": 4, "label": 1}]', {2: None}, 1),
        ('{"2": 1, "2": -1, "4": 1}', {2: None}, 1),
        ('{"2": 1, "2": 1, "4": 1}', {2: 1}, 0),
    ],
)
def test_step_judged_twice_counts_only_when_both_agree(
    twice: str, labels: dict[int, int | None], invalid: int
) -> None:
    found = parse(f'{{"steps": {twice}, "outcome": 1}}', STEPS)
    assert found.labels == {2: labels[2], 4: 1, 6: None}
    assert counts(found) == (1, 0, invalid)


def test_parsing_counts_contradictory_parts_of_the_whole_for_nothing() -> None:
    assert (
        unusable('{"steps": [{"index": 2, "label": 1}], "steps": [{"index": 2, "label": 0}]}') == "no_labels"
    )
    found = parse('{"steps": {"2": 1}, "outcome": 1, "outcome": -1}', STEPS)
    assert found.outcome is None and ProblemKind.CONTRADICTORY in kinds(found, "outcome")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "not_json"),
        ("All steps are fine.", "not_json"),
        ("{'steps': {'2': 1}}", "not_json"),
        ("<html><body>{}</body></html>", "no_labels"),
        ('{"labels": {"2": 1, "4": 1, "6": 1}, "final": 1}', "no_labels"),
        ('{"steps": [], "outcome": 1}', "no_labels"),
        ('{"steps": "2: +1", "outcome": 1}', "no_labels"),
        ('"{\\"steps\\": {\\"2\\": 1}}"', "not_json"),
        (json.dumps(answer({3: 1, 5: 1, 7: 1})), "no_labels"),
        (json.dumps(answer({2: "good", 4: None})), "no_labels"),
        ("x" * (MAX_ANSWER_CHARS + 1), "too_large"),
        (f'{{"steps": {"[" * 100_000}', "not_json"),
        (f'{{"steps": {"[" * 100_000}{"]" * 100_000}}}', "not_json"),
    ],
)
def test_parsing_an_answer_without_a_single_label_is_a_failure(text: str, kind: str) -> None:
    assert unusable(text) == kind


@pytest.mark.parametrize(
    "piece", ['{"', '{"a":1,}', '{"a":[1,', '{"a":1,/*', '{"a":{', '{"steps":[', "{//\n", "{ "]
)
def test_hostile_answers_take_bounded_time(piece: str) -> None:
    assert parse(piece * (1_000_000 // len(piece)), STEPS).unusable is not None


def test_reasons_and_problems_are_bounded() -> None:
    long = parse('{"steps": {"2": {"label": 1, "reason": "' + "a" * 9_000 + '"}}}', STEPS).reasons[2]
    assert long == "a" * MAX_REASON + " […]"
    many = parse(json.dumps(answer(dict.fromkeys(range(2, 5000), 1))), STEPS)
    assert many.extra == 4_998 - 3 and len(many.problems) == MAX_PROBLEMS


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([1, 0, -1, "1", "−1"]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["index", "label", "reason", "2"]), inner)
    ),
    max_leaves=20,
)
ENTRY = st.fixed_dictionaries(
    {}, optional={"index": st.sampled_from([2, 3, 4, "6", True]) | ANY, "label": ANY}
)
JSON = st.one_of(
    ANY,
    st.fixed_dictionaries({"steps": st.lists(ENTRY | ANY) | ANY}, optional={"outcome": ANY}),
).map(json.dumps)
PIECES = st.lists(
    JSON | st.text() | st.sampled_from(["```json\n", "// x\n", '{"steps": ', "}", "]", ",", GOOD])
)


@settings(max_examples=50)
@given(PIECES.map("".join), st.booleans())
@example('{"steps": [{"index": 2, "label": 1}', False)
def test_parsing_raises_nothing_and_invents_no_label(text: str, cut_off: bool) -> None:
    found = parse(text, STEPS, cut_off=cut_off)
    assert tuple(found.labels) == STEPS
    given_labels = [label for label in found.labels.values() if label is not None]
    assert all(type(label) is int and label in (-1, 0, 1) for label in given_labels)
    assert len(given_labels) + found.missing + found.invalid == len(STEPS)
    assert (found.unusable is None) == bool(given_labels)
    assert set(found.reasons) <= {index for index, label in found.labels.items() if label is not None}
    if given_labels:
        assert '"steps"' in text or '"step_labels"' in text
        assert any(str(abs(label)) in text for label in given_labels)


@given(
    st.dictionaries(st.sampled_from(STEPS), st.sampled_from([-1, 0, 1])), st.sampled_from([-1, 0, 1, None])
)
def test_parsing_gives_exactly_the_labels_given(labels: dict[int, int], outcome: int | None) -> None:
    found = parse("So: " + json.dumps(answer(labels, outcome)), STEPS)
    assert found.labels == {step: labels.get(step) for step in STEPS}
    assert found.missing == len(STEPS) - len(labels)
    assert found.outcome == (outcome if labels else None)


@pytest.mark.published
@pytest.mark.parametrize("model", ["GPT-5.2", "DeepSeek-V3.2", "Llama-3.2-3B-Instruct"])
def test_parsing_keeps_what_real_judges_said(published: Path, model: str) -> None:
    (path,) = (published / "agentprocessbench/predictions" / model).glob("*.jsonl")
    with path.open("rb") as stream:
        lines = read_label_lines(stream, path.name).lines
    failed = 0
    for line in lines.values():
        said = {
            "steps": [
                {"index": index, "reasoning": "", "label": label, "reason": line.explanations.get(index, "")}
                for index, label in line.step_labels.items()
            ],
            "outcome": {"reasoning": "", "label": line.final_label, "reason": line.final_explanation},
        }
        found = parse(json.dumps(said, ensure_ascii=False), list(line.step_labels))
        failed += found.unusable is not None
        assert found.labels == line.step_labels
        labelled = [index for index, label in line.step_labels.items() if label is not None]
        reasons = {index: line.explanations.get(index, "").strip() for index in labelled}
        assert found.reasons == {index: reason for index, reason in reasons.items() if reason}
        assert found.outcome == (None if line.failed else line.final_label)
        published_layout = {
            "step_labels": line.step_labels,
            "final_label": line.final_label,
            "explanations": {"steps": line.explanations, "final": line.final_explanation},
        }
        assert parse(json.dumps(published_layout), list(line.step_labels)) == found
    assert len(lines) == 250 and failed == sum(line.failed for line in lines.values())
