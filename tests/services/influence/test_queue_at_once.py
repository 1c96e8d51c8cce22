"""Triage and the switching of the experiment while people claim and label; real threads, a real database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from annotation.core.errors import Conflict
from annotation.models import Allocation, Assignment, AuditEvent, Project, Trajectory, User
from annotation.policies import OPERATOR
from annotation.services import assign, label, projects
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.services.together import annotators, refused, succeeded, together, until_nothing_is_left
from tests.suggesting import suggest

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def prepared(how_many: int, how_many_people: int) -> tuple[Project, list[User]]:
    """Trajectories that two judges contest more and more, and people to label them."""
    project = people.make_project()
    users = annotators(project, how_many_people)
    rows = people.import_records(project, how_many)
    judges = [make_imported_judge(project, name) for name in ("one", "other")]
    for number, row in enumerate(rows):
        suggest(judges[0], row, 1)
        suggest(judges[1], row, [1 if number < 5 else -1, 1 if number < 8 else -1])
    return project, users


def test_claiming_goes_on_while_the_queue_is_triaged_and_brought_back() -> None:
    project, users = prepared(12, 4)
    places = sorted(Trajectory.objects.values_list("position", flat=True))

    results = together(
        *(until_nothing_is_left(user, project) for user in users),
        *(
            lambda seed=seed: projects.triage(actor=OPERATOR, project=project, batch_size=3, seed=seed)
            for seed in range(3)
        ),
        lambda: projects.undo_triage(actor=OPERATOR, project=project),
    )

    assert refused(results) == [] and sum(results[:4]) == 24
    assert set(Counter(Assignment.objects.values_list("trajectory", flat=True)).values()) == {2}
    assert sorted(Trajectory.objects.values_list("position", flat=True)) == places
    assert AuditEvent.objects.filter(verb__startswith="queue.").count() == 4


def test_experiment_switched_while_people_label_is_on_before_the_first_label_or_refused() -> None:
    project, users = prepared(8, 4)

    def labels(user: User) -> Callable[[], int]:
        def claim_and_label() -> int:
            assignment = assign.claim_next(actor=user, project=project)
            step = people.step_indexes(assignment.trajectory_id)[0]
            label.save_labels(
                actor=user, assignment=assignment, op_id=people.op_id(), changes=[people.change(step, 1)]
            )
            return 1

        return claim_and_label

    results = together(
        *(labels(user) for user in users),
        *(lambda: projects.randomise(actor=OPERATOR, project=project) for _number in range(4)),
    )

    assert refused(results[:4]) == []
    assert set(refused(results[4:])) <= {"experiment_locked"}
    done = len(succeeded(results[4:]))
    log = AuditEvent.objects.filter(verb="experiment.start").order_by("pk")
    assert log.count() == done
    last = log.last()
    seed = Project.objects.get(pk=project.pk).experiment_seed
    assert seed == (last.detail["seed"] if last is not None else None)
    with pytest.raises(Conflict):
        projects.randomise(actor=OPERATOR, project=project)


def test_arms_dealt_to_many_at_once_are_dealt_once_and_differ_beside_each_other() -> None:
    """Six people claim two runs of each of four tasks: every unit has one arm, and no arm is dealt on a task
    again before all have been dealt."""
    project = people.make_project()
    users = annotators(project, 6)
    people.import_records(
        project, [people.make_record(query, sample) for query in range(4) for sample in (0, 1)]
    )
    projects.randomise(actor=OPERATOR, project=project, seed=7)

    results = together(*(until_nothing_is_left(user, project) for user in users))

    assert refused(results) == [] and sum(results) == 16
    turns = Assignment.objects.values_list("trajectory", "trajectory__task", "annotator")
    dealt = {
        (task, who): arm for task, who, arm in Allocation.objects.values_list("task", "annotator", "arm")
    }
    assert set(dealt) == {(task, who) for _run, task, who in turns}
    for task in {task for task, _who in dealt}:
        counted = Counter(arm for (of, _who), arm in dealt.items() if of == task)
        assert max(counted.values()) <= 2 and len(counted) == min(3, counted.total())
