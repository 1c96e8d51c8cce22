"""Deal people to the arms of a project's experiment as they claim trajectories."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count

from annotation.core.influence.experiment import Arm, arms_of, deal
from annotation.models import ACTIVE_STATES, Allocation, Assignment, Project, Task
from annotation.models.prepared import Prepared
from annotation.policies import deals_people


def deal_for_claim(made: Assignment, *, now: datetime) -> None:
    """Deal an arm to whoever has just claimed a trajectory, unless they have one on its task already, or
    nothing is randomised. One query without an experiment, two when they have one, at most six.

    The assignment is in the database: it holds a share of the project's row, so that an experiment that is
    switched on meanwhile finds it. Two who claim runs of one task at once take turns by the task's row.
    """
    [project] = _experiment(project=made.project_id)
    if deals_people(project):
        _deal(project, made, now)


_experiment = Prepared(
    lambda project: (
        Project.objects.filter(pk=project)
        .order_by()
        .only("experiment_seed", "experiment_unit", "experiment_arms")
    ),
    "project",
)


def deal_again(project: Project, *, now: datetime) -> None:
    """Take away all arms of a project and, where people are dealt, deal anew to everybody who has claimed
    anything, in the order of the claims. The caller holds the project's row."""
    Allocation.objects.filter(task__subset__project=project).delete()
    if deals_people(project):
        for assignment in Assignment.stored.filter(project=project).order_by("pk"):
            _deal(project, assignment, now)


def _deal(project: Project, claim: Assignment, now: datetime) -> None:
    task = Task.objects.filter(trajectories=claim.trajectory_id)
    mine = Allocation.objects.filter(task__in=task, annotator=claim.annotator_id)
    if mine.exists():
        return
    # others who claim a run of this task wait here, so that each sees what the one before was dealt
    held = task.select_related("subset").select_for_update(of=("self",), no_key=True).get()
    dealt = dict(Allocation.objects.filter(task=held).order_by().values_list("annotator", "arm"))
    if claim.annotator_id in dealt:
        return
    turns = Assignment.objects.filter(trajectory=claim.trajectory_id, state__in=ACTIVE_STATES)
    beside = [dealt[who] for who in turns.values_list("annotator", flat=True) if who in dealt]
    arm = deal(
        project.experiment_seed or 0,
        (held.subset.name, held.key, claim.annotator_id),
        arms_of(project.experiment_arms),
        beside=_counted(beside),
        of_task=_counted(dealt.values()),
        of_annotator=_of_annotator(claim.annotator_id, held.subset_id),
    )
    Allocation.objects.create(task=held, annotator_id=claim.annotator_id, arm=arm.value, dealt_at=now)


def _counted(arms: Iterable[str]) -> Counter[Arm]:
    return Counter(Arm(arm) for arm in arms)


def _of_annotator(annotator: int, subset: int) -> Counter[Arm]:
    """The number of times each arm has been dealt to a person in a subset."""
    rows = Allocation.objects.filter(annotator=annotator, task__subset=subset).order_by()
    return Counter({Arm(arm): n for arm, n in rows.values_list("arm").annotate(n=Count("pk"))})
