"""A small project of an older experiment, which dealt tasks to its arms, in which we know who saw what, and
what they did then."""

from __future__ import annotations

from annotation.core.influence.experiment import arm_of
from annotation.models import Assignment, Project, Trajectory, User
from annotation.services import assign, label
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, change, import_records, op_id, step_indexes
from tests.suggesting import suggest

SEED = 7


def fill(cast: Cast, *, seed: int | None = SEED) -> dict[str, list[Trajectory]]:
    """One trajectory (of two steps) of each of ten tasks, by arm; two judges say −1 of all, one says +1."""
    rows = import_records(cast.project, 10)
    for name, value in (("severe", -1), ("strict", -1), ("kind", 1)):
        judge = make_imported_judge(cast.project, name)
        for row in rows:
            suggest(judge, row, value, outcome=value)
    if seed is not None:
        Project.objects.filter(pk=cast.project.pk).update(experiment_seed=seed, experiment_unit="task")
    arms: dict[str, list[Trajectory]] = {"sealed": [], "after_label": [], "always": []}
    for row in rows:
        arms[arm_of(SEED, "tiny", row.task.key).value].append(row)
    assert all(arms.values())
    return arms


def judge_it(
    user: User,
    trajectory: Trajectory,
    values: tuple[int, int],
    *,
    then: tuple[int, int] | None = None,
    look_first: bool = False,
) -> None:
    """Label both steps and the outcome (+1); look at the suggestions before it or, with `then`, after it, and
    change the labels to `then`; submit."""
    assignment = assign.claim_this(actor=user, trajectory=Trajectory.objects.get(pk=trajectory.pk))
    if look_first:
        label.reveal(actor=user, assignment=assignment, everything=True)
    _save(assignment, values)
    if then is not None:
        label.reveal(actor=user, assignment=assignment, everything=True)
        _save(assignment, then, version=1)
    label.submit(actor=user, assignment=assignment)


def _save(assignment: Assignment, values: tuple[int, int], version: int = 0) -> None:
    indexes = step_indexes(assignment.trajectory_id)
    changes = [change(index, value, version=version) for index, value in zip(indexes, values, strict=True)]
    answer = label.save_labels(
        actor=assignment.annotator,
        assignment=assignment,
        op_id=op_id(),
        changes=[*changes, *([change(None, 1)] if version == 0 else [])],
    )
    assert all(result["status"] == "saved" for result in answer["results"]), answer


def label_all_of_it(cast: Cast, arms: dict[str, list[Trajectory]]) -> None:
    """sealed: they differ on one of two steps. after_label: the same, then ann follows the judges on it.
    always: both say −1 throughout."""
    for row in arms["sealed"]:
        judge_it(cast.ann, row, (1, 1))
        judge_it(cast.ben, row, (1, -1))
    for row in arms["after_label"]:
        judge_it(cast.ann, row, (1, 1), then=(1, -1))
        judge_it(cast.ben, row, (1, -1), then=(1, -1))
    for row in arms["always"]:
        for user in (cast.ann, cast.ben):
            judge_it(user, row, (-1, -1), look_first=True)
