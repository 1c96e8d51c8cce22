"""The consensus of a release, and what a model predicts of it, as arrays in the order of the release."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.figures import grouping
from annotation.core.figures.measure import IntArray
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.kinds import STEPS, Feature, ProjectKind
from annotation.core.scoring.decisions.facts import DecisionFacts, record_facts
from annotation.core.scoring.decisions.orders import UNREADABLE, Orders
from annotation.core.scoring.questions.worth import SAID, Outputs

Labels = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]

MISSING: Final = 2
"""Stands for a missing label: no label has this value."""

__all__ = ["MISSING", "Predictions", "ReleasedLabels"]

# what a record says of itself besides its labels, as it is kept
_TEXTS: Final = ("record_id", "policy_model")


@dataclass(frozen=True, slots=True)
class ReleasedLabels:
    """A release of R records with S steps together, on T tasks.

    By record, (R,): `record_id` and `policy_model` as text, `subset` (its place in `subsets`), `task`
    (0 … T − 1), `sample` (its sample index), `outcome` (−1, 0, +1). By step, (S,): `record` (0 … R − 1,
    ascending), `message_index`, `value` (−1, 0, +1); the steps of a record stand together, in order. `kind`
    is that of the project, which says what figures there are; `decisions` is None of one of steps.
    """

    subsets: tuple[str, ...]
    record_id: tuple[str, ...]
    policy_model: tuple[str, ...]
    subset: IntArray
    task: IntArray
    sample: IntArray
    outcome: IntArray
    record: IntArray
    message_index: IntArray
    value: IntArray
    kind: ProjectKind = STEPS
    decisions: DecisionFacts | None = None

    @classmethod
    def of(
        cls,
        records: Iterable[Mapping[str, Any]],
        question_of: Callable[[Mapping[str, Any]], Any] | None = None,
    ) -> ReleasedLabels:
        """From the records of a release in order (core.releases.record_format.release_record). A task is
        known by its subset and key, without one by its query index. `question_of`: what is kept of the
        question of a decision (core.releases.scored_questions)."""
        subsets: dict[str, int] = {}
        tasks: dict[tuple[Any, ...], int] = {}
        texts: list[tuple[str, str]] = []
        rows: list[tuple[int, int, int, int]] = []
        steps: list[tuple[int, int, int]] = []
        facts: list[dict[str, Any]] = []
        for number, record in enumerate(records):
            subset = subsets.setdefault(record["subset"], len(subsets))
            key = record.get("task_key")
            task_key = (subset, key) if key is not None else (subset, None, record["query_index"])
            task = tasks.setdefault(task_key, len(tasks))
            texts.append((record["record_id"], record.get("policy_model") or ""))
            rows.append((subset, task, record["sample_index"], record["final_label"]))
            labels = sorted((int(index), value) for index, value in record["step_labels"].items())
            steps.extend((number, index, value) for index, value in labels)
            if (own := record_facts(record, question_of)) is not None:
                facts.append(own)
        by_record = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        by_step = np.array(steps, dtype=np.int64).reshape(-1, 3).T
        made = cls(
            tuple(subsets),
            tuple(one for one, _ in texts),
            tuple(one for _, one in texts),
            *by_record,
            *by_step,
        )
        return replace(made, decisions=DecisionFacts.of(facts)) if facts else made

    @classmethod
    def of_steps(
        cls,
        subset: IntArray,
        task: IntArray,
        record: IntArray,
        value: IntArray,
        message_index: IntArray | None = None,
    ) -> ReleasedLabels:
        """From columns of steps, (S,), record by record and in order; ids are any integers. Of outcomes and
        of samples it knows nothing: they are 0."""
        begins = np.ones(len(record), dtype=bool)
        begins[1:] = record[1:] != record[:-1]
        first = np.flatnonzero(begins)
        subsets, place = grouping.ranks(subset[first])
        return cls(
            tuple(str(one) for one in subsets),
            tuple(str(one) for one in record[first]),
            ("",) * len(first),
            place,
            grouping.ranks(task[first])[1],
            np.zeros_like(first),
            np.zeros_like(first),
            np.cumsum(begins) - 1,
            np.zeros_like(record) if message_index is None else message_index,
            value,
        )

    @property
    def n_records(self) -> int:
        """R."""
        return len(self.outcome)

    @property
    def n_steps(self) -> int:
        """S."""
        return len(self.value)

    @property
    def n_tasks(self) -> int:
        """T."""
        return int(self.task.max()) + 1 if len(self.task) else 0

    @property
    def complete(self) -> bool:
        """Whether it says all that this version makes of the records, and not what an older one kept."""
        return self.decisions is None or self.decisions.questions is not None

    def lengths(self) -> IntArray:
        """The number of steps of each record, (R,)."""
        return np.bincount(self.record, minlength=self.n_records)

    def starts(self) -> IntArray:
        """The place of each record's first step, and after the last one S: (R + 1,)."""
        return np.concatenate([[0], np.cumsum(self.lengths())])

    def positions(self) -> IntArray:
        """The place of each step in its record, from 0: (S,)."""
        return np.arange(self.n_steps) - self.starts()[self.record]

    def subset_of_task(self) -> IntArray:
        """The subset of each task, (T,)."""
        subsets = np.zeros(self.n_tasks, dtype=np.int64)
        subsets[self.task] = self.subset
        return subsets

    def only(self, records: BoolArray) -> ReleasedLabels:
        """A part of the release: those records (R,), with tasks numbered anew."""
        kept = np.flatnonzero(records)
        place = np.full(self.n_records, -1)
        place[kept] = np.arange(len(kept))
        steps = records[self.record]
        return ReleasedLabels(
            self.subsets,
            tuple(self.record_id[at] for at in kept),
            tuple(self.policy_model[at] for at in kept),
            self.subset[kept],
            grouping.ranks(self.task[kept])[1],
            self.sample[kept],
            self.outcome[kept],
            place[self.record[steps]],
            self.message_index[steps],
            self.value[steps],
            self.kind,
            None if self.decisions is None else self.decisions.only(records, steps),
        )

    def joined(self, more: ReleasedLabels) -> ReleasedLabels:
        """These records and then others, which have the same subsets and go on with the numbers of tasks. Of
        decisions nothing is known then but their labels."""
        later = replace(more, record=self.n_records + more.record)
        both: dict[str, Any] = {name: getattr(self, name) + getattr(more, name) for name in _TEXTS}
        for name in _ARRAYS:
            both[name] = np.concatenate([getattr(self, name), getattr(later, name)])
        return replace(self, **both, decisions=None)

    def packed(self) -> bytes:
        """The labels in few bytes, for `unpacked`."""
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        texts = {name: list(getattr(self, name)) for name in ("subsets", *_TEXTS)}
        facts = {} if self.decisions is None else {"decisions": self.decisions.as_json()}
        return zlib.compress(canonical_json({**arrays, **texts, **facts}), 1)

    @classmethod
    def unpacked(cls, packed: bytes) -> ReleasedLabels:
        """The labels that `packed` made."""
        kept = json.loads(zlib.decompress(packed))
        subsets, record_id, policy_model = (tuple(kept[name]) for name in ("subsets", *_TEXTS))
        arrays: dict[str, Any] = {name: np.array(kept[name], dtype=np.int64) for name in _ARRAYS}
        facts = kept.get("decisions")
        decisions = None if facts is None else DecisionFacts.of_json(facts)
        return cls(subsets, record_id, policy_model, **arrays, decisions=decisions)


