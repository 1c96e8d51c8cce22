"""A line of predictions about a decision: labels of its options, scores, or a choice of one of them in each
of several orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.label_files import NO_INDEX, OCCURS_TWICE, excerpt, read_index
from annotation.core.scoring.questions.lines import OutputLine

MOST_ORDERS: Final = 24
"""Of all orders of four options."""
ONE_OF: Final = translatable("must hold one of labels, scores and choices")
NO_OBJECT: Final = translatable("must be an object of message index and number")
NO_LIST: Final = translatable("must be a list of at most {n} choices", n=MOST_ORDERS)
NO_ORDER: Final = translatable("must be a list of two or more different message indexes")
NO_OPTION: Final = translatable("is not an option of this decision")

Problems = list[tuple[str, str]]
"""Reasons why something is no answer: the field, and the reason."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice: the options in the order in which they were shown, by message index, and the chosen one,
    None where the choice could not be read."""

    order: tuple[int, ...]
    chosen: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a decision that is not by labels: `scores` by message index (None: missing), `choices`,
    or the `output` about a question. With none of them, it is by labels. `uuid`: by which a line names its
    question, where it does."""

    scores: Mapping[int, float | None] | None = None
    choices: Sequence[Choice] = ()
    output: OutputLine | None = None
    uuid: str = ""

    def indexes(self) -> Iterator[tuple[str, int]]:
        """The options that it names, with the field of each."""
        for index in self.scores or ():
            yield f"scores.{index}", index
        for at, choice in enumerate(self.choices):
            for index in choice.order:
                yield f"choices[{at}].order", index

    def as_json(self) -> dict[str, Any]:
        """The answer, for whoever reads it beside the decision; nothing of one by labels."""
        if self.output is not None:
            return {"output": self.output.output}
        if self.scores is not None:
            return {"scores": {str(index): score for index, score in self.scores.items()}}
        chosen = [{"order": list(one.order), "choice": one.chosen} for one in self.choices]
        return {"choices": chosen} if chosen else {}


BY_LABELS: Final = Answer()


def labels_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line of predictions of decisions with what a line of labels has besides: its `labels` under the name
    of steps' labels, and an outcome, which it may leave out."""
    labels = line.get("labels")
    return {"step_labels": {} if labels is None else labels, "final_label": None, **line}


def read_answer(line: Mapping[str, Any], problems: Problems) -> Answer:
    """The answer in a line of predictions, if it is not by labels.

    A score that is no finite number stays missing, and so does a choice that is none of the options shown.
    What cannot be an answer at all is noted in `problems`.
    """
    given = {name: line[name] for name in ("scores", "choices") if line.get(name) is not None}
    labels = [name for name in ("labels", "step_labels") if line.get(name) is not None]
    if len(given) + len(labels) != 1:
        problems.append((([*given, *labels] or ["labels"])[0], ONE_OF))
    elif "scores" in given:
        return Answer(scores=_scores(given["scores"], problems))
    elif "choices" in given:
        return Answer(choices=_choices(given["choices"], problems))
    return BY_LABELS


def _scores(value: Any, problems: Problems) -> dict[int, float | None]:
    if not isinstance(value, dict):
        problems.append(("scores", NO_OBJECT))
        return {}
    problems.extend((f"scores.{excerpt(key)}", OCCURS_TWICE) for key in getattr(value, "repeated", ()))
    scores: dict[int, float | None] = {}
    for key, score in value.items():
        index = read_index(key)
        if index is None:
            problems.append((f"scores.{excerpt(key)}", NO_INDEX))
            continue
        scores[index] = _number(score)
    return scores


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _choices(value: Any, problems: Problems) -> list[Choice]:
    if not isinstance(value, list) or len(value) > MOST_ORDERS:
        problems.append(("choices", NO_LIST))
        return []
    read = [_choice(choice, f"choices[{at}]", problems) for at, choice in enumerate(value)]
    return [choice for choice in read if choice is not None]


def _choice(value: Any, where: str, problems: Problems) -> Choice | None:
    held = value if isinstance(value, dict) else {}
    order, chosen = held.get("order"), held.get("choice")
    if (
        not isinstance(order, list)
        or len(order) < 2
        or any(type(index) is not int for index in order)
        or len(set(order)) < len(order)
    ):
        problems.append((f"{where}.order", NO_ORDER))
        return None
    return Choice(tuple(order), chosen if type(chosen) is int and chosen in order else None)
