"""Settle what judges agree on, some trajectories at a time, and draw some of what they judged for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.core.decisions.judges_first import JudgesFirst, place, resolution
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.resolution import Resolution
from annotation.core.vocabulary import ConsensusKind, TrajectoryState
from annotation.models import (
    Assignment,
    Judge,
    JudgesFirstVerdict,
    Project,
    Step,
    Trajectory,
)
from annotation.policies import Actor, require
from annotation.reports.judging.judges_first import (
    Considered,
    Settlement,
    check_judges,
    considered,
    sample,
)

from .. import audit, consensus
from ..bulk import insert, moment
from ..transitions import advance_all
from .giving import give_to_people, lower_to_first

NOTHING_LEFT = translatable("Nothing is left that judges could settle.")
NOT_ASKED = translatable("These judges have not been asked about what is left; start a run of each first.")


def settle_judged(*, actor: Actor, project: Project, judges: Sequence[Judge]) -> Settlement:
    """Settle all that these judges have been asked about and nobody has considered: what all of them put in
    the key's order is judged, what all put in its reverse is dropped, and everything else goes to people.

    Of what is judged, as many as the project's `judged_sample` says are drawn for people. Some trajectories
    at a time, with a constant number of queries each; what was interrupted is gone on with. Whatever a person
    has claimed meanwhile is for people. Raises as `check_judges`, Conflict when nothing is left, Denied.
    """
    require(actor, "judges_first.settle", project)
    check_judges(project, judges)
    done = Settlement()
    for part in considered(project, judges):
        for one in _settle(actor, project, judges, part):
            done.count(one)
    if not draw(project) and not done.judged + done.dropped + done.people:
        raise Conflict(NOT_ASKED if done.waiting else NOTHING_LEFT, code="nothing_left")
    lower_to_first(project)
    return done


@transaction.atomic
def _settle(
    actor: Actor, project: Project, judges: Sequence[Judge], part: Sequence[Considered]
) -> list[Considered]:
    """Write what a part comes to; as it is then."""
    # two who settle at once follow one another
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    verdicts = JudgesFirstVerdict.objects.filter(trajectory__in=[one.pk for one in part])
    before = set(verdicts.values_list("trajectory_id", flat=True))
    fresh = [one for one in part if one.pk not in before]
    free = _free(project, [one.pk for one in fresh if one.verdict not in (None, JudgesFirst.PEOPLE)])
    fresh = [
        one
        if one.verdict in (None, JudgesFirst.PEOPLE) or one.pk in free
        else replace(one, verdict=JudgesFirst.PEOPLE, claimed=True)
        for one in fresh
    ]
    settled = {one.pk: one for one in fresh if one.pk in free}
    advance_all(Trajectory, list(settled), TrajectoryState.LABELLING, TrajectoryState.JUDGED, free_slots=0)
    consensus.write(_resolved(settled))
    now = moment(timezone.now())
    insert(
        JudgesFirstVerdict,
        ("project_id", "trajectory_id", "verdict", "place", "created_at"),
        [
            (project.pk, one.pk, one.verdict.value, place(project.recheck_seed, one.pk), now)
            for one in fresh
            if one.verdict is not None
        ],
    )
    counts = Counter(one.verdict.value for one in fresh if one.verdict is not None)
    if counts:
        names = [judge.name for judge in judges]
        audit.record(
            actor=actor, verb="judges_first.settle", project=project, obj=project, judges=names, **counts
        )
    return fresh


def _free(project: Project, pks: Sequence[int]) -> set[int]:
    """Those of these trajectories, all of them locked, that nobody has claimed, and none is to label."""
    begun = Assignment.stored.filter(trajectory=OuterRef("pk"))
    rows = Trajectory.objects.filter(
        ~Exists(begun),
        pk__in=pks,
        live=True,
        state=TrajectoryState.LABELLING,
        free_slots=project.annotators_per_trajectory,
        reserved=0,
    )
    locked = rows.order_by("pk").select_for_update(no_key=True, of=("self",))
    return set(locked.values_list("pk", flat=True))


def _resolved(settled: dict[int, Considered]) -> dict[int, dict[int | None, Resolution | None]]:
    """The consensus of what is settled, by the pks of its trajectories and steps."""
    resolved: dict[int, dict[int | None, Resolution | None]] = {}
    labels: dict[int, dict[int, int]] = {}
    for pk, one in settled.items():
        assert one.verdict is not None
        labels[pk], outcome = resolution(one.verdict, one.key)
        resolved[pk] = {None: Resolution(outcome, ConsensusKind.JUDGED)}
    steps = Step.objects.filter(trajectory__in=settled).order_by()
    for step, pk, index in steps.values_list("pk", "trajectory_id", "message_index"):
        resolved[pk][step] = Resolution(labels[pk][index], ConsensusKind.JUDGED)
    return resolved


@transaction.atomic
def draw(project: Project) -> int:
    """Give the judged trajectories whose places of chance are the first to people as well; how many that were
    not given yet. Nothing tells them from what judges left to people."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    fresh = [row.trajectory_id for row in sample(project) if not row.drawn]
    given = give_to_people(project, fresh)
    return JudgesFirstVerdict.objects.filter(trajectory__in=given).update(drawn=True)
