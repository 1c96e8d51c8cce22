"""Copies of a trajectory: a training item made of a resolved one, and gold, which stands in an ordinary
subset and must not be told from its neighbours."""

import secrets

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.rechecks import sampling
from annotation.models import Step, Subset, Task, Trajectory, TrajectoryContent

from ..bulk import draw_ids

NEAR = 500
"""An id is looked for so far on either side of that of a neighbour."""
TRIES = 20
NO_ROOM = translatable(
    "No number between those of this subset’s trajectories is free: an import leaves room for gold of a "
    "tenth of what it brings, and imports from before there was gold left none. Import further trajectories "
    "into a new subset, and put gold there."
)


@transaction.atomic
def copy_into(original: Trajectory, subset: Subset) -> Trajectory:
    """A training copy of a trajectory in a subset of the same project, with its content, steps and record id,
    for services that asked permission. It comes with its project.

    Its id is a free one among those of the live trajectories of the subset, where there are some.
    Raises IntegrityError when the subset has a training trajectory of that record id already, Conflict (code
    "no_room") when no id is free.
    """
    project = original.project
    task, _made = Task.objects.get_or_create(
        subset=subset, key=original.task.key, defaults={"question": original.task.question}
    )
    copy = Trajectory.objects.create(
        pk=_id_among(subset, original),
        project=project,
        subset=subset,
        task=task,
        source_id=original.source_id,
        copy_of=original,
        training=True,
        record_id=original.record_id,
        data_source=original.data_source,
        query_index=original.query_index,
        sample_index=original.sample_index,
        policy_model=original.policy_model,
        content_digest=original.content_digest,
        message_count=original.message_count,
        step_count=original.step_count,
        line=original.line,
        position=sampling.position(
            seed=project.recheck_seed, subset=f"{subset.name} copy", record=original.record_id
        ),
        free_slots=project.annotators_per_trajectory,
    )
    content = TrajectoryContent.objects.get(pk=original.pk)
    TrajectoryContent.objects.create(
        trajectory=copy, content=content.content, raw=content.raw, raw_sha256=content.raw_sha256
    )
    Step.objects.bulk_create(
        Step(
            trajectory=copy,
            message_index=step.message_index,
            ordinal=step.ordinal,
            after_user_turn=step.after_user_turn,
        )
        for step in Step.objects.filter(trajectory=original).order_by("ordinal")
    )
    return copy


def _id_among(subset: Subset, original: Trajectory) -> int:
    """A free id near where the record of a trajectory would stand among the live ones of the subset, or near
    that of one drawn by chance where they stand in no order; without a live one, the next there is. Raises
    Conflict (code "no_room") when there is none."""
    live = Trajectory.objects.filter(subset=subset, live=True)
    ends = live.aggregate(first=Min("pk"), last=Max("pk"))
    if ends["first"] is None:
        return draw_ids(Trajectory, 1)[0]
    chance = secrets.SystemRandom()
    place = _place(live, original)
    for _try in range(TRIES):
        at = live.filter(pk__gte=chance.randint(ends["first"], ends["last"])).order_by("pk")
        near = at.values_list("pk", flat=True)[0] if place is None else place
        first, last = max(ends["first"], near - NEAR), min(ends["last"], near + NEAR)
        taken = set(Trajectory.objects.filter(pk__range=(first, last)).values_list("pk", flat=True))
        if free := [pk for pk in range(first, last) if pk not in taken]:
            return chance.choice(free) if place is None else min(free, key=lambda pk: abs(pk - near))
        place = None
    # an id after all others would tell it from its neighbours
    raise Conflict(NO_ROOM, code="no_room")


def _place(live: QuerySet[Trajectory], original: Trajectory) -> int | None:
    """The id of the live trajectory whose record comes before that of another, where ids rise with records,
    as imported; None where they do not: an id out of that order would tell of itself."""
    query, sample = original.query_index, original.sample_index
    if query is None or sample is None:
        return None
    earlier = Q(query_index__lt=query) | Q(query_index=query, sample_index__lt=sample)
    beside = live.aggregate(before=Max("pk", filter=earlier), after=Min("pk", filter=~earlier))
    before, after = beside["before"], beside["after"]
    if before is None or after is None:
        return before or after
    return before if before < after else None
