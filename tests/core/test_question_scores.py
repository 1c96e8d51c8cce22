"""Scores on questions: what an output is read as, ROUGE, and figures, held against published data and
`rouge-score`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.core.decisions.lettered import split_lettered
from annotation.core.scoring.outputs import READINGS, without_outer_quotes
from annotation.core.scoring.questions import FIGURES, Question, question_sums, verdict
from annotation.core.scoring.rouge import rouge, tokens

# by rouge-score 0.1.2, of tokens that are single letters: prediction, target, F1 of ROUGE-1, -2 and -L
ROUGE_SCORE = json.loads(Path(__file__).with_name("rouge_score.json").read_text())


def lines(published: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a file of APTBench, without those that repeat."""
    texts = (published / "aptbench" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(text) for text in dict.fromkeys(texts)]


def values(question_verdicts: list[tuple[Question, str]]) -> dict[str, tuple[float, int]]:
    """Each figure of all questions and its n; a task each."""
    found = [verdict(question, output) for question, output in question_verdicts]
    sums = question_sums(np.arange(len(found)), len(found), found).sum(axis=0)
    return {name: (float(one.values(sums)), int(one.n(sums))) for name, one in FIGURES.items()}


@pytest.mark.parametrize(("prediction", "target", "one", "two", "longest"), ROUGE_SCORE)
def test_rouge_is_that_of_rouge_score(
    prediction: str, target: str, one: float, two: float, longest: float
) -> None:
    found = rouge(prediction, target)
    assert (found.rouge_1, found.rouge_2, found.rouge_l) == pytest.approx((one, two, longest), abs=1e-11)


def test_tokens_are_words_and_in_chinese_characters() -> None:
    assert tokens("The  Cat\tsat", "en") == ["The", "Cat", "sat"]
    assert tokens("帕 劳", "zh-Hans") == ["帕", "劳"]


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "language", "n", "exact", "near"),
    [
        ("summ_ans_en", "en", 161, 17, (21.4740, 12.8464, 21.3774)),
        ("summ_ans_zh", "zh", 138, 17, (33.8641, 29.9363, 33.8641)),
    ],
)
def test_query_answers_are_as_near_to_answers_as_published(
    published: Path, name: str, language: str, n: int, exact: int, near: tuple[float, ...]
) -> None:
    found = values(
        [
            (Question("answer", (line["answer"],), language), line["query_answer"] + "]")
            for line in lines(published, name)
        ]
    )
    assert found["accuracy"] == found["accuracy_published"] == (pytest.approx(exact / n), n)
    assert [round(100 * found[f"rouge_{which}"][0], 4) for which in "12l"] == list(near)


@pytest.mark.published
def test_commonest_command_is_right_in_101_of_1084(published: Path) -> None:
    found = values(
        [
            (Question("command", (line["target_cmd"],)), "pip install -r requirements.txt\nls")
            for line in lines(published, "action")
        ]
    )
    assert found["accuracy"] == (pytest.approx(101 / 1084), 1084)


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


def test_empty_outputs_are_left_out_of_the_published_reading_alone() -> None:
    right = [(Question("choice", ("B",)), "B)")] * 600
    wrong = [(Question("choice", ("B",)), "A)")] * 398
    found = values([*right, *wrong, *[(Question("choice", ("B",)), " ")] * 2])

    assert found["accuracy"] == (pytest.approx(0.6), 1000)
    assert found["accuracy_published"] == (pytest.approx(600 / 998), 998)
    assert found["unreadable"] == (pytest.approx(0.002), 1000)


def test_text_counts_by_its_nearest_key_and_with_quotes_taken_away() -> None:
    found = values([(Question("command", ("run a", 'say "b c"')), '"run a"')])
    assert (found["accuracy"], found["exact_without_quotes"]) == ((0.0, 1), (1.0, 1))
    assert without_outer_quotes('say "b"') == 'say "b"'


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
