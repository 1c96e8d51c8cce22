"""Scores of models on questions: how often an output is a key, and how near a text comes to one.

Both readings of an output stand side by side (core.scoring.outputs): the published one, in which questions
with an empty output are left out, and the strict one, in which every question counts. Counts are sums over
tasks, so that every figure has the interval of all figures of models (core.figures.intervals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from annotation.core.figures.figure import by_name, share
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.i18n import translatable
from annotation.core.scoring.outputs import READINGS, without_outer_quotes
from annotation.core.scoring.rouge import Rouge, rouge, tokens

TEXTS: Final = frozenset({"command", "answer"})
"""The kinds whose keys are texts, for which ROUGE says how near an output comes."""

NO_QUESTIONS: Final = translatable("there are no questions")
NO_OUTPUT: Final = translatable("every output is empty")
NO_TEXTS: Final = translatable("no question asks for a text")

COLUMNS: Final = (
    "questions",
    "answered",
    "published",
    "strict",
    "unreadable",
    "texts",
    "unquoted",
    "rouge_1",
    "rouge_2",
    "rouge_l",
)
"""Counts of questions, of outputs that are not empty, of those right by either reading, of those that the
strict reading cannot read, of questions that ask for a text, and what is earned on those."""


@dataclass(frozen=True, slots=True)
class Question:
    """What an output is held against. `kind` is one of READINGS; `keys` are the letters that are right, or
    the accepted texts; ROUGE is that of the nearest one."""

    kind: str
    keys: tuple[str, ...]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an output is worth. A question is `readable` if the strict reading finds an answer."""

    empty: bool
    readable: bool
    published: bool
    strict: bool
    unquoted: bool = False
    near: Rouge | None = None


def verdict(question: Question, output: str) -> Verdict:
    """The verdict on one output."""
    read = READINGS[question.kind](output)
    empty = not output.strip()
    if question.kind not in TEXTS:
        wanted = ",".join(sorted(question.keys)) if question.kind == "keys" else question.keys[0]
        return Verdict(empty, read.strict is not None, read.published == wanted, read.strict == wanted)
    said = read.strict or ""
    bare = without_outer_quotes(said)
    found = tokens(said, question.language)
    near = [rouge(found, tokens(key, question.language)) for key in question.keys]
    return Verdict(
        empty,
        read.strict is not None,
        read.published in question.keys,
        said.strip() in {key.strip() for key in question.keys},
        bare in {without_outer_quotes(key) for key in question.keys},
        max(near, key=lambda one: (one.rouge_l, one.rouge_1, one.rouge_2)),
    )


def question_sums(task: IntArray, n_tasks: int, verdicts: Sequence[Verdict]) -> FloatArray:
    """The counts of every task, (T, COLUMNS), from the verdicts on questions and the `task` of each, (Q,)."""
    rows = [
        (
            *(1, not one.empty, one.published and not one.empty, one.strict, not one.readable),
            *(one.near is not None, one.unquoted),
            *((one.near.rouge_1, one.near.rouge_2, one.near.rouge_l) if one.near else (0, 0, 0)),
        )
        for one in verdicts
    ]
    counts = np.array(rows, dtype=float).reshape(-1, len(COLUMNS))
    sums: FloatArray = np.column_stack(
        [np.bincount(task, counts[:, at], n_tasks) for at in range(len(COLUMNS))]
    )
    return sums


_share: Final = partial(share, COLUMNS)
FIGURES: Final = by_name(
    _share(
        "accuracy",
        translatable("Accuracy"),
        translatable("Share of questions whose output is the key, read strictly. Every question counts."),
        of="strict",
        n="questions",
        empty=NO_QUESTIONS,
    ),
    _share(
        "accuracy_published",
        translatable("Accuracy, published reading"),
        translatable(
            "Share of questions whose output is the key as APTBench reads it. Questions with an empty output "
            "are left out."
        ),
        of="published",
        n="answered",
        empty=NO_OUTPUT,
    ),
    _share(
        "exact_without_quotes",
        translatable("Exact, without outer quotes"),
        translatable("Share of texts that are a key once the quotes around both are taken away."),
        of="unquoted",
        n="texts",
        empty=NO_TEXTS,
    ),
    *(
        _share(name, title, convention, of=name, n="texts", empty=NO_TEXTS)
        for name, title, convention in (
            (
                "rouge_1",
                translatable("ROUGE-1 score"),
                translatable(
                    "Mean F1 of the words that a text shares with the nearest key; in Chinese, of characters."
                ),
            ),
            (
                "rouge_2",
                translatable("ROUGE-2 score"),
                translatable("Mean F1 of the pairs of words that a text shares with the nearest key."),
            ),
            (
                "rouge_l",
                translatable("ROUGE-L score"),
                translatable(
                    "Mean F1 of the longest sequence of words that a text shares with the nearest key."
                ),
            ),
        )
    ),
    _share(
        "unreadable",
        translatable("Unreadable"),
        translatable("Share of questions in whose output no answer is found; they count as wrong."),
        of="unreadable",
        n="questions",
        empty=NO_QUESTIONS,
    ),
)
