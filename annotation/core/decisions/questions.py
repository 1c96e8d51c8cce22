"""Derive questions from the runs of a release: what comes next, and where a run goes wrong first.

`next-step`: the history before a step that is right, and what the agent did there as the key among other
actions: wrong ones at the same history, then later steps of the same run. No action that is labelled 0 or +1
there is among them. `first-error-step`: a whole run, and its steps and "no error" as options. `next-call`:
the call of a step that is right, as text of at most 20 words. `final-answer`: the answer of a successful run,
without the tags around it.

Questions about what is right are asked of clean runs: successful by their outcome and without a −1; if asked
of all successful ones. The records are read two or three times, and between these 26 bytes are kept of each
step, and the wrong actions that become options, compressed.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ..jsonio.canonical import canonical_json, sha256_hex
from ..releases.exports.formats.protocols import INDEPENDENT, step_values
from ..trajectories.messages import RESPONSES, Message, as_in_chat, message_text, normalise
from ..vocabulary import Ability, DecisionKind
from .derive import ReleaseRecord, columns_of
from .distractors import NOT_WRONG
from .equality import act_digest, history_digests, message_digest
from .recipes import DerivedCounts, Recipe
from .record import Asked, Decision, Option, OptionOrigin, shown_message

OPTIONS: Final = 4
"""Options of a `next-step`, the key among them, unless so many are asked for."""
MOST_WORDS: Final = 20
MOST_STEPS: Final = 63
"""Steps of a run of which a `first-error-step` is asked: with "no error" as many as an item has options."""
_WRAPPED: Final = re.compile(r"<([A-Za-z_][\w-]*)>([^<>]*)</\1>\s*\Z")
_WORDS: Final = {
    "en": ("Which step of this run is its first error?", "Step {n}", "No error"),
    "zh": ("这次运行的第一个错误是哪一步？", "第 {n} 步", "没有错误"),
}
"""By language: the question of `first-error-step`, and its options."""
LANGUAGES: Final = tuple(_WORDS)
_ABILITIES: Final = {
    Recipe.NEXT_STEP: Asked(DecisionKind.CHOICE, Ability.PLANNING),
    Recipe.FIRST_ERROR_STEP: Asked(DecisionKind.CHOICE, Ability.ATOMIC),
    Recipe.NEXT_CALL: Asked(DecisionKind.COMPLETION, Ability.ACTION),
    Recipe.FINAL_ANSWER: Asked(DecisionKind.COMPLETION, Ability.ACTION),
}
QUESTIONS: Final = frozenset(_ABILITIES)
"""The recipes that make questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOptions:
    """Options of making questions. `options`: the number of a `next-step`, the key among them; `fewer`: keep
    one that has fewer; `successful`: ask of successful runs, whatever their steps are labelled."""

    options: int = OPTIONS
    fewer: bool = False
    successful: bool = False
    language: str = LANGUAGES[0]


_Place = tuple[int, int]
"""A step by the number of its record and its message index."""


@dataclass(slots=True)
class _Actions:
    """The actions at a history by 64 bits of their digest, with where each was done: the wrong ones, and
    those labelled 0 or +1."""

    wrong: dict[int, tuple[int, int]] = field(default_factory=dict)
    fine: dict[int, tuple[int, int]] = field(default_factory=dict)


