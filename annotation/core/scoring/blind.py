"""The blind human: how people, who have seen no suggestion and nobody else's label, do on a release.

Counted are the trajectories that at least two people labelled blind, and of these every such labelling,
pooled: for two people the mean of what either earns. Consensus was made of these same labels, so the figures
are an upper reference for a person, not what one who took no part would earn.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from annotation.core.scoring.counts import COLUMNS, task_sums
from annotation.core.scoring.labels import MISSING, BoolArray, Predictions, ReleasedLabels
from annotation.core.scoring.scores import Scores, of_sums

Readers = npt.NDArray[np.uint8]

FEWEST: Final = 2
VERSION: Final = "readers"
"""Changes with every change of what is packed."""
MOST_READERS: Final = 254
"""Readers beyond this number are kept as one, and compared with nobody."""


def packed_blind(released: ReleasedLabels, records: Iterable[Mapping[str, Any]]) -> bytes:
    """The blind labellings of a release, from its records in order; empty where no trajectory has two."""
    starts = released.starts()
    turns: list[Predictions] = []
    readers: list[Readers] = []
    for place, record in enumerate(records):
        given = record["blind_labels"]
        if len(given) < FEWEST:
            continue
        indexes = released.message_index[starts[place] : starts[place + 1]].tolist()
        for number, one in enumerate(given):
            if number == len(turns):
                turns.append(Predictions.none(released))
                readers.append(np.zeros(released.n_records, dtype=np.uint8))
            said = turns[number]
            labels = [one["step_labels"].get(str(index)) for index in indexes]
            said.steps[starts[place] : starts[place + 1]] = [
                MISSING if label is None else label for label in labels
            ]
            said.outcome[place] = MISSING if one.get("final_label") is None else one["final_label"]
            said.there[place] = True
            readers[number][place] = min(_number(one["annotator"]), MOST_READERS + 1)
    if not turns:
        return b""
    return zlib.compress(b"".join(_fixed(*turn) for turn in zip(turns, readers, strict=True)), 1)


def _number(pseudonym: str) -> int:
    """The number in `annotator-1` … (core.releases.record_format)."""
    return int(pseudonym.rpartition("-")[2])


def _fixed(said: Predictions, readers: Readers) -> bytes:
    return said.steps.astype(np.int8).tobytes() + said.outcome.astype(np.int8).tobytes() + readers.tobytes()


def read_blind(stored: bytes | memoryview | None, released: ReleasedLabels) -> list[Predictions]:
    """The labellings that `packed_blind` made: the first, second … one of every trajectory that has so
    many."""
    if not stored:
        return []
    numbers = np.frombuffer(zlib.decompress(bytes(stored)), dtype=np.int8)
    steps, records = released.n_steps, released.n_records
    rows = numbers.reshape(-1, steps + 2 * records)
    none = np.zeros(records, dtype=bool)
    return [
        Predictions(row[:steps], row[steps : steps + records], row[steps + records :] != 0, none)
        for row in rows
    ]


def read_readers(stored: bytes | memoryview | None, released: ReleasedLabels) -> list[Readers]:
    """The reader of every trajectory in each of these labellings, (R,): the number of their pseudonym, 0 for
    nobody."""
    if not stored:
        return []
    numbers = np.frombuffer(zlib.decompress(bytes(stored)), dtype=np.uint8)
    rows = numbers.reshape(-1, released.n_steps + 2 * released.n_records)
    return list(rows[:, released.n_steps + released.n_records :])


def human_scores(
    released: ReleasedLabels, turns: Sequence[Predictions], chosen: BoolArray
) -> tuple[Scores, int] | None:
    """The figures over the `chosen` records (R,), and of how many labellings they are made; None without one.

    Intervals are over tasks, as those of models; `n` counts every labelling.
    """
    if not turns:
        return None
    mask = chosen & turns[0].there
    if not mask.any():
        return None
    sums = np.zeros((released.n_tasks, COLUMNS))
    labellings = 0
    for said in turns:
        present = mask & said.there
        labellings += int(present.sum())
        if present.any():
            own = task_sums(released.only(present), said.only(released, present))
            sums[np.unique(released.task[present])] += own
    part = released.only(mask)
    pooled = sums[np.unique(released.task[mask])][None]
    return of_sums(part, [turns[0].only(released, mask)], pooled)[0], labellings
