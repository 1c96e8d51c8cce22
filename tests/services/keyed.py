"""Ways to bring a project to where it has training trajectories with keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.models import Assignment, Project, Subset, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import label, training
from tests.people import claim, import_records, label_all, make_record

KEYS: Sequence[Sequence[int]] = ((1, 1), (1, -1), (-1, -1), (1, 1))


def keyed_items(
    project: Project, keys: Sequence[Sequence[int]] = KEYS, *, subset: str = "lessons"
) -> list[Trajectory]:
    """Training trajectories with these labels of their steps as keys; the outcome's is the last one's."""
    records = [
        make_record(
            query,
            steps=len(key),
            step_labels={str(2 + 2 * at): value for at, value in enumerate(key)},
            final_label=key[-1],
        )
        for query, key in enumerate(keys, start=900)
    ]
    import_records(project, records, subset=subset)
    training.mark_training(actor=OPERATOR, subset=Subset.objects.get(project=project, name=subset))
    rows = Trajectory.objects.filter(project=project, subset__name=subset, training=True)
    return list(rows.order_by("query_index"))


def make_tutorial(project: Project, count: int = 2) -> list[Trajectory]:
    """A tutorial of so many items."""
    items = keyed_items(project, KEYS[:count])
    training.set_tutorial(actor=OPERATOR, project=project, trajectories=items)
    return items


def sit(user: User, project: Project, labels: Mapping[int, Sequence[int]]) -> Assignment:
    """Claim the next, give it these labels by its pk, and submit it; the outcome is that of the last step."""
    assignment = claim(user, project)
    values = labels[assignment.trajectory_id]
    label_all(assignment, values, outcome=values[-1])
    return label.submit(actor=user, assignment=assignment)
