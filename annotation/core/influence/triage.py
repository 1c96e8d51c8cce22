"""Triage: which trajectories judges contest, and an order of the queue that puts those first.

Pure functions. People's time is best spent where judges disagree; but an order by disagreement would tell an
annotator, before they look, what is hard. So the order is one of batches, and chance rules within a batch.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from annotation.core.figures.measure import IntArray

Key = TypeVar("Key", bound=Hashable)

BATCH: Final = 25
MAX_BATCH: Final = 1_000
ENOUGH_JUDGES: Final = 2


def contested(judges: Sequence[Mapping[int, int | None]], outcomes: Sequence[int | None]) -> float | None:
    """The disagreement of judges about one trajectory, 0 … 1; None unless at least two labelled something of
    it.

    `judges` holds each judge's labels by step, `outcomes` its outcome; None stands for what it did not say.
    The score is the share of units without unanimity. Units are the steps, and the outcome, that at least two
    judges labelled; two judges who never label the same unit give None, since nothing can be compared.
    """
    steps = {step for labels in judges for step in labels}
    units = [[labels.get(step) for labels in judges] for step in sorted(steps)]
    units.append(list(outcomes))
    compared = differing = 0
    for unit in units:
        given = [value for value in unit if value is not None]
        if len(given) >= ENOUGH_JUDGES:
            compared += 1
            differing += len(set(given)) > 1
    return differing / compared if compared else None


def triaged(scores: Iterable[tuple[Key, float | None]], *, batch_size: int, seed: int) -> list[Key]:
    """The new order of the queue: batches of the most contested first, shuffled within each batch.

    `scores` come in an order of chance, which breaks ties. Trajectories without a score (fewer than two
    judges) come last. The batches are cut from the whole line, whatever the score: the last contested and the
    first unanimous ones share a batch. With one seed the same scores give the same order. Raises ValueError
    for a batch size below 1.
    """
    if batch_size < 1:
        raise ValueError("a batch has at least one trajectory")
    line = sorted(scores, key=lambda one: (one[1] is None, -(one[1] or 0.0)))
    rng = random.Random(seed)
    order: list[Key] = []
    for start in range(0, len(line), batch_size):
        batch = [key for key, _score in line[start : start + batch_size]]
        rng.shuffle(batch)
        order += batch
    return order


def share_found_early(places: IntArray, n: int, part: float) -> float | None:
    """The share of `places` (k,), from 0 on, in the first `part` (0 … 1) of an order of `n`; None of none.

    Where the cut falls within a trajectory, that one counts by the share of it before the cut; so an order
    that knows nothing finds `part` in expectation, also in short queues.
    """
    if not len(places):
        return None
    return float(np.clip(part * n - places, 0.0, 1.0).sum() / len(places))
