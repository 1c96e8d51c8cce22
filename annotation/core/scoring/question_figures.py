"""Scores of models on questions: how often an output is a key, and how near a text comes to one.

Both readings of an output stand side by side (core.scoring.questions.outputs): the published one, in which
questions with an empty output are left out, and the strict one, in which every question counts. On choices,
labels of the options answer too: what is labelled +1. Counts are sums over tasks, so that every figure has
the interval of all figures of models (core.figures.intervals).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from annotation.core.figures.figure import by_name, share
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.i18n import translatable
from annotation.core.scoring.labels import MISSING, BoolArray, Predictions, ReleasedLabels
from annotation.core.scoring.questions.facts import NO_LETTER, QuestionFacts
from annotation.core.scoring.questions.worth import EARNED, EMPTY, LEFT_OUT, SAID, UNREADABLE, Outputs

NO_QUESTIONS: Final = translatable("there are no questions")
NO_OUTPUT: Final = translatable("every output is empty")
NO_TEXTS: Final = translatable("no question asks for a text")

COLUMNS: Final = ("questions", "answered", "empty", "unreadable", "texts", *EARNED)
"""Counts of questions, of outputs that are not empty, that are, and in which the strict reading finds no
answer, of questions that ask for a text, and what is earned: by the published and the strict reading, and on
texts."""


@dataclass(frozen=True, slots=True)
class QuestionCounts:
    """The number of questions, of those with an empty output or none, of the others in whose output no answer
    is found, and of those that are right by the strict and by the published reading (of what is drawn by
    chance: on average)."""

    questions: int
    empty: int
    unreadable: int
    right: float
    right_published: float

    @classmethod
    def of(cls, totals: FloatArray) -> QuestionCounts:
        """From sums of counts, (COLUMNS,)."""
        of = dict(zip(COLUMNS, totals.tolist(), strict=True))
        questions, empty, unreadable = (int(of[name]) for name in ("questions", "empty", "unreadable"))
        return cls(questions, empty, unreadable, of["strict"], of["published"])

    def as_json(self) -> dict[str, float]:
        """All of them."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def question_facts(released: ReleasedLabels) -> QuestionFacts:
    """The facts of a release of decisions about its questions."""
    assert released.decisions is not None and released.decisions.questions is not None
    return released.decisions.questions


def outputs_of(released: ReleasedLabels, predicted: Predictions) -> Outputs:
    """The verdicts on a model's outputs about the records of a release, (R,): where there are none, on its
    labels of the options of a choice. Whoever says nothing of a question has an empty output."""
    facts, n = question_facts(released), released.n_records
    outputs = Outputs.none(n) if predicted.outputs is None else predicted.outputs
    shown = facts.letter != NO_LETTER
    record, labels = released.record[shown], predicted.steps[shown]

    def count(steps: BoolArray) -> BoolArray:
        return np.bincount(record[steps], minlength=n) > 0

    labelled = count(labels != MISSING) & facts.choices & ~outputs.has(SAID)
    answered = count(labels == 1)
    right = answered & ~count((labels == 1) != (released.value[shown] == 1))
    state = np.where(outputs.has(SAID | LEFT_OUT), outputs.state, SAID + EMPTY + UNREADABLE)
    earned = outputs.earned.copy()
    for name in ("published", "strict"):
        column = EARNED.index(name)
        earned[column] = np.where(labelled, right, earned[column])
    return Outputs(
        np.where(labelled, SAID + UNREADABLE * ~answered, state).astype(np.uint8),
        earned,
    )


def question_sums(released: ReleasedLabels, predicted: Predictions) -> FloatArray:
    """The counts of every task, (T, COLUMNS)."""
    facts, outputs = question_facts(released), outputs_of(released, predicted)
    shown = (facts.letter != NO_LETTER) & (released.value == 1)
    # by a reference of its own, a choice may be without a key
    keyed = facts.texts | (np.bincount(released.record[shown], minlength=released.n_records) > 0)
    counted = facts.asked & keyed & ~outputs.has(LEFT_OUT)
    empty = outputs.has(EMPTY)
    columns = {
        "questions": counted,
        "answered": ~empty,
        "empty": empty,
        "unreadable": outputs.has(UNREADABLE) & ~empty,
        "texts": facts.texts,
        **{name: outputs.column(name) for name in EARNED},
    }
    sums: FloatArray = np.column_stack(
        [
            np.bincount(released.task, np.where(counted, columns[name], 0), released.n_tasks)
            for name in COLUMNS
        ]
    )
    return sums


VERDICTS: Final = ("right", "wrong", "unreadable", "empty")
NOT_COUNTED: Final = -1


def verdicts_of(released: ReleasedLabels, predicted: Predictions) -> IntArray:
    """The place in VERDICTS of what a model says of each record, (R,), by the strict reading; NOT_COUNTED of
    what is no question that models are asked."""
    facts, outputs = question_facts(released), outputs_of(released, predicted)
    verdicts: IntArray = np.select(
        [~facts.asked, outputs.has(EMPTY), outputs.has(UNREADABLE), outputs.column("strict") > 0],
        [NOT_COUNTED, VERDICTS.index("empty"), VERDICTS.index("unreadable"), VERDICTS.index("right")],
        VERDICTS.index("wrong"),
    )
    return verdicts


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
        "empty",
        translatable("Empty"),
        translatable("Share of questions whose output is empty, or that have none; they count as wrong."),
        of="empty",
        n="questions",
        empty=NO_QUESTIONS,
    ),
    _share(
        "unreadable",
        translatable("Unreadable"),
        translatable(
            "Share of questions in whose output, which is not empty, no answer is found; they count as wrong."
        ),
        of="unreadable",
        n="questions",
        empty=NO_QUESTIONS,
    ),
)
MAIN: Final = "accuracy"
RANKED: Final = (MAIN, "accuracy_published", "rouge_l")
"""The figures by which models are compared and ranked."""
