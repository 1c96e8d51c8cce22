"""Gold: keyed trajectories among what annotators claim, not to be told from it (docs/training.md, "Gold")."""

from collections.abc import Collection
from datetime import datetime

from django.db import IntegrityError, transaction

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.rechecks import sampling
from annotation.core.vocabulary import RecheckKind, RecheckState
from annotation.models import (
    Membership,
    Project,
    Recheck,
    Step,
    Subset,
    SuggestedLabel,
    Suggestion,
    Trajectory,
    User,
)
from annotation.policies import require
from annotation.policies.gold import gold_for, gold_items
from annotation.policies.training import keyed

from .. import audit
from ..chosen import Outcome
from .copies import copy_into


def drawn(membership: Membership, project: Project, last: int | None) -> int | None:
    """The gold item (pk of a trajectory) that this claim of a member brings in place of the next of the
    queue; None: none. `last` is their newest assignment, which makes each claim a draw of its own.

    Each claim is gold with the same probability, whatever came before, so that no place tells of it. Two
    queries in a project with gold, whether any is drawn or not: the answer takes as long.
    """
    if not project.gold_percent:
        return None
    items = list(gold_for(membership.user, project).values_list("pk", flat=True))
    chance = (project.recheck_seed, "gold", membership.user_id, last or 0)
    if not items or sampling.fraction(*chance) * sampling.PERCENT >= project.gold_percent:
        return None
    return items[int(sampling.fraction(*chance, "item") * len(items))]


def give(*, user: User, project: Project, trajectory: int, now: datetime) -> Recheck:
    """The turn of a person at a gold item that was drawn for them, which they have from here on."""
    return Recheck.objects.create(
        project=project,
        trajectory_id=trajectory,
        kind=RecheckKind.GOLD.value,
        annotator=user,
        state=RecheckState.CLAIMED.value,
        due_at=now,
        dealt_at=now,
        created_at=now,
    )


@transaction.atomic
def make_gold(
    *, actor: User, project: Project, trajectories: Collection[Trajectory], subset: Subset
) -> Outcome[Trajectory, Trajectory]:
    """Mix copies of keyed training trajectories into what is claimed of a subset, with what judges say of
    them. They are dealt from the next claim on, in a project with a `gold_percent`.

    Refused are those without a key, and what the subset has already. Raises Invalid for a training subset, or
    for one in which nothing is to be labelled: there gold would stand alone.
    """
    require(actor, "training.change", project)
    target = Subset.objects.select_for_update(no_key=True).get(pk=subset.pk)
    live = Trajectory.objects.filter(subset=target, live=True)
    if target.training or target.project_id != project.pk or not live.exists():
        reason = translatable("Choose a subset whose trajectories are labelled.")
        raise Invalid(reason, fields={"subset": reason})
    keyed_ones = set(
        keyed(Trajectory.objects.filter(pk__in=[row.pk for row in trajectories])).values_list("pk", flat=True)
    )
    outcome: Outcome[Trajectory, Trajectory] = Outcome([], [])
    for row in trajectories:
        if not row.training or not row.subset.training or row.pk not in keyed_ones:
            reason = translatable("It has no key, so that nothing could be held against it.")
            outcome.refused.append((row, Conflict(reason, code="no_key")))
            continue
        try:
            with transaction.atomic():
                copy = copy_into(row, target)
        except IntegrityError:
            reason = translatable("The subset has it as gold already.")
            outcome.refused.append((row, Conflict(reason, code="there_already")))
            continue
        except Conflict as full:
            outcome.refused.append((row, full))
            continue
        _copy_suggestions(row, copy)
        outcome.done.append(copy)
    if outcome.done:
        audit.record(actor=actor, verb="training.gold", project=project, obj=target, count=len(outcome.done))
    return outcome


def _copy_suggestions(original: Trajectory, copy: Trajectory) -> None:
    """Copy what judges say of the original, or of what it was made of: without it there would be nothing to
    reveal."""
    root = original.copy_of if original.copy_of is not None else original
    source = original if Suggestion.objects.filter(trajectory=original).exists() else root
    steps = dict(Step.objects.filter(trajectory=copy).values_list("message_index", "pk"))
    for suggestion in Suggestion.objects.filter(trajectory=source).order_by("pk"):
        labels = list(SuggestedLabel.objects.filter(suggestion=suggestion).select_related("step"))
        suggestion.pk, suggestion.trajectory, suggestion.answer, suggestion.run = None, copy, None, None
        suggestion.save(force_insert=True)
        for label in labels:
            label.pk, label.suggestion, label.step_id = None, suggestion, steps[label.step.message_index]
        SuggestedLabel.objects.bulk_create(labels)


@transaction.atomic
def remove_gold(*, actor: User, project: Project, trajectories: Collection[Trajectory]) -> int:
    """Deal these gold items to nobody any more; how many that were. Who has one keeps it, and it counts."""
    require(actor, "training.change", project)
    rows = gold_items(project).filter(pk__in=[row.pk for row in trajectories], free_slots__gt=0)
    ended = rows.update(free_slots=0)
    if ended:
        audit.record(actor=actor, verb="training.gold_end", project=project, obj=project, count=ended)
    return ended
