"""Published trajectories as steps: what people say of each, and what judges say. `bench.influence` draws its
experiments from them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from annotation.core.influence.effects import IntArray
from annotation.core.influence.experiment_effects import MISSING
from annotation.core.label_files import read_label_lines


@dataclass(frozen=True, slots=True)
class World:
    """Steps in the order of the queue: `trajectory` and `task` (n,) from 0, `label` (n,) what people say,
    `said` (J + 1, n) what each judge says and, last, most of them; MISSING where none does."""

    trajectory: IntArray
    task: IntArray
    label: IntArray
    said: IntArray

    @property
    def n_tasks(self) -> int:
        return int(self.task.max()) + 1

    @property
    def of_trajectory(self) -> list[int]:
        """The task of each trajectory."""
        found: list[int] = self.task[np.unique(self.trajectory, return_index=True)[1]].tolist()
        return found

    def of_judges(self, judges: int) -> World:
        """The same world with only the first so many of its judges."""
        said = self.said[:judges]
        most = [_most(column) for column in said.T.tolist()]
        return World(self.trajectory, self.task, self.label, np.vstack([said, most]))

    def drawn(self, tasks: int, rng: np.random.Generator) -> World:
        """So many tasks of this world, with replacement."""
        chosen = rng.integers(self.n_tasks, size=tasks)
        rows = [np.flatnonzero(self.task == one) for one in range(self.n_tasks)]
        at = np.concatenate([rows[one] for one in chosen])
        task = np.repeat(np.arange(tasks), [len(rows[one]) for one in chosen])
        runs = int(self.trajectory.max()) + 1
        trajectory = np.unique(task * runs + self.trajectory[at], return_inverse=True)[1]
        return World(trajectory, task, self.label[at], self.said[:, at])


def read(trajectories: Path, predictions: list[Path]) -> World:
    """The published trajectories and judges; a judge's step that failed is missing."""
    answers = []
    for path in predictions:
        with path.open("rb") as stream:
            answers.append(read_label_lines(stream, path.name).lines)
    tasks: dict[Any, int] = {}
    rows: list[tuple[int, ...]] = []
    for at, line in enumerate(trajectories.read_bytes().splitlines()):
        record = json.loads(line)
        name = ":".join(str(record[key]) for key in ("data_source", "query_index", "sample_index"))
        task = tasks.setdefault(record["query_index"], len(tasks))
        for index, value in record["step_labels"].items():
            found = [one[name].step_labels.get(int(index)) if name in one else None for one in answers]
            said = [MISSING if one is None else one for one in found]
            rows.append((at, task, value, *said, _most(said)))
    table = np.array(rows, dtype=np.int64).T
    return World(table[0], table[1], table[2], table[3:])


def _most(said: list[int]) -> int:
    counted = Counter(one for one in said if one != MISSING).most_common(2)
    if not counted or (len(counted) == 2 and counted[0][1] == counted[1][1]):
        return MISSING
    return counted[0][0]