class QuestionDerivation:
    """Questions derived from the records that `read` gives, each time the same ones in the same order.
    `counts` is right once `decisions` has been read to its end."""

    def __init__(
        self,
        read: Callable[[], Iterable[ReleaseRecord]],
        recipe: Recipe,
        *,
        seed: int = 0,
        options: QuestionOptions = QuestionOptions(),
    ) -> None:
        self.counts = DerivedCounts()
        self._read = read
        self._recipe = recipe
        self._seed = seed
        self._options = options
        self._tasks: set[tuple[str, str]] = set()
        self._met: set[tuple[int, int | str]] = set()

    def decisions(self) -> Iterator[Decision]:
        """The questions, in the order of the runs and of their steps."""
        make = {
            Recipe.NEXT_STEP: self._next_steps,
            Recipe.FIRST_ERROR_STEP: self._first_error_steps,
            Recipe.NEXT_CALL: self._next_calls,
            Recipe.FINAL_ANSWER: self._final_answers,
        }[self._recipe]
        for decision in make():
            self._tasks.add((str(decision.about["subset"]), decision.task_key))
            self.counts.items += 1
            yield decision
        self.counts.tasks = len(self._tasks)

    def _records(self) -> Iterator[ReleaseRecord]:
        """Every record, counted."""
        for record in self._read():
            successful = record["final_label"] == 1
            self.counts.runs += 1
            self.counts.successful += successful
            self.counts.clean += successful and _is_clean(record)
            yield record

    def _is_new(self, history: int, key: int | str) -> bool:
        """Whether no question so far has this history and this key: what is done, or what is written."""
        new = (history, key) not in self._met
        self._met.add((history, key))
        self.counts.repeats += not new
        return new

    def _asked_of(self, record: ReleaseRecord) -> bool:
        return record["final_label"] == 1 and (self._options.successful or _is_clean(record))

    # ── A choice among actions ────────────
    def _next_steps(self) -> Iterator[Decision]:
        at_history = self._actions()
        wrong_actions, digests = self._done_at(at_history.values())
        others = self._options.options - 1
        for record in self._records():
            if not self._asked_of(record):
                continue
            steps = list(_steps(record))
            for place, (message, action, history, label, follows) in enumerate(steps):
                self.counts.steps += 1
                self.counts.with_later += len(steps) - place - 1 >= others
                if label != 1 or follows:
                    self.counts.unfit += 1
                    continue
                acts = at_history.get(history, _Actions())
                wrong = [
                    _wrong_option(wrong_actions[acts.wrong[what]])
                    for what in self._by_chance(history, set(acts.wrong) - {action})
                ]
                later = {
                    what: at.index
                    for at, what, *_ in reversed(steps[place + 1 :])
                    if what not in acts.fine and what not in acts.wrong and what != action
                }
                wrong += [
                    Option(
                        shown_message(record["messages"][later[what]]),
                        -1,
                        OptionOrigin.STEP,
                        _source(record, later[what]),
                    )
                    for what in self._by_chance(history, set(later))
                ]
                if not wrong or (len(wrong) < others and not self._options.fewer):
                    self.counts.too_few_options += 1
                    continue
                if not self._is_new(history, action):
                    continue
                key = Option(
                    shown_message(record["messages"][message.index]),
                    1,
                    OptionOrigin.STEP,
                    _source(record, message.index),
                )
                fine = {digests[place] for what, place in acts.fine.items() if what != action}
                yield self._question(
                    record,
                    record["messages"][: message.index],
                    [key, *wrong[:others]],
                    about={NOT_WRONG: sorted(fine)} if fine else {},
                )

    def _actions(self) -> dict[int, _Actions]:
        """The actions at each history at which there are several: those labelled 0 or +1 by whoever did them,
        and those that are wrong, for themselves and whoever did them, beside one that is not."""
        columns = columns_of(self._read(), {})
        kinds = {"history": np.uint64, "action": np.uint64, "label": np.int8}
        history, action, label = (
            np.frombuffer(getattr(columns, name), dtype=kind) for name, kind in kinds.items()
        )
        different = np.unique(np.column_stack([history, action]), axis=0)[:, 0]
        several, counted = np.unique(different, return_counts=True)
        shared = np.isin(history, several[counted > 1])
        actions: dict[int, _Actions] = defaultdict(_Actions)
        for row in np.flatnonzero(shared & ((label == 0) | (label == 1))).tolist():
            place = (columns.run[row], columns.step[row])
            actions[int(history[row])].fine.setdefault(int(action[row]), place)
        for row in np.flatnonzero(shared & (label == -1)).tolist():
            known, what = actions[int(history[row])], int(action[row])
            if known.fine and what not in known.fine:
                known.wrong.setdefault(what, (columns.run[row], columns.step[row]))
        return actions

    def _done_at(self, actions: Iterable[_Actions]) -> tuple[dict[_Place, bytes], dict[_Place, str]]:
        """By place the wrong actions, as `_packed`, and the digests (`act_digest`) of others."""
        wrong: dict[int, list[int]] = defaultdict(list)
        fine: dict[int, list[int]] = defaultdict(list)
        for acts in actions:
            for places, wanted in ((acts.wrong, wrong), (acts.fine, fine)):
                for run, step in places.values():
                    wanted[run].append(step)
        packed: dict[_Place, bytes] = {}
        digests: dict[_Place, str] = {}
        for run, record in enumerate(self._read()) if wrong or fine else ():
            for step in wrong.get(run, ()):
                packed[run, step] = _packed(shown_message(record["messages"][step]), _source(record, step))
            for step in fine.get(run, ()):
                digests[run, step] = act_digest(record["messages"][step])
        return packed, digests

    def _by_chance(self, history: int, actions: set[int]) -> list[int]:
        def chance(what: int) -> bytes:
            return hashlib.sha256(f"{self._seed}\n{history}\n{what}".encode()).digest()

        return sorted(actions, key=chance)

    # ── A choice among steps ──────────────
    def _first_error_steps(self) -> Iterator[Decision]:
        question, step_word, none = _WORDS[self._options.language]
        for record in self._records():
            steps = list(_steps(record))
            if not steps or len(steps) > MOST_STEPS:
                self.counts.unfit += 1
                continue
            first = next((message.index for message, _, _, label, _ in steps if label == -1), None)
            options = [
                Option({"role": "assistant", "content": text}, 1 if right else -1, OptionOrigin.STEP, source)
                for text, right, source in (
                    *(
                        (
                            step_word.format(n=message.index),
                            message.index == first,
                            _source(record, message.index),
                        )
                        for message, *_ in steps
                    ),
                    (none, first is None, _source(record)),
                )
            ]
            history = [*record["messages"], {"role": "user", "content": question}]
            run = f"{record['subset']}\n{record['record_id']}\n{self._recipe}"
            identity = sha256_hex(run.encode("utf-8", "surrogatepass"))
            yield self._question(record, history, options, identity)

    # ── Completions ───────────────────────
    def _next_calls(self) -> Iterator[Decision]:
        for record in self._records():
            if not self._asked_of(record):
                continue
            for message, _, history, label, follows in _steps(record):
                self.counts.steps += 1
                text = _call_text(message)
                if label != 1 or follows or text is None:
                    self.counts.unfit += 1
                elif self._is_new(history, text):
                    yield self._completion(record, message.index, text)

    def _final_answers(self) -> Iterator[Decision]:
        for record in self._records():
            if record["final_label"] != 1:
                continue
            *_, last = [None, *_steps(record)]
            text = _answer_text(record["messages"][last[0].index]) if last else ""
            if last is None or not text or last[4]:
                self.counts.unfit += 1
            elif self._is_new(last[2], text):
                yield self._completion(record, last[0].index, text)

    def _completion(self, record: ReleaseRecord, step: int, text: str) -> Decision:
        option = Option({"role": "assistant", "content": text}, 1, OptionOrigin.STEP, _source(record, step))
        return self._question(record, record["messages"][:step], [option])

    def _question(
        self,
        record: ReleaseRecord,
        history: list[dict[str, Any]],
        options: list[Option],
        identity: str = "",
        about: Mapping[str, Any] = MappingProxyType({}),
    ) -> Decision:
        asked = _ABILITIES[self._recipe]
        return Decision(
            question=record.get("question") or "",
            tools=record.get("tools") or [],
            history=as_in_chat(history),
            options=options,
            task_key=record.get("task_key") or sha256_hex(str(record["record_id"]).encode()),
            data_source=record.get("data_source") or "",
            about={
                "recipe": str(self._recipe),
                "subset": record["subset"],
                "record_id": record["record_id"],
                **about,
            },
            asked=Asked(asked.kind, asked.ability, self._options.language),
            identity=identity,
        )


