"""What a model says of a decision, and whether that puts a pair of options in the right order.

An answer gives each option a label or a score, or chooses one option in each of several orders. It may be
wrong in a pair, leave it tied, or say nothing of it that can be read, which counts as wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from annotation.core.i18n import translatable
from annotation.core.label_files import excerpt


class PairVerdict(Enum):
    """The order in which an answer puts a better and a worse option; `unreadable`: in none."""

    RIGHT = "right"
    TIED = "tied"
    WRONG = "wrong"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: the options in the order in which they were shown, by message index, and the chosen one,
    None where the choice could not be read."""

    order: tuple[int, ...]
    chosen: int | None

    @property
    def first(self) -> bool | None:
        """Whether what stood first was chosen; None where nothing can be read."""
        return None if self.chosen is None else self.chosen == self.order[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a decision: labels or scores by message index (None: missing), or choices."""

    values: Mapping[int, float | None] = field(default_factory=dict)
    choices: Sequence[Choice] = ()

    def verdicts(self, better: int, worse: int) -> Iterator[PairVerdict]:
        """The verdicts on a pair: one of labels or scores, one of each choice that shows both options; at
        least one.

        A choice of a third option leaves the two tied.
        """
        if not self.choices:
            yield _by_values(self.values.get(better), self.values.get(worse))
            return
        shown = [choice for choice in self.choices if better in choice.order and worse in choice.order]
        if not shown:
            yield PairVerdict.UNREADABLE
        for choice in shown:
            if choice.chosen is None:
                yield PairVerdict.UNREADABLE
            elif choice.chosen == better:
                yield PairVerdict.RIGHT
            else:
                yield PairVerdict.WRONG if choice.chosen == worse else PairVerdict.TIED


NO_ANSWER = Answer()


def _by_values(better: float | None, worse: float | None) -> PairVerdict:
    if better is None or worse is None or better != better or worse != worse:
        return PairVerdict.UNREADABLE
    if better == worse:
        return PairVerdict.TIED
    return PairVerdict.RIGHT if better > worse else PairVerdict.WRONG


def read_answer(line: Mapping[str, Any], problems: list[tuple[str, str]]) -> Answer:
    """The answer in a line of predictions: its `choices`, else its `scores`, else its `step_labels`.

    A value that is no number stays missing. What cannot be an answer at all is noted in `problems` (field,
    reason).
    """
    choices, scores = line.get("choices"), line.get("scores")
    if choices is not None:
        if not isinstance(choices, list):
            problems.append(("choices", translatable("must be a list of choices")))
            return NO_ANSWER
        read = [_choice(choice, f"choices[{at}]", problems) for at, choice in enumerate(choices)]
        return Answer(choices=[choice for choice in read if choice is not None])
    name, values = ("scores", scores) if scores is not None else ("step_labels", line.get("step_labels"))
    if not isinstance(values, dict):
        problems.append((name, translatable("must be an object of message index and number")))
        return NO_ANSWER
    read_values: dict[int, float | None] = {}
    for key, value in values.items():
        if not (key.isascii() and key.isdecimal() and len(key) < 10):
            problems.append((f"{name}.{excerpt(key)}", translatable("is not a message index")))
            continue
        number = isinstance(value, int | float) and not isinstance(value, bool)
        read_values[int(key)] = value if number else None
    return Answer(values=read_values)


def _choice(value: Any, where: str, problems: list[tuple[str, str]]) -> Choice | None:
    held = value if isinstance(value, dict) else {}
    order, chosen = held.get("order"), held.get("choice")
    if (
        not isinstance(order, list)
        or len(order) < 2
        or any(type(index) is not int for index in order)
        or len(set(order)) < len(order)
    ):
        problems.append((f"{where}.order", translatable("must be a list of different message indexes")))
        return None
    return Choice(tuple(order), chosen if type(chosen) is int and chosen in order else None)
