"""The question of a record of a release: what is kept of it for figures, and what an output is held
against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotation.core.scoring.questions.facts import KINDS, NO_LETTER, NOT_ASKED, PAIR
from annotation.core.scoring.questions.verdicts import Question

from .exports.asked import AskedQuestion, NotAsked, asked_question


def facts_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a record for `QuestionFacts.of`; the argument of `ReleasedLabels.of`."""
    asked = asked_question(record)
    indexes = sorted(map(int, record["step_labels"]))
    if not isinstance(asked, AskedQuestion):
        return {
            "uuid": record["record_id"],
            "ability": "",
            "language": "",
            "length": 0,
            "reading": PAIR if asked is NotAsked.NO_QUESTION else NOT_ASKED,
            "letters": [NO_LETTER] * len(indexes),
        }
    letters = {one.index: ord(one.letter) - ord("A") for one in asked.options}
    return {
        "uuid": asked.uuid,
        "ability": asked.ability,
        "language": asked.language,
        "length": asked.length,
        "reading": 1 + KINDS.index(asked.kind),
        "letters": [letters.get(index, NO_LETTER) for index in indexes],
    }


def questions_of(records: Iterable[Mapping[str, Any]]) -> Iterator[Question | None]:
    """The question that an output about each of these records of a release is held against; None where
    nothing is asked."""
    for record in records:
        asked = asked_question(record)
        if isinstance(asked, AskedQuestion):
            yield Question(str(asked.kind), asked.keys, asked.language)
        else:
            yield None
