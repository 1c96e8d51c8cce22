"""Rows beside the models on a board of questions: chance, always A, the longest option, and the positions of
the keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.i18n import Translatable, translatable
from annotation.core.scoring.decisions.facts import LONGER
from annotation.core.scoring.labels import Predictions, ReleasedLabels
from annotation.core.scoring.questions.facts import KINDS, NO_LETTER, QuestionFacts
from annotation.core.scoring.questions.worth import EARNED, LEFT_OUT, SAID, Outputs

CHANCE: Final = "chance"
ALWAYS_A: Final = "always_a"
LONGEST: Final = "longest"
TITLES: Final[dict[str, Translatable]] = {
    CHANCE: translatable("Chance"),
    ALWAYS_A: translatable("Always A"),
    LONGEST: translatable("The longest option"),
}
NO_ONE_KEY: Final = translatable("no choice has a single key")
ONE_LETTER: Final = translatable("every key could stand at one letter alone")


@dataclass(frozen=True, slots=True)
class Letters:
    """The options of the C choices of a release, (C, L) for L letters: which are `there`, and which are the
    `right` ones; `record` (C,) is where each stands in the release."""

    record: IntArray
    there: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, released: ReleasedLabels, facts: QuestionFacts) -> Letters:
        """Those with a key: by a reference of its own, a release may have fewer of them."""
        n = int(facts.letter.max(initial=NO_LETTER)) + 1
        there, right = (np.zeros((released.n_records, n)) for _ in range(2))
        shown = np.flatnonzero(facts.letter != NO_LETTER)
        place = released.record[shown], facts.letter[shown]
        there[place], right[place] = 1, released.value[shown] == 1
        record = np.flatnonzero(facts.choices & right.any(axis=1))
        return cls(record, there[record], right[record])


@dataclass(frozen=True, slots=True)
class KeyPositions:
    """The letters of the keys, of the choices with a single one: `counts` by letter, the counts `expected` if
    keys stand anywhere, the chi-square of the difference with its degrees of freedom, and p; without these,
    the `reason`."""

    letters: tuple[str, ...]
    counts: tuple[int, ...]
    expected: tuple[float, ...]
    chi_square: float | None = None
    freedom: int = 0
    p: float | None = None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "letters": list(self.letters),
            "counts": list(self.counts),
            "expected": list(self.expected),
            "chi_square": self.chi_square,
            "degrees_of_freedom": self.freedom,
            "p": self.p,
            "reason": self.reason or None,
        }


def key_positions(released: ReleasedLabels, facts: QuestionFacts) -> KeyPositions:
    """The positions of the single keys. Where all choices have as many options, the chi-square is Pearson's;
    else that of the whole difference, of which the variances of all choices are summed (a key among k options
    has the variance of one draw)."""
    from scipy.stats import chi2

    choices = Letters.of(released, facts)
    single = choices.right.sum(axis=1) == 1
    there, right = choices.there[single], choices.right[single]
    if not len(there):
        return KeyPositions((), (), (), reason=NO_ONE_KEY)
    chances = there / there.sum(axis=1, keepdims=True)
    counts, expected = right.sum(axis=0), chances.sum(axis=0)
    letters = tuple(chr(ord("A") + at) for at in range(len(counts)))
    frequencies = letters, tuple(map(int, counts.tolist())), tuple(expected.tolist())
    variance = np.diag(expected) - chances.T @ chances
    freedom = int(np.linalg.matrix_rank(variance, hermitian=True))
    if not freedom:
        return KeyPositions(*frequencies, reason=ONE_LETTER)
    off = counts - expected
    value = float(off @ np.linalg.pinv(variance, hermitian=True) @ off)
    return KeyPositions(*frequencies, value, freedom, float(chi2.sf(value, freedom)))


def beside(released: ReleasedLabels, facts: QuestionFacts) -> dict[str, Predictions]:
    """By name what would be earned on choices without reading them: on average by drawing a letter (1 / k; of
    several keys one of the sets of letters, 1 / (2^k − 1)), by A alone, and by the longest option."""
    letters = Letters.of(released, facts)
    if not len(letters.record):
        return {}
    several = facts.reading[letters.record] == 1 + KINDS.index("keys")
    options = letters.there.sum(axis=1)
    chance = 1 / np.where(several, 2**options - 1, options)
    longest = np.full((released.n_records, letters.there.shape[1]), -1)
    shown = facts.letter != NO_LETTER
    if released.decisions is not None:
        longest[released.record[shown], facts.letter[shown]] = released.decisions.cues[LONGER][shown]
    rows = np.arange(len(letters.record))
    alone = letters.right.sum(axis=1) == 1
    predictions = {
        CHANCE: chance,
        ALWAYS_A: (alone & (letters.right[:, 0] == 1)).astype(float),
        LONGEST: (alone & (letters.right[rows, longest[letters.record].argmax(axis=1)] == 1)).astype(float),
    }
    return {name: _earning(released, letters.record, earned) for name, earned in predictions.items()}


def _earning(released: ReleasedLabels, record: IntArray, earned: FloatArray) -> Predictions:
    """Predictions that earn so much on these records, by either reading, and are scored on no others."""
    made = Outputs.none(released.n_records)
    made.state[:] = LEFT_OUT
    made.state[record] = SAID
    for name in ("published", "strict"):
        made.earned[EARNED.index(name), record] = earned
    nothing = Predictions.none(released)
    nothing.there[:] = True
    return replace(nothing, outputs=made)
