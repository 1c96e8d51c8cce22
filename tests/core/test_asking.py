"""Prompts of released questions: their words, their examples, and what is cut."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.asking import templates
from annotation.core.asking.drawing import drawn_json, drawn_of_json
from annotation.core.asking.making import Mark, Marked, PromptCounts, PromptLine, PromptMaking, line_bytes
from annotation.core.asking.settings import PromptSettings
from annotation.core.asking.templates import LANGUAGES, built_in, own_template
from annotation.core.decisions.record import Asked, Decision, Option, decision_draft
from annotation.core.errors import Conflict, Invalid
from annotation.core.judging.tokens import estimate_tokens
from annotation.core.releases.exports import split as splits
from annotation.core.releases.exports.asked import AskedKind
from annotation.core.vocabulary import Ability, DecisionKind
from tests.fixtures.decisions import by_key

OPENINGS = {"choice": "(", "keys": "(", "answer": "[", "command": "```\n"}
OWN = "Before.\n{{examples}}\nSeen: {{history}}\nOne of: {{options}}\nIt is"
WORDS_SHA256 = "80dddd4404dd83ce2214068b52a876df"


def question(
    at: int,
    *,
    task: str = "",
    kind: str = "choice",
    language: str = "en",
    subset: str = "s",
    history: str = "",
) -> dict[str, Any]:
    """A released question: its options are right by its number, so that keys differ."""
    completion = kind in ("answer", "command")
    right = {"choice": {at % 3}, "keys": {0, 2}}.get(kind, {0})
    item = Decision(
        question=f"Question {at}?",
        tools=[{"name": "search"}],
        history=[
            {"role": "user", "content": f"Question {at}?"},
            {"role": "assistant", "content": history or f"Thinking about {at}."},
            {"role": "tool", "content": f"Result {at}."},
        ],
        options=[
            Option({"role": "assistant", "content": f"Text {at}.{place}"}, 1 if place in right else -1)
            for place in range(1 if completion else 3)
        ],
        task_key=task or f"task {at}",
        about={"recipe": "next-call"} if kind == "command" else {},
        asked=Asked(
            DecisionKind.COMPLETION if completion else DecisionKind.CHOICE, Ability.PLANNING, language
        ),
        identity=f"r{at}",
    )
    return by_key(decision_draft(item)) | {"subset": subset}


def made(
    records: Sequence[dict[str, Any]], settings: PromptSettings
) -> tuple[PromptMaking, list[PromptLine], PromptCounts]:
    def read(ordinals: Collection[int] | None) -> Iterator[tuple[int, dict[str, Any]]]:
        return ((at, one) for at, one in enumerate(records) if ordinals is None or at in ordinals)

    making, counts = PromptMaking(read, settings), PromptCounts()
    making.look()
    lines = list(making.lines())
    for line in lines:
        counts.add(line, settings.shots)
    return making, lines, counts


def text(line: PromptLine) -> str:
    assert line.prompt is not None
    return line.prompt.text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", OPENINGS)
def test_prompt_ends_where_the_answer_begins_and_examples_hold_theirs(kind: str, language: str) -> None:
    records = [question(at, kind=kind, language=language) for at in range(6)]
    making, lines, _ = made(records, PromptSettings.of(shots=2, split=0.5))
    for line in lines:
        prompt = text(line)
        assert prompt.endswith(OPENINGS[kind])
        shown = [example for (drawn,) in [making.drawn.values()] for example in drawn]
        used = [one for one in shown if f"Question {one.ordinal}?" in prompt and one.ordinal != line.ordinal]
        assert len(used) == 2 == line.prompt.shots  # type: ignore[union-attr]
        for one in used:
            (asked,) = (other.asked for other in lines if other.ordinal == one.ordinal)
            answer = {"keys": ",".join(asked.keys) + ")", "command": f"{asked.keys[0]}\n```"}.get(
                kind, asked.keys[0] + {"choice": ")", "answer": "]"}.get(kind, "")
            )
            assert OPENINGS[kind] + answer in prompt
        for option in line.asked.options:
            assert f"({option.letter}) {option.text}" in prompt
        assert ("记录" in prompt or "到目前为止" in prompt) == (language == "zh")


def test_file_says_neither_key_nor_which_option_is_right() -> None:
    records = [question(at, kind=kind) for at, kind in enumerate(["choice", "answer"] * 6)]
    _, lines, _ = made(records, PromptSettings.of(shots=1, split=0.5))
    for line in lines:
        row = json.loads(line_bytes(line))
        assert list(row) == [
            *("record_id", "uuid", "subset", "kind", "language", "split", "shots", "cut", "prompt")
        ]
        if row["kind"] == "answer" and row["split"] == "test":
            assert line.asked.keys[0] not in row["prompt"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 6),  # task
            st.sampled_from(["choice", "keys", "answer", "command"]),
            st.sampled_from(["en", "zh"]),
            st.sampled_from(["s", "t"]),
            st.integers(0, 600),  # length of the history
        ),
        min_size=1,
        max_size=24,
    ),
    st.integers(0, 5),
    st.integers(0, 2**63 - 1),
    st.sampled_from([0.2, 0.5, 0.8]),
)
def test_no_example_shares_a_task_with_a_test_item_and_equal_seeds_give_equal_bytes(
    items: list[tuple[int, str, str, str, int]], shots: int, seed: int, split: float
) -> None:
    records = [
        question(at, task=f"t{task}", kind=kind, language=language, subset=subset, history="word " * length)
        for at, (task, kind, language, subset, length) in enumerate(items)
    ]
    settings = PromptSettings.of(shots=shots, seed=seed, split=split, tokens=600)
    making, lines, counts = made(records, settings)
    tasks = {
        name: {one["task_key"] for one in records if one["subset"] == name}
        for name in {one["subset"] for one in records}
    }
    tested = splits.test_tasks(tasks, split, seed)
    assert {line.asked.task for line in lines if Mark.TEST in line.mark} <= tested
    assert {line.asked.task for line in lines if Mark.TEST not in line.mark}.isdisjoint(tested)
    for line in lines:
        if line.prompt is None:
            continue
        assert line.prompt.tokens <= 600
        assert line.prompt.tokens == estimate_tokens(line.prompt.text)
        assert line.prompt.shots <= shots
        shown = {at for at in range(len(records)) if f"Question {at}?" in text(line)} - {line.ordinal}
        assert len(shown) == line.prompt.shots
        assert {records[at]["task_key"] for at in shown}.isdisjoint(tested | {line.asked.task})
        assert {records[at]["subset"] for at in shown} <= {line.asked.subset}
        assert {lines[at].asked.kind for at in shown} <= {line.asked.kind}
    again = PromptMaking(
        lambda ordinals: ((at, one) for at, one in enumerate(records) if ordinals is None or at in ordinals),
        settings,
        drawn=drawn_of_json(json.loads(json.dumps(drawn_json(making.drawn)))),
        marked=Marked.unpacked(making.marked.packed()),
    )
    file = b"".join(map(line_bytes, again.lines()))
    assert file == b"".join(map(line_bytes, lines))
    assert hashlib.sha256(file).hexdigest() == counts.digest


def test_long_history_is_cut_in_its_middle_and_options_never() -> None:
    long = "Begin. " + "middle " * 3_000 + "End."
    records = [question(at, history=long if at == 3 else "") for at in range(8)]
    settings = PromptSettings.of(shots=1, split=0.5, tokens=1_000)
    making, lines, counts = made(records, settings)
    cut = lines[3]
    assert Mark.CUT in cut.mark
    assert "Begin." in text(cut)
    assert "End." in text(cut)
    assert "characters left out …]" in text(cut)
    assert all(f"({one.letter}) {one.text}" in text(cut) for one in cut.asked.options)
    assert cut.prompt is not None
    assert len(text(cut)) - len(long) < 0 < cut.prompt.cut < len(long) + 200
    found = counts.as_json(making)
    assert (found["cut"], found["too_long"], found["test"] + found["train"]) == (1, 0, 8)
    assert all(one.ordinal != 3 for drawn in making.drawn.values() for one in drawn)  # too long to be shown


def test_cut_is_marked_in_the_language_of_the_question() -> None:
    records = [question(at, language="zh", history="字" * 5_000) for at in range(2)]
    _, lines, _ = made(records, PromptSettings.of(shots=0, split=0.5, tokens=1_000))
    assert all("个字符 ……]" in text(line) and "left out" not in text(line) for line in lines)


def test_question_that_does_not_fit_is_counted_and_named() -> None:
    records = [question(at) for at in range(3)]
    long = question(3)
    long["messages"][-1]["content"] = "option " * 4_000
    making, lines, counts = made([*records, long], PromptSettings.of(shots=0, split=0.5, tokens=1_000))
    assert lines[3].prompt is None
    assert line_bytes(lines[3]) == b""
    found = counts.as_json(making)
    assert (found["too_long"], found["too_long_named"]) == (1, [["s", "r3"]])
    assert 3 not in making.marked.having(Mark(0))


def test_fewer_examples_than_asked_for_are_counted() -> None:
    records = [question(at) for at in range(4)]
    making, _, counts = made(records, PromptSettings.of(shots=5, split=0.5))
    assert counts.as_json(making)["fewer_shots"] == 4
    with pytest.raises(Conflict, match="no question"):
        made([records[0] | {"final_label": 0}], PromptSettings.of())


def test_steps_are_numbered_where_the_options_name_them() -> None:
    records = [question(at) for at in range(2)]
    records[0]["decision"]["about"] = {"recipe": "first-error-step"}
    _, lines, _ = made(records, PromptSettings.of(shots=0, split=0.5))
    assert "Agent, step 1:\nThinking about 0." in text(lines[0])
    assert "Agent:\nThinking about 1." in text(lines[1])


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ("{{examples}} {{history}}", "{{options}} is missing"),
        ("{{history}} {{options}}", "{{examples}} is missing"),
        ("{{examples}} {{history}} {{options}} {{key}}", "Unknown placeholder {{key}}"),
        ("{{examples}} {{history}} {{history}} {{options}}", "stands once"),
        ("{{history}} {{examples}} {{options}}", "stands before"),
        ("{{examples}} {{history}} {{options}}" + "x" * 20_000, "at most 20,000"),
    ],
)
def test_own_template_is_refused_by_field(own: str, why: str) -> None:
    with pytest.raises(Invalid) as refused:
        PromptSettings.of(templates={"s": own})
    (field, problem) = next(iter(refused.value.fields.items()))
    assert (field, why in problem) == ("templates.s", True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("shots", 6), ("shots", -1), ("tokens", 499), ("seed", -1)),
        *(("split", 0.0), ("split", 1.0), ("split", 1 / 3)),
    ],
)
def test_choice_that_cannot_be_is_refused_by_field(field: str, value: Any) -> None:
    with pytest.raises(Invalid) as refused:
        PromptSettings.of(**{field: value})
    assert set(refused.value.fields) == {field}


def test_own_template_is_used_for_its_subset_and_filled_in_once() -> None:
    records = [question(at, subset="st"[at % 2], history="{{options}}") for at in range(8)]
    _, lines, _ = made(records, PromptSettings.of(shots=1, split=0.5, templates={"s": OWN}))
    for line in lines:
        assert text(line).startswith("Before.") == (line.asked.subset == "s")
        assert "{{options}}" in text(line)
    (line,) = (line for line in lines if line.ordinal == 0)
    assert text(line).endswith("It is (")
    ending_alike = own_template(f"{OWN} (", "t").asks(AskedKind.CHOICE, "h", "o")
    assert ending_alike.endswith("It is (")


def test_built_in_texts_are_never_edited() -> None:
    words = "\0".join(templates.built_in_text(kind, language) for kind in AskedKind for language in LANGUAGES)
    assert hashlib.sha256(words.encode()).hexdigest()[:32] == WORDS_SHA256
    for kind in AskedKind:
        for language in LANGUAGES:
            asked = built_in(kind, language).asks(kind, "HISTORY", "OPTIONS")
            assert ("OPTIONS" in asked) == (kind in (AskedKind.CHOICE, AskedKind.KEYS))
            assert "HISTORY" in asked
