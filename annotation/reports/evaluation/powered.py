"""The material of prediction-powered figures: a release's unlabelled part, and what judges say of all of it.

Judges are heard as they were when the release was frozen: what they suggest later changes no figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from annotation.core.scoring import ReleasedLabels
from annotation.core.scoring.prediction_powered import SoftSums
from annotation.core.scoring.stack import JudgeLabels, Stack, stack
from annotation.core.text import unescape
from annotation.models import Judge, PredictionSet, Release, Step, Trajectory

from ..judging.stack import labels_of
from ..releases.unlabelled_part import asked_about, stacked_judges
from ..shared.frozen_trajectories import frozen_trajectories
from ..shared.integer_rows import Integers, integer_rows
from ..shared.release_labels import predictions_of_both


@dataclass(frozen=True, slots=True)
class BothParts:
    """A release and its unlabelled part: the `place` of each trajectory (pk) among the records of both, and
    all steps of the project, (n, 3): trajectory, message index, pk."""

    released: ReleasedLabels
    unlabelled: ReleasedLabels
    place: dict[int, int]
    steps: Integers

    @property
    def joined(self) -> ReleasedLabels:
        """Both."""
        return self.released.joined(self.unlabelled)


def both_parts(release: Release, released: ReleasedLabels) -> BothParts:
    """A release and the part that its manifest names, without a label of the latter. Two queries and those of
    `frozen_trajectories`; none where there is no such part."""
    subsets = (release.parsed_manifest().get("unlabelled") or {}).get("subsets", {})
    named = {(subset, name) for subset, names in subsets.items() for name in names}
    if not named:
        empty = released.only(np.zeros(released.n_records, dtype=bool))
        return BothParts(released, empty, {}, np.zeros((0, 3), dtype=np.int64))
    frozen = frozen_trajectories(release).place
    # what came after the release, in the place of one of these trajectories, is another one
    there = Trajectory.objects.filter(project=release.project_id, source__finished_at__lt=release.created_at)
    columns = ("pk", "task", "subset__name", "record_id")
    tasks: dict[int, int] = {}
    located: dict[tuple[str, str], tuple[int, int]] = {}
    for pk, task, subset, name in there.order_by("pk").values_list(*columns).iterator():
        if pk in frozen:
            tasks[task] = int(released.task[frozen[pk]])
        elif (subset, unescape(name)) in named:
            located[subset, unescape(name)] = (pk, task)
    for _pk, task in located.values():
        tasks.setdefault(task, max(released.n_tasks, max(tasks.values(), default=-1) + 1))
    order = {pk: at for at, (pk, _task) in enumerate(located.values())}
    rows = Step.objects.filter(trajectory__project=release.project_id).order_by("trajectory", "message_index")
    steps = integer_rows(rows.values_list("trajectory", "message_index", "pk"), 3)
    own = np.array([order.get(pk, -1) for pk in steps[:, 0].tolist()], dtype=np.int64)
    # record by record, in the order in which they are named
    chosen = np.flatnonzero(own >= 0)[np.argsort(own[own >= 0], kind="stable")]
    none = np.zeros(len(located), dtype=np.int64)
    part = ReleasedLabels(
        released.subsets,
        tuple(name for _subset, name in located),
        ("",) * len(located),
        np.array([released.subsets.index(subset) for subset, _name in located], dtype=np.int64),
        np.array([tasks[task] for _pk, task in located.values()], dtype=np.int64),
        none,
        none,
        own[chosen],
        steps[chosen, 1],
        np.zeros(len(chosen), dtype=np.int64),
        released.kind,
    )
    place = frozen | {pk: released.n_records + at for pk, at in order.items()}
    return BothParts(released, part, place, steps)


def soft_sums(release: Release, parts: BothParts, rows: list[PredictionSet]) -> Iterator[SoftSums | None]:
    """The sums of each set under the stack of judges, without those that the set is of; None where it does
    not predict all of both parts, or where fewer than two judges are left, or those tell nothing."""
    both = parts.joined
    judges = _judges(release, parts, both) if parts.unlabelled.n_records else {}
    labelled = np.arange(both.n_records) < parts.released.n_records
    made: dict[frozenset[int], Stack | None] = {}
    for row in rows:
        predicted = predictions_of_both(parts.released, parts.unlabelled, row)
        others = frozenset(judge.pk for judge in judges if not _is_of(row, judge))
        if not predicted.there.all() or not parts.unlabelled.n_records:
            yield None
            continue
        if others not in made:
            voices = [labels for judge, labels in judges.items() if judge.pk in others]
            made[others] = stack(both, voices, labelled)
        together = made[others]
        heard = together is not None and together.tells
        yield (
            SoftSums.of(parts.released, parts.unlabelled, predicted, together) if heard and together else None
        )


def _is_of(row: PredictionSet, judge: Judge) -> bool:
    """Whether a set is a judge's: by its origin, or by its name or its model's."""
    return row.judge_id == judge.pk or row.model in {judge.name, judge.model} - {""}


def _judges(release: Release, parts: BothParts, both: ReleasedLabels) -> dict[Judge, JudgeLabels]:
    """The judges that were asked about everything in both parts by when the release was frozen."""
    of_step = {
        (int(record), int(index)): at
        for at, (record, index) in enumerate(zip(both.record, both.message_index, strict=True))
    }
    step_place = {}
    for trajectory, index, pk in parts.steps.tolist():
        at = of_step.get((parts.place.get(trajectory, -1), index))
        if at is not None:
            step_place[pk] = at
    by_judge = {}
    for judge in stacked_judges(release.project_id):
        asked = asked_about(judge, release.created_at)
        if len({parts.place[pk] for pk in asked if pk in parts.place}) == both.n_records:
            by_judge[judge] = labels_of(judge.pk, both, parts.place, step_place, until=release.created_at)
    return by_judge
