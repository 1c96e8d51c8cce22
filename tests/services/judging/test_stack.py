"""The project's stacked judges: which trajectories they find doubtful, for drawing audits."""

from __future__ import annotations

import pytest

from annotation.core.scoring import MISSING
from annotation.models import Judge, Trajectory
from annotation.reports.judging.stack import expected_wrong, material
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast
from tests.suggesting import suggest as suggests

pytestmark = pytest.mark.postgres


def judges(cast: Cast, rows: list[Trajectory], doubted: int) -> list[Judge]:
    """Two judges that say −1 where the tool reported an error, and of one trajectory everywhere."""
    found = [make_imported_judge(cast.project, name) for name in ("first canary", "second canary")]
    for row in rows:
        said = [-1] * 3 if row.pk == doubted else [1, -1 if row.sample_index else 1, 1]
        for judge in found:
            suggests(judge, row, said)
    return found


def test_trajectories_that_judges_contradict_are_expected_to_hold_wrong_labels(
    cast: Cast, resolved_tasks: list[Trajectory]
) -> None:
    doubted = resolved_tasks[4].pk
    judges(cast, resolved_tasks, doubted)
    found = expected_wrong(cast.project)
    assert found.keys() == {row.pk for row in resolved_tasks[:20]}, "the resolved ones"
    assert max(found, key=lambda pk: found[pk]) == doubted
    assert 0 < sum(found.values()) < 60


def test_unresolved_trajectories_are_material_without_a_label_of_theirs(
    cast: Cast, resolved_tasks: list[Trajectory]
) -> None:
    judges(cast, resolved_tasks, 0)
    data = material(cast.project)
    assert data.trajectory.tolist() == [row.pk for row in resolved_tasks]
    assert data.labelled.tolist() == [True] * 20 + [False] * 2
    unlabelled = ~data.labelled[data.known.record]
    assert (data.known.value[unlabelled] == MISSING).all() and len(data.judges) == 2
    assert [one.predicted.steps[unlabelled].tolist() for one in data.judges.values()] == [[1, -1, 1] * 2] * 2


def test_one_judge_is_no_stack(cast: Cast, resolved_tasks: list[Trajectory]) -> None:
    judges(cast, resolved_tasks, 0)[0].delete()
    assert expected_wrong(cast.project) == {}