_ARRAYS: Final = ("subset", "task", "sample", "outcome", "record", "message_index", "value")


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions of a model for a release: `steps` (S,) and `outcome` (R,), MISSING without a label; `there`
    (R,): it was asked about the record; `failed` (R,): its judgement says of itself that it failed. `orders`:
    what it says of decisions otherwise than by labels, and `outputs`: what its outputs about questions are
    worth; None where there are none."""

    steps: Labels
    outcome: Labels
    there: BoolArray
    failed: BoolArray
    orders: Orders | None = None
    outputs: Outputs | None = None

    @classmethod
    def none(cls, released: ReleasedLabels) -> Predictions:
        """The predictions of a model without any label so far."""
        return cls(
            np.full(released.n_steps, MISSING, dtype=np.int8),
            np.full(released.n_records, MISSING, dtype=np.int8),
            np.zeros(released.n_records, dtype=bool),
            np.zeros(released.n_records, dtype=bool),
        )

    @classmethod
    def constant(cls, steps: IntArray, outcome: IntArray) -> Predictions:
        """The predictions of a rule that labels everything."""
        every = np.ones(len(outcome), dtype=bool)
        return cls(steps.astype(np.int8), outcome.astype(np.int8), every, ~every)

    def only(self, released: ReleasedLabels, records: BoolArray) -> Predictions:
        """The predictions for some records (R,) of the release."""
        steps, orders = records[released.record], self.orders
        return Predictions(
            self.steps[steps],
            self.outcome[records],
            self.there[records],
            self.failed[records],
            None if orders is None else Orders(orders.ranks[:, steps], orders.chosen[:, records]),
            None if self.outputs is None else self.outputs.only(records),
        )

    def missing(self, released: ReleasedLabels) -> int:
        """The number of steps without a prediction, of records that the model was asked about and has not
        answered by an output."""
        labelled = self.there if self.outputs is None else self.there & ~self.outputs.has(SAID)
        return int((self.unsaid & labelled[released.record]).sum())

    @property
    def unsaid(self) -> BoolArray:
        """The steps of which nothing can be read, (S,)."""
        nothing: BoolArray = self.steps == MISSING
        return nothing if self.orders is None else nothing & (self.orders.ranks <= UNREADABLE).all(axis=0)

    def joined(self, more: Predictions) -> Predictions:
        """These predictions and then those for other records (ReleasedLabels.joined)."""
        parts = (self, more)
        outputs = None
        if self.outputs is not None or more.outputs is not None:
            outputs = self._outputs().joined(more._outputs())
        made = Predictions(
            np.concatenate([one.steps for one in parts]),
            np.concatenate([one.outcome for one in parts]),
            np.concatenate([one.there for one in parts]),
            np.concatenate([one.failed for one in parts]),
            outputs=outputs,
        )
        if self.orders is None and more.orders is None:
            return made
        both = self._in_orders(more), more._in_orders(self)
        ranks, chosen = (np.hstack([getattr(one, name) for one in both]) for name in ("ranks", "chosen"))
        return replace(made, orders=Orders(ranks, chosen))

    def merged(self, newer: Predictions, records: BoolArray, record: IntArray) -> Predictions:
        """These predictions, with newer ones of some records (R,) in their place; `record` (S,) is that of
        each step."""
        steps = records[record]
        orders = None
        if self.orders is not None or newer.orders is not None:
            new, old = newer._in_orders(self), self._in_orders(newer)
            orders = Orders(np.where(steps, new.ranks, old.ranks), np.where(records, new.chosen, old.chosen))
        outputs = None
        if self.outputs is not None or newer.outputs is not None:
            outputs = self._outputs().merged(newer._outputs(), records)
        return Predictions(
            np.where(steps, newer.steps, self.steps),
            np.where(records, newer.outcome, self.outcome),
            np.where(records, newer.there, self.there),
            np.where(records, newer.failed, self.failed),
            orders,
            outputs,
        )

    def _outputs(self) -> Outputs:
        return Outputs.none(len(self.outcome)) if self.outputs is None else self.outputs

    def _in_orders(self, other: Predictions) -> Orders:
        """Its answers, in as many orders as the other's if that has more."""
        own = Orders.none(len(self.steps), len(self.outcome)) if self.orders is None else self.orders
        return own.wider(max(own.number, 0 if other.orders is None else other.orders.number))

    def packed(self) -> bytes:
        """The predictions in few bytes, for `unpacked`."""
        state = self.there.astype(np.int8) + 2 * self.failed.astype(np.int8)
        if self.outputs is not None:
            state += 4
        arrays = np.concatenate([self.steps, self.outcome, state]).astype(np.int8).tobytes()
        more = b"" if self.outputs is None else self.outputs.packed()
        more += b"" if self.orders is None else self.orders.ranks.tobytes() + self.orders.chosen.tobytes()
        return zlib.compress(arrays + more, 1)

    @classmethod
    def unpacked(cls, packed: bytes, released: ReleasedLabels) -> Predictions:
        """The predictions that `packed` made. ValueError when it is not of this release."""
        every = np.frombuffer(zlib.decompress(packed), dtype=np.int8)
        at, records = released.n_steps, released.n_records
        numbers, more = np.split(every, [at + 2 * records])
        state = numbers[at + records :]
        outputs = None
        if (state >= 4).any():
            kept, more = np.split(more, [Outputs.size(records)])
            outputs = Outputs.unpacked(kept.tobytes(), records)
        fits = released.kind.has(Feature.PAIRS) and len(more) % (at + records) == 0 if len(more) else True
        if len(numbers) != at + 2 * records or not fits:
            raise ValueError("these are not predictions of this release")
        ranks, chosen = np.split(more.view(np.uint8), [len(more) * at // max(at + records, 1)])
        orders = Orders(ranks.reshape(-1, at), chosen.reshape(-1, records)) if len(more) else None
        there, failed = state % 2 == 1, (state & 2) > 0
        return cls(numbers[:at], numbers[at : at + records], there, failed, orders, outputs)


def always_plus(released: ReleasedLabels) -> Predictions:
    """The baseline that says +1 of everything."""
    return Predictions.constant(np.ones_like(released.value), np.ones_like(released.outcome))


def majority(released: ReleasedLabels) -> Predictions:
    """The baseline that says of every step what most steps of the subset are, and of outcomes likewise; of
    labels that are equally frequent the higher one."""
    commonest = _commonest(released.subset[released.record], released.value, len(released.subsets))
    outcomes = _commonest(released.subset, released.outcome, len(released.subsets))
    return Predictions.constant(commonest[released.subset[released.record]], outcomes[released.subset])


def _commonest(group: IntArray, value: IntArray, n_groups: int) -> IntArray:
    counts = np.bincount(group * 3 + (value + 1), minlength=3 * n_groups).reshape(n_groups, 3)
    commonest: IntArray = 1 - np.argmax(counts[:, ::-1], axis=1)
    return commonest


def aligned(given: Mapping[int, int | None], indexes: Sequence[int]) -> tuple[list[int], list[int]]:
    """A line's labels by message index, held against a record's steps: the values in their order, MISSING
    where there is none; and the message indexes that are no step."""
    values = [MISSING if value is None else value for value in map(given.get, indexes)]
    return values, sorted(given.keys() - indexes)
