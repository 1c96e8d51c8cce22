"""Read a judge's answer strictly: a label that was not given stays missing, and is counted.

What counts as a label: the numbers −1, 0 and 1, and the strings that can mean nothing else ("1", "+1",
"-1", "−1", "0"), which are noted. `true`, `1.0`, `0.5`, `2`, `"good"` are invalid. A label belongs
to the index that it stands under, or to none: indexes are never shifted, filled or guessed. Under `steps`
may stand a list of objects with an `index`, as asked for, or an object by index; under `outcome` an
object or the bare label. The layout of published answers is read too (`step_labels`, `final_label`,
`explanations`). Of an answer that is cut off, the labels that were finished before the cut count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.label_files import excerpt
from annotation.core.vocabulary import SIGNS, is_value

from .lenient_json import MAX_ANSWER_CHARS, JsonObject, last_object
from .parsed_answer import ParsedAnswer, Problem, ProblemKind, Unusable, UnusableKind

MAX_PROBLEMS: Final = 100
MAX_REASON: Final = 2_000
"""A longer reason is cut, and says so; the raw answer has all of it."""

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_AS_STRING: Final = {"1": 1, "+1": 1, "0": 0, "-1": -1, "−1": -1}
_NOT_GIVEN: Final = object()
_STEPS: Final = "steps"
_PUBLISHED_STEPS: Final = "step_labels"
_ACTIONS: Final = "actions"


def parse(answer_text: str, step_indexes: Sequence[int], *, cut_off: bool = False) -> ParsedAnswer:
    """The judgement in `answer_text` about exactly these steps. Never raises, whatever the text.

    `cut_off`: the server said that it stopped at its length limit, which names the failure of an answer
    without a finished label. Reasons are as the model wrote them (`core.text.escape` before a column).
    """
    return _parsed(answer_text, step_indexes, (_STEPS, _PUBLISHED_STEPS), cut_off)


def parse_actions(answer_text: str, order: Sequence[int], *, cut_off: bool = False) -> ParsedAnswer:
    """The judgement about the options of a decision, which were shown in this order as action 1, 2 …

    Labels and reasons are by message index, as `order` has them. There is no outcome.
    """
    read = _parsed(answer_text, range(1, len(order) + 1), (_ACTIONS,), cut_off)
    index = dict(enumerate(order, 1))
    return replace(
        read,
        labels={index[number]: label for number, label in read.labels.items()},
        reasons={index[number]: reason for number, reason in read.reasons.items()},
        problems=tuple(
            replace(problem, where=problem.where.replace(_STEPS, _ACTIONS))
            for problem in read.problems
            if problem.where != "outcome"
        ),
    )


def both_orders(forward: ParsedAnswer, backward: ParsedAnswer) -> ParsedAnswer:
    """The judgement of a judge that was asked about a decision in an order and in its reverse.

    A label that differs between the two is missing, and noted as `order`, in place of its reason too. One
    that either lacks is missing.
    """
    labels: dict[int, int | None] = {}
    reasons: dict[int, str] = {}
    notes, order_dependent = [], []
    for index, label in forward.labels.items():
        other = backward.labels.get(index)
        labels[index] = label if label == other else None
        if label != other and label is not None and other is not None:
            notes.append(Problem(ProblemKind.ORDER, f"{_ACTIONS}.{index}", f"{label}, {other}"))
            order_dependent.append(index)
            reasons[index] = translatable(
                "{one} in one order of the options and {other} in its reverse: no label.",
                one=SIGNS[label],
                other=SIGNS[other],
            )
        elif labels[index] is not None and index in forward.reasons:
            reasons[index] = forward.reasons[index]
    without = sum(label is None for label in labels.values()) - len(order_dependent)
    invalid = min(forward.invalid + backward.invalid, without)
    return replace(
        forward,
        labels=labels,
        reasons=reasons,
        problems=(*forward.problems, *backward.problems, *notes)[:MAX_PROBLEMS],
        missing=without - invalid,
        order_dependent=frozenset(order_dependent),
        extra=forward.extra + backward.extra,
        invalid=invalid,
        unusable=forward.unusable or backward.unusable,
        cut=forward.cut or backward.cut,
    )


def _parsed(answer_text: str, asked: Sequence[int], keys: tuple[str, ...], cut_off: bool) -> ParsedAnswer:
    """The judgement about the steps or actions that were asked about; they stand under one of these keys."""
    if len(answer_text) > MAX_ANSWER_CHARS:
        size, limit = f"{len(answer_text):,}", f"{MAX_ANSWER_CHARS:,}"
        sentence = translatable(
            "The answer has {size} characters; one of more than {limit} is not read.", size=size, limit=limit
        )
        return _unusable(asked, UnusableKind.TOO_LARGE, sentence)
    candidate = last_object(answer_text, keys, cut_off=cut_off)
    if candidate.value is None:
        return _unusable(asked, *_why(answer_text, candidate.cut or cut_off, candidate.any_json, keys[0]))
    reading = _Reading(tuple(asked), cut=candidate.cut)
    if candidate.lenient:
        reading.note("answer", "read although it is not quite JSON")
    if candidate.cut:
        reading.note("answer", "cut off; the labels that were finished are read")
    answer = _as_asked(candidate.value)
    reading.take_steps(answer)
    return reading.judgement(answer)


def _as_asked(answer: JsonObject) -> JsonObject:
    """An answer in the layout of published ones in that which the prompt asks for; any other as it is."""
    if _STEPS not in answer and _ACTIONS in answer:
        actions = JsonObject({_STEPS: _with_reasons(answer[_ACTIONS])})
        actions.contradictory = frozenset({_STEPS} if _ACTIONS in answer.contradictory else ())
        return actions
    if _STEPS in answer or _PUBLISHED_STEPS not in answer:
        return answer
    explanations = answer.get("explanations")
    explanations = explanations if isinstance(explanations, dict) else {}
    reasons = explanations.get(_STEPS)
    reasons = reasons if isinstance(reasons, dict) else {}
    labels = answer[_PUBLISHED_STEPS]
    if isinstance(labels, JsonObject):
        steps = JsonObject({key: _with_reason(label, reasons.get(key)) for key, label in labels.items()})
        steps.contradictory = labels.contradictory
        labels = steps
    outcome = _with_reason(answer.get("final_label"), explanations.get("final"))
    converted = JsonObject({_STEPS: labels, "outcome": outcome})
    names = {_PUBLISHED_STEPS: _STEPS, "final_label": "outcome"}
    converted.contradictory = frozenset(names[key] for key in answer.contradictory if key in names)
    return converted


def _with_reasons(actions: Any) -> Any:
    """Actions with their reasoning as the reason, which they have no other."""
    if not isinstance(actions, list):
        return actions
    for action in actions:
        if isinstance(action, JsonObject) and "reasoning" in action:
            action.setdefault("reason", action["reasoning"])
    return actions


def _with_reason(label: Any, reason: Any) -> Any:
    return label if isinstance(label, dict) else JsonObject(label=label, reason=reason)


def _why(text: str, cut: bool, any_json: bool, key: str = _STEPS) -> tuple[UnusableKind, str]:
    if cut:
        return UnusableKind.TRUNCATED, translatable("The answer is cut off before its JSON object ends.")
    if any_json:
        sentence = translatable("The answer contains JSON, but no object with “{key}”.", key=key)
        return UnusableKind.NO_LABELS, sentence
    if not text.strip():
        return UnusableKind.NOT_JSON, translatable("The answer is empty.")
    return UnusableKind.NOT_JSON, translatable("The answer contains no JSON object.")


def _unusable(
    step_indexes: Sequence[int],
    kind: UnusableKind,
    message: str,
    problems: tuple[Problem, ...] = (),
    counts: tuple[int, int, int] | None = None,
) -> ParsedAnswer:
    labels: dict[int, int | None] = dict.fromkeys(step_indexes)
    missing, extra, invalid = counts or (len(labels), 0, 0)
    return ParsedAnswer(labels, {}, None, "", problems, missing, extra, invalid, Unusable(kind, message))


@dataclass(slots=True)
class _Reading:
    """The labels read so far. `given`: index → label, `None` for null, or invalid (`_NOT_GIVEN`)."""

    steps: tuple[int, ...]
    cut: bool = False
    given: dict[int, Any] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    extra: int = 0

    def take_steps(self, answer: JsonObject) -> None:
        labels = answer.get(_STEPS)
        if _STEPS in answer.contradictory:
            self.problem(ProblemKind.CONTRADICTORY, _STEPS, "occurs twice")
            return
        indexes = frozenset(self.steps)
        for key, entry in _entries(labels):
            index = _index(key)
            if self.cut and key is _NOT_GIVEN and isinstance(labels, list) and entry is labels[-1]:
                continue  # cut off before its index
            if index is None or index not in indexes:
                self.extra += 1
                where = _STEPS if index is None else f"{_STEPS}.{index}"
                self.problem(ProblemKind.EXTRA, where, "" if key is _NOT_GIVEN else excerpt(key))
                continue
            if isinstance(labels, JsonObject) and str(key) in labels.contradictory:
                self.problem(ProblemKind.CONTRADICTORY, f"{_STEPS}.{index}", "occurs twice")
                self.given[index] = _NOT_GIVEN
                continue
            self.take(index, entry)

    def take(self, index: int, entry: Any) -> None:
        where = f"{_STEPS}.{index}"
        label = self.label(entry, where)
        if index not in self.given:
            self.given[index] = label
            self.reasons[index] = _reason(entry)
        elif self.given[index] == label and label is not _NOT_GIVEN:
            self.note(where, "occurs twice")
        else:
            self.problem(ProblemKind.CONTRADICTORY, where, "occurs twice")
            self.given[index] = _NOT_GIVEN

    def label(self, entry: Any, where: str) -> Any:
        """The label in `entry`: `None` when it is absent, `_NOT_GIVEN` when it is invalid."""
        value = entry.get("label") if isinstance(entry, JsonObject) else entry
        if isinstance(entry, JsonObject) and "label" in entry.contradictory:
            self.problem(ProblemKind.CONTRADICTORY, where, "label occurs twice")
            return _NOT_GIVEN
        if value is None:
            return None
        if is_value(value):
            return value
        if isinstance(value, str) and value.strip() in _AS_STRING:
            self.note(where, excerpt(value))
            return _AS_STRING[value.strip()]
        self.problem(ProblemKind.INVALID, where, excerpt(value))
        return _NOT_GIVEN

    def judgement(self, answer: JsonObject) -> ParsedAnswer:
        labels = {index: self._usable(index) for index in self.steps}
        invalid = sum(self.given.get(index) is _NOT_GIVEN for index in labels)
        absent = [index for index in labels if self.given.get(index) is None]
        for index in absent:
            self.problem(ProblemKind.MISSING, f"{_STEPS}.{index}")
        outcome = self.label(answer.get("outcome"), "outcome")
        if "outcome" in answer.contradictory:
            self.problem(ProblemKind.CONTRADICTORY, "outcome", "occurs twice")
            outcome = None
        elif outcome is None:
            self.problem(ProblemKind.MISSING, "outcome")
        outcome = None if outcome is _NOT_GIVEN else outcome
        problems = tuple(self.problems)
        if all(label is None for label in labels.values()):
            if self.cut:
                return _unusable(self.steps, *_why("", True, True), problems)
            sentence = translatable(
                "The answer labels none of the {steps} steps: {missing} missing, {invalid} invalid, and "
                "{extra} for messages that are not steps.",
                steps=len(labels),
                missing=len(absent),
                invalid=invalid,
                extra=self.extra,
            )
            counts = (len(absent), self.extra, invalid)
            return _unusable(self.steps, UnusableKind.NO_LABELS, sentence, problems, counts)
        reasons = {index: self.reasons[index] for index, label in labels.items() if label is not None}
        return ParsedAnswer(
            labels=labels,
            reasons={index: reason for index, reason in reasons.items() if reason},
            outcome=outcome,
            outcome_reason=_reason(answer.get("outcome")) if outcome is not None else "",
            problems=problems,
            missing=len(absent),
            extra=self.extra,
            invalid=invalid,
            cut=self.cut,
        )

    def _usable(self, index: int) -> int | None:
        label = self.given.get(index)
        return None if label is _NOT_GIVEN else label

    def note(self, where: str, detail: str) -> None:
        self.problem(ProblemKind.NOTED, where, detail)

    def problem(self, kind: ProblemKind, where: str, detail: str = "") -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(kind, where, detail))


def _entries(labels: Any) -> Iterator[tuple[Any, Any]]:
    """(index as written, entry) of what stands under `steps`."""
    if isinstance(labels, dict):
        yield from labels.items()
    for entry in labels if isinstance(labels, list) else ():
        sure = isinstance(entry, JsonObject) and "index" in entry and "index" not in entry.contradictory
        yield (entry["index"] if sure else _NOT_GIVEN), entry


def _index(key: Any) -> int | None:
    if type(key) is int:
        return key if key >= 0 else None
    return int(key) if isinstance(key, str) and _INDEX.fullmatch(key.strip()) else None


def _reason(entry: Any) -> str:
    reason = entry.get("reason") if isinstance(entry, dict) else None
    reason = reason.strip() if isinstance(reason, str) else ""
    return reason if len(reason) <= MAX_REASON else reason[:MAX_REASON] + " […]"
