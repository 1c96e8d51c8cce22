"""Scores on questions: what an output is read as, ROUGE, figures of choices, and what stands beside models,
held against published data, `rouge-score` and scipy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from annotation.core.decisions.lettered import split_lettered
from annotation.core.kinds import DECISIONS
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.decisions.facts import LONGER, DecisionFacts
from annotation.core.scoring.question_figures import COLUMNS, VERDICTS, question_sums, verdicts_of
from annotation.core.scoring.questions.facts import KINDS, QuestionFacts
from annotation.core.scoring.questions.outputs import READINGS, without_outer_quotes
from annotation.core.scoring.questions.rouge import Rouge, Target, tokens
from annotation.core.scoring.questions.verdicts import Question, verdict
from annotation.core.scoring.without_reading import beside, key_positions

# by rouge-score 0.1.2, of tokens that are single letters: prediction, target, F1 of ROUGE-1, -2 and -L
ROUGE_SCORE = json.loads(Path(__file__).with_name("rouge_score.json").read_text())


def lines(published: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a file of APTBench, without those that repeat."""
    texts = (published / "aptbench" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(text) for text in dict.fromkeys(texts)]


@pytest.mark.parametrize(("prediction", "target", "one", "two", "longest"), ROUGE_SCORE)
def test_rouge_is_that_of_rouge_score(
    prediction: str, target: str, one: float, two: float, longest: float
) -> None:
    found = Target(target).near(prediction)
    assert (found.rouge_1, found.rouge_2, found.rouge_l) == pytest.approx((one, two, longest), abs=1e-11)


def test_tokens_are_words_and_in_chinese_characters() -> None:
    assert tokens("The  Cat\tsat", "en") == ["The", "Cat", "sat"]
    assert tokens("帕 劳", "zh-Hans") == ["帕", "劳"]


@pytest.mark.parametrize(
    ("kind", "output", "as_published", "strictly"),
    [
        ("choice", "B) because", "B", "B"),
        ("choice", "The answer is B)", "B", "B"),
        ("choice", "I think (C) not (B)", "C", "C"),
        ("choice", "b)", "b", "B"),
        ("choice", "B", None, "B"),
        ("choice", "**B**", None, "B"),
        ("choice", "B）", None, "B"),
        ("choice", "none of them", None, None),
        ("keys", "A,C) and so on", "A,C", "A,C"),
        ("keys", "c, A)", " A,c", "A,C"),
        ("keys", "", "", None),
        ("command", "cd x;ls\nthen", "cd x", "cd x;ls"),
        ("command", " cd x;ls ", "cd x;ls", "cd x;ls"),
        ("answer", "1994] and", "1994", "1994"),
        ("answer", "1994", None, None),
    ],
)
def test_output_is_read_twice(kind: str, output: str, as_published: str | None, strictly: str | None) -> None:
    read = READINGS[kind](output)
    assert (read.published, read.strict) == (as_published, strictly)


def test_text_counts_by_its_nearest_key_and_with_quotes_taken_away() -> None:
    found = verdict(Question("command", ("run a", 'say "b c"')), '"run a"')
    assert (found.strict, found.unquoted, found.near) == (False, True, Rouge(0.0, 0.0, 0.0))
    assert verdict(Question("answer", ("a b c d", "b c x")), "b c]").near == Rouge(4 / 5, 2 / 3, 4 / 5)
    assert without_outer_quotes('say "b"') == 'say "b"'


# ── Options by their letters ──────────────
def choices(*asked: tuple[str, str]) -> ReleasedLabels:
    """A release of choices, a task each: the letters of the options, and those that are right."""
    options = [
        (at, letter, letter in right) for at, (letters, right) in enumerate(asked) for letter in letters
    ]
    record, letter, right = (np.array(column) for column in zip(*options, strict=True))
    n = len(asked)
    none, one = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    reading = np.array([1 + KINDS.index("choice" if len(right) == 1 else "keys") for _, right in asked])
    letters = np.array([ord(each) - ord("A") for each in letter])
    facts = QuestionFacts(("",), ("",), ("",) * n, reading, none, none, none, letters)
    made = ReleasedLabels.of_steps(none[record], record, record, np.where(right, 1, -1))
    shown = DecisionFacts((), none - 1, {LONGER: np.arange(len(options)) % 3}, facts)
    return replace(made, outcome=one, kind=DECISIONS, decisions=shown)


