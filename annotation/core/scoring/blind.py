"""The blind human: how people, who have seen no suggestion and nobody else's label, do on a release.

Counted are the trajectories that at least two people labelled blind. Each of them is held against a consensus
made without them: against the labels of each of the others, with those that an adjudicator decided in their
place, who has labelled none of the trajectory. What the reader's own label had a part in (a discussion, a
majority) is no reference. All these comparisons are pooled.

Two such figures stand on either side of what a person earns who took no part in the labels:

- with decisions: too high where two people err alike, because nobody decides what they agree on;
- by the others' labels alone, which is how far people agree: too low, because the error of either counts.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.scoring.labels import MISSING, BoolArray, Predictions, ReleasedLabels
from annotation.core.scoring.question_figures import question_facts
from annotation.core.scoring.scheme import has_questions
from annotation.core.scoring.scores import Scores, of_sums, sums_of
from annotation.core.vocabulary import ConsensusKind

Readers = npt.NDArray[np.uint8]

FEWEST: Final = 2
VERSION: Final = "decided"
"""Changes with every change of what is packed."""
MOST_READERS: Final = 254
"""Readers beyond this number are kept as one, and compared with nobody."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The labels of the consensus that an adjudicator decided: of `steps` (S,), and of each `outcome`
    (R,)."""

    steps: BoolArray
    outcome: BoolArray


@dataclass(frozen=True, slots=True)
class BlindLabellings:
    """The blind labellings of a release: the first, second … one of every trajectory that has so many
    (`turns`), with the `readers` of each, (R,), the numbers of their pseudonyms, 0 for nobody; and what an
    adjudicator decided."""

    turns: list[Predictions]
    readers: list[Readers]
    decided: Decided

    @classmethod
    def none(cls, released: ReleasedLabels) -> BlindLabellings:
        """None at all."""
        steps, outcome = (np.zeros(n, dtype=bool) for n in (released.n_steps, released.n_records))
        return cls([], [], Decided(steps, outcome))

    @classmethod
    def unpacked(cls, packed: bytes | memoryview | None, released: ReleasedLabels) -> BlindLabellings:
        """Those that `packed_blind` made."""
        if not packed:
            return cls.none(released)
        steps, records = released.n_steps, released.n_records
        numbers = np.frombuffer(zlib.decompress(bytes(packed)), dtype=np.int8)
        kinds, rest = numbers[: steps + records], numbers[steps + records :]
        rows = rest.reshape(-1, steps + 2 * records)
        none = np.zeros(records, dtype=bool)
        return cls(
            [
                Predictions(row[:steps], row[steps : steps + records], row[steps + records :] != 0, none)
                for row in rows
            ],
            [row[steps + records :].view(np.uint8) for row in rows],
            Decided(kinds[:steps] != 0, kinds[steps:] != 0),
        )


def packed_blind(released: ReleasedLabels, records: Iterable[Mapping[str, Any]]) -> bytes:
    """The blind labellings of a release (`BlindLabellings.unpacked`), from its records in order; empty where
    no trajectory has two."""
    starts = released.starts()
    turns: list[Predictions] = []
    readers: list[Readers] = []
    decided = BlindLabellings.none(released).decided
    for place, record in enumerate(records):
        given = record["blind_labels"]
        if len(given) < FEWEST:
            continue
        indexes = released.message_index[starts[place] : starts[place + 1]].tolist()
        kinds = [record["step_kinds"][str(index)] for index in indexes]
        decided.steps[starts[place] : starts[place + 1]] = [one == ConsensusKind.ADJUDICATED for one in kinds]
        decided.outcome[place] = record["final_kind"] == ConsensusKind.ADJUDICATED
        for number, one in enumerate(given):
            if number == len(turns):
                turns.append(Predictions.none(released))
                readers.append(np.zeros(released.n_records, dtype=np.uint8))
            predicted = turns[number]
            labels = [one["step_labels"].get(str(index)) for index in indexes]
            predicted.steps[starts[place] : starts[place + 1]] = [
                MISSING if label is None else label for label in labels
            ]
            predicted.outcome[place] = MISSING if one.get("final_label") is None else one["final_label"]
            predicted.there[place] = True
            readers[number][place] = min(_number(one["annotator"]), MOST_READERS + 1)
    if not turns:
        return b""
    rulings = np.concatenate([decided.steps, decided.outcome]).astype(np.int8).tobytes()
    given_by = (_fixed(*turn) for turn in zip(turns, readers, strict=True))
    return zlib.compress(rulings + b"".join(given_by), 1)


def _number(pseudonym: str) -> int:
    """The number in `annotator-1` … (core.releases.record_format)."""
    return int(pseudonym.rpartition("-")[2])


def _fixed(predicted: Predictions, readers: Readers) -> bytes:
    return (
        predicted.steps.astype(np.int8).tobytes()
        + predicted.outcome.astype(np.int8).tobytes()
        + readers.tobytes()
    )


def human_scores(
    released: ReleasedLabels, blind: BlindLabellings, chosen: BoolArray, *, decisions: bool = True
) -> tuple[Scores, int] | None:
    """The figures over the `chosen` records (R,), and of how many labellings they are made; None without one.
    `decisions`: what an adjudicator decided stands in the place of the other's label.

    Each labelling is held against that of every other reader who labelled all of the trajectory. Intervals
    are over tasks, as those of models; `n` counts every comparison. Of questions these are choices, for
    labels of options say nothing of a text.
    """
    if has_questions(released):
        chosen = chosen & question_facts(released).choices
    sums = np.zeros_like(sums_of(released, Predictions.none(released)))
    counted = np.zeros((len(blind.turns), released.n_records), dtype=bool)
    references = [_reference(released, one, blind.decided, decisions) for one in blind.turns]
    for own, other in permutations(range(len(blind.turns)), 2):
        predicted, (reference, complete) = blind.turns[own], references[other]
        present = chosen & predicted.there & complete
        counted[own] |= present
        if present.any():
            earned = sums_of(reference.only(present), predicted.only(released, present))
            sums[np.unique(released.task[present])] += earned
    every = np.logical_or.reduce(counted, axis=0)
    if not every.any():
        return None
    pooled = sums[np.unique(released.task[every])][None]
    scores = of_sums(released.only(every), [blind.turns[0].only(released, every)], pooled)[0]
    return scores, int(counted.sum())


def _reference(
    released: ReleasedLabels, other: Predictions, decided: Decided, decisions: bool
) -> tuple[ReleasedLabels, BoolArray]:
    """The labels that a reader is held against, and the records (R,) of which nothing of it is missing."""
    steps, outcome = other.steps.astype(np.int64), other.outcome.astype(np.int64)
    if decisions:
        steps = np.where(decided.steps, released.value, steps)
        outcome = np.where(decided.outcome, released.outcome, outcome)
    lacking = np.bincount(released.record[steps == MISSING], minlength=released.n_records)
    complete = other.there & (lacking == 0) & (outcome != MISSING)
    return replace(released, value=steps, outcome=outcome), complete
