"""Derive decisions from the trajectories of a release: where runs part, and where each goes wrong first.

`shared`: the distinct actions at a history that several runs have, if their labels differ.
`first-error`: the first −1 of each run, the +1 actions at the same history, and the corrections of people.
An error of which a correction says that nothing was wrong is no option, and a history at which one says that
no action would have been right is no item.

An action whose label at its history is not one and its own is left out and counted: runs with the same
history and action have unlike labels, its −1 is the consequence of another step, or the response before it is
the agent's too.

The records are read twice. Between the two 26 bytes are kept of each step, and never a message: histories are
told by 64 bits of their digest, of which 10⁶ collide with a chance of 3 in 10⁸.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..jsonio.canonical import sha256_hex
from ..releases.exports.formats.protocols import INDEPENDENT, step_values
from ..trajectories.messages import RESPONSES, as_in_chat, normalise
from .corrections import Corrected, CorrectionAnswer
from .equality import history_digests, message_digest
from .recipes import DerivedCounts, Recipe
from .record import Decision, Option, OptionOrigin, option_digest, shown_message

ReleaseRecord = Mapping[str, Any]
Address = tuple[str, str, int]
"""A step of a release: subset, record id, message index."""

_OUT: Final = 2
"""In place of a label: the step cannot be an option."""
_ANSWERS: Final = tuple(CorrectionAnswer)
_NONE: Final = -1


@dataclass(slots=True)
class Columns:
    """The steps of all records, column by column: history and action by 64 bits of their digest, label,
    number of the record, message index, whether it is its run's first −1, and what its correction answers, by
    the number in `_ANSWERS`. `corrected`: where there is one."""

    history: array[int] = field(default_factory=lambda: array("Q"))
    action: array[int] = field(default_factory=lambda: array("Q"))
    label: array[int] = field(default_factory=lambda: array("b"))
    run: array[int] = field(default_factory=lambda: array("L"))
    step: array[int] = field(default_factory=lambda: array("L"))
    first: array[int] = field(default_factory=lambda: array("b"))
    answer: array[int] = field(default_factory=lambda: array("b"))
    corrected: set[Address] = field(default_factory=set)


@dataclass(slots=True)
class _Item:
    """A decision to be made. `options`: key by action, the wrong ones and the right ones; `missing`: steps of
    these that have not been met yet; `found`: messages, sources and reasons by action."""

    options: dict[int, int]
    missing: int
    found: dict[int, tuple[dict[str, Any], list[dict[str, Any]], str]] = field(default_factory=dict)
    written: list[Option] = field(default_factory=list)


class Derivation:
    """Decisions derived from the records that `read` gives, each time the same ones in the same order.

    `most`: of an item at most so many options are kept, one better and one worse among them, drawn with
    `seed`. `corrections` are of first errors, by the address of these; others play no part. `counts` is right
    once `decisions` has been read to its end.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[ReleaseRecord]],
        recipe: Recipe,
        *,
        seed: int = 0,
        most: int | None = None,
        corrections: Mapping[Address, Corrected] | None = None,
    ) -> None:
        self.counts = DerivedCounts()
        self._read = read
        self._recipe = recipe
        self._seed = seed
        self._most = most
        self._corrections = corrections or {}
        self._corrected: set[Address] = set()

    def decisions(self) -> Iterator[Decision]:
        """The decisions, in the order of the last run of each. Needs the messages of those only that are
        begun."""
        wanted: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        items: dict[int, _Item] = {}
        for history, actions, places in self._chosen():
            items[history] = _Item(actions, sum(map(len, places.values())))
            for action, steps in places.items():
                for run, step in steps:
                    wanted[run].append((step, history, action))
        tasks = set()
        for run, record in enumerate(self._read()):
            for step, history, action in sorted(wanted.pop(run, ())):
                item = items[history]
                self._take(item, record, step, action)
                if item.missing:
                    continue
                del items[history]
                decision = self._decision(item, record, step)
                if decision is None:
                    continue
                tasks.add((record["subset"], decision.task_key))
                self.counts.items += 1
                self.counts.pairs += sum(
                    better.key > worse.key  # type: ignore[operator]
                    for better in decision.options
                    for worse in decision.options
                )
                yield decision
        self.counts.tasks = len(tasks)

    def _chosen(self) -> Iterator[tuple[int, dict[int, int], dict[int, list[tuple[int, int]]]]]:
        """Each history that may become an item: its identity, the key of each option, and the steps of
        each."""
        columns = columns_of(self._read(), self._corrections)
        self._corrected = columns.corrected
        history, action, label, run, step, first, answer = (
            np.frombuffer(getattr(columns, name), dtype=kind)
            for name, kind in (
                ("history", np.uint64),
                ("action", np.uint64),
                ("label", np.int8),
                ("run", np.dtype(f"u{columns.run.itemsize}")),
                ("step", np.dtype(f"u{columns.step.itemsize}")),
                ("first", np.int8),
                ("answer", np.int8),
            )
        )
        order = np.lexsort((step, run, action, history))
        starts = (
            np.flatnonzero(np.r_[True, np.diff(history[order]) != 0]) if len(order) else np.empty(0, np.intp)
        )
        ends = np.r_[starts[1:], len(order)] if len(starts) else starts
        of_errors = self._recipe is Recipe.FIRST_ERROR
        counts = self.counts
        for begin, end in zip(starts.tolist(), ends.tolist(), strict=True):
            rows = order[begin:end]
            errors = int(first[rows].sum())
            several = end - begin > 1 and len(np.unique(run[rows])) > 1
            counts.histories += bool(errors) if of_errors else 1
            counts.shared += several
            counts.first_errors += errors
            if not (errors if of_errors else several):
                continue
            steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
            labels: dict[int, set[int]] = defaultdict(set)
            wrong_first: set[int] = set()
            for row in rows.tolist():
                what = int(action[row])
                steps[what].append((int(run[row]), int(step[row])))
                labels[what].add(int(label[row]))
                if first[row]:
                    wrong_first.add(what)
            keys = {
                what: next(iter(answers))
                for what, answers in labels.items()
                if len(answers) == 1 and _OUT not in answers
            }
            counts.left_out += len(labels) - len(keys)
            if of_errors:
                counts.with_sibling += errors if any(key == 1 for key in keys.values()) else 0
                answers = [(int(action[row]), _ANSWERS[answer[row]]) for row in rows if answer[row] != _NONE]
                wrong_first = self._still_wrong(wrong_first, answers)
                keys = {what: key for what, key in keys.items() if key == 1 or what in wrong_first}
            elif len(set(keys.values())) < 2:
                continue
            if not of_errors or any(what in keys for what in wrong_first):
                identity = int(history[rows[0]])
                keys = self._drawn(identity, keys)
                yield identity, keys, {what: steps[what] for what in keys}

    def _still_wrong(self, wrong: set[int], given: list[tuple[int, CorrectionAnswer]]) -> set[int]:
        """The wrong actions at a history that corrections leave as they are; `given` are these, counted
        here."""
        answers = Counter(answer for _, answer in given)
        self.counts.corrected += answers[CorrectionAnswer.ACTION]
        self.counts.nothing_wrong += answers[CorrectionAnswer.NOTHING_WRONG]
        self.counts.no_right_action += answers[CorrectionAnswer.NO_RIGHT_ACTION]
        if answers[CorrectionAnswer.NO_RIGHT_ACTION]:
            return set()
        return wrong - {what for what, answer in given if answer is CorrectionAnswer.NOTHING_WRONG}

    def _drawn(self, identity: int, keys: dict[int, int]) -> dict[int, int]:
        """At most so many options, the best and the worst among them when their labels differ."""
        if self._most is None or len(keys) <= self._most:
            return keys

        def chance(what: int) -> bytes:
            return hashlib.sha256(f"{self._seed}\n{identity}\n{what}".encode()).digest()

        drawn = sorted(keys, key=chance)
        best = next(what for what in drawn if keys[what] == max(keys.values()))
        worst = next(what for what in reversed(drawn) if keys[what] == min(keys.values()))
        ends = list(dict.fromkeys((best, worst)))
        rest = [what for what in drawn if what not in ends]
        return {what: keys[what] for what in [*ends, *rest][: self._most]}

    def _few(self, options: list[Option]) -> list[Option]:
        """At most so many options, now that those are among them which somebody wrote."""
        keys = {int.from_bytes(option_digest(one.message)[:8], "big"): one.key or 0 for one in options}
        kept = self._drawn(0, keys)
        return [one for one, what in zip(options, keys, strict=True) if what in kept]

    def _take(self, item: _Item, record: ReleaseRecord, step: int, action: int) -> None:
        """Note one step that does what an option does."""
        source = {
            "subset": record["subset"],
            "record_id": record["record_id"],
            "step": step,
            "policy_model": record.get("policy_model") or "",
        }
        if action not in item.found:
            reason = (record.get("step_reasons") or {}).get(str(step)) or ""
            item.found[action] = shown_message(record["messages"][step]), [], reason
        item.found[action][1].append(source)
        address = (record["subset"], record["record_id"], step)
        if address in self._corrected and (option := self._corrections[address].option) is not None:
            item.written.append(option)
        item.missing -= 1

    def _decision(self, item: _Item, record: ReleaseRecord, step: int) -> Decision | None:
        """The decision of an item of which everything has been met; None without anything right."""
        options = [
            Option(message, item.options[action], OptionOrigin.STEP, {"steps": steps}, reason)
            for action, (message, steps, reason) in item.found.items()
        ]
        met = {option_digest(option.message): option.key for option in options}
        for option in item.written:
            digest = option_digest(option.message)
            if digest not in met:
                met[digest] = option.key
                options.append(option)
            elif met[digest] != option.key:
                self.counts.left_out += 1
        options = self._few(options)
        if len({option.key for option in options}) < 2:
            self.counts.uncorrected += 1
            return None
        return Decision(
            question=record.get("question") or "",
            tools=record.get("tools") or [],
            history=as_in_chat(record["messages"][:step]),
            options=options,
            task_key=record.get("task_key") or sha256_hex(str(record["record_id"]).encode()),
            data_source=record.get("data_source") or "",
            about={"recipe": str(self._recipe), "subset": record["subset"]},
        )


def columns_of(records: Iterable[ReleaseRecord], corrections: Mapping[Address, Corrected]) -> Columns:
    columns = Columns()
    for run, record in enumerate(records):
        messages = normalise(record["messages"])
        labels = step_values(record, INDEPENDENT)
        actions = list(map(message_digest, messages))
        histories = history_digests(record.get("question") or "", record.get("tools") or [], actions)
        wrong = False
        for message, action, history in zip(messages, actions, histories, strict=False):
            if message.role != "assistant":
                continue
            label = labels.get(message.index)
            follows = message.index > 0 and messages[message.index - 1].role in RESPONSES
            columns.history.append(int.from_bytes(history[:8], "big"))
            columns.action.append(int.from_bytes(action[:8], "big"))
            columns.label.append(_OUT if label is None or follows else label)
            columns.run.append(run)
            columns.step.append(message.index)
            first = label == -1 and not wrong
            address = (record["subset"], record["record_id"], message.index)
            corrected = corrections.get(address) if first else None
            columns.first.append(first)
            columns.answer.append(_NONE if corrected is None else _ANSWERS.index(corrected.answer))
            if corrected is not None:
                columns.corrected.add(address)
            wrong = wrong or label == -1
    return columns