def test_labels_of_options_answer_a_choice_by_what_they_label_right() -> None:
    released = choices(("AB", "A"), ("ABC", "AC"), ("AB", "B"), ("AB", "B"), ("AB", "A"))
    said = Predictions.none(released)
    labels = [1, -1, 1, 0, 1, 1, 1, -1, 0, MISSING, MISSING]
    said.steps[:] = labels
    totals = dict(zip(COLUMNS, question_sums(released, said).sum(axis=0), strict=True))
    assert [totals[name] for name in ("questions", "strict", "published")] == [5, 2, 2]
    assert (totals["unreadable"], totals["empty"]) == (1, 1)
    assert [VERDICTS[at] for at in verdicts_of(released, said)] == [
        *("right", "right", "wrong", "unreadable", "empty"),
    ]


def test_what_needs_no_reading_earns_what_a_count_by_hand_says() -> None:
    released = choices(("ABCD", "A"), ("AB", "B"), ("ABC", "AC"))
    assert released.decisions is not None and released.decisions.questions is not None
    found = beside(released, released.decisions.questions)
    earned = {name: question_sums(released, one)[:, COLUMNS.index("strict")] for name, one in found.items()}
    assert earned["chance"].tolist() == [1 / 4, 1 / 2, 1 / 7]
    assert earned["always_a"].tolist() == [1, 0, 0]
    # the lengths are 0 1 2 0, 1 2 and 0 1 2
    assert earned["longest"].tolist() == [0, 1, 0]


def test_key_positions_of_choices_of_one_size_have_the_chi_square_of_pearson() -> None:
    rights = "AAAAAAABBCCCDDDD"
    released = choices(*(("ABCD", right) for right in rights), ("ABCD", "AB"))
    assert released.decisions is not None and released.decisions.questions is not None
    found = key_positions(released, released.decisions.questions)
    expected = chisquare([7, 2, 3, 4])
    assert (found.counts, found.expected, found.freedom) == ((7, 2, 3, 4), (4.0,) * 4, 3)
    assert (found.chi_square, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_key_positions_of_choices_of_two_sizes_add_their_chances() -> None:
    released = choices(*(("AB", right) for right in "AAB"), *(("ABCD", right) for right in "ABCDD"))
    assert released.decisions is not None and released.decisions.questions is not None
    found = key_positions(released, released.decisions.questions)
    assert found.expected == pytest.approx((3 / 2 + 5 / 4, 3 / 2 + 5 / 4, 5 / 4, 5 / 4))
    assert sum(found.counts) == 8 and found.freedom == 3


# ── Options in one text ───────────────────
@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "letters"),
    [("error", {7: 104, 6: 5, 4: 38}), ("plan_zh.sample", {6: 20}), ("locate.sample", {4: 18, 3: 1, 2: 1})],
)
def test_options_of_published_questions_are_split_and_joined_again(
    published: Path, name: str, letters: dict[int, int]
) -> None:
    texts = [line["choices"] for line in lines(published, name)]
    split = [split_lettered(text) for text in texts]

    counts = [len(options) for options in split]
    assert {count: counts.count(count) for count in set(counts)} == letters
    assert ["".join(f"({letter}){text}" for letter, text in options.items()) for options in split] == texts


def test_letter_out_of_its_turn_belongs_to_the_option_in_which_it_stands() -> None:
    assert split_lettered("(A) one\n(B) as (A) or x(C)\n(C) no (B)") == {
        "A": " one\n",
        "B": " as (A) or x(C)\n",
        "C": " no (B)",
    }