def _is_clean(record: ReleaseRecord) -> bool:
    return -1 not in record["step_labels"].values()


def _steps(record: ReleaseRecord) -> Iterator[tuple[Message, int, int, int | None, bool]]:
    """Each step: its message, 64 bits of the digests of what it does and of the history before it, its label,
    and whether it follows right after another response."""
    messages = normalise(record["messages"])
    labels = step_values(record, INDEPENDENT)
    actions = list(map(message_digest, messages))
    histories = history_digests(record.get("question") or "", record.get("tools") or [], actions)
    for message, action, history in zip(messages, actions, histories, strict=False):
        if message.role == "assistant":
            follows = message.index > 0 and messages[message.index - 1].role in RESPONSES
            yield message, _short(action), _short(history), labels.get(message.index), follows


def _short(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big")


def _source(record: ReleaseRecord, step: int | None = None) -> dict[str, Any]:
    """The source of an option: the step that did it, and of one that is no step the run."""
    source = {
        "subset": record["subset"],
        "record_id": record["record_id"],
        "step": step,
        "policy_model": record.get("policy_model") or "",
    }
    return {"steps": [source]}


def _packed(message: Mapping[str, Any], source: Mapping[str, Any]) -> bytes:
    """An action and its source. As objects they were a quarter of what a derivation's memory grew by."""
    return zlib.compress(json.dumps([message, source]).encode(), 1)


def _wrong_option(packed: bytes) -> Option:
    message, source = json.loads(zlib.decompress(packed))
    return Option(message, -1, OptionOrigin.STEP, source)


def _call_text(message: Message) -> str | None:
    """The one call of a step, as its name and canonical arguments; None where it is not one, or too long."""
    calls = [call for call in message.tool_calls if call.origin == "tool_calls"]
    if len(calls) != 1 or not calls[0].parsed:
        return None
    text = f"{calls[0].name} {canonical_json(calls[0].arguments).decode()}"
    return text if len(text.split()) <= MOST_WORDS else None


def _answer_text(message: Mapping[str, Any]) -> str:
    """The text of an answer, without the tags that wrap it at its end."""
    text = message_text(message).strip()
    wrapped = _WRAPPED.search(text)
    return wrapped[2].strip() if wrapped else text
