"""Training subsets: mark one, make items of resolved trajectories."""

from collections.abc import Collection

from django.db import IntegrityError, transaction

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.training.keys import IncompleteKey, Key, key_in
from annotation.core.vocabulary import RESOLVED, KeyOrigin, TrajectoryState
from annotation.models import (
    Assignment,
    KeyLabel,
    Project,
    Step,
    Subset,
    Trajectory,
    TrajectoryContent,
    TutorialItem,
    User,
)
from annotation.policies import Actor, require

from .. import audit
from ..chosen import Outcome
from ..cursors import lower_cursors
from . import keys
from .copies import copy_into

READ_AT_ONCE = 200
USED = translatable(
    "Somebody has been given a trajectory of this subset. Only a subset that nobody has worked on can change "
    "between training and labelling."
)


@transaction.atomic
def mark_training(*, actor: Actor, subset: Subset) -> Subset:
    """Take a subset out of the queue and of everything that counts, for tutorial, tests, gold or a pilot;
    keys that came with its file are read in.

    Raises Conflict (code "used") when somebody has been given a trajectory of it.
    """
    current = _locked(actor, subset)
    if current.training:
        return current
    rows = Trajectory.objects.filter(subset=current, live=True)
    if rows.exclude(state=TrajectoryState.LABELLING).exists():
        raise Conflict(USED, code="used")
    rows.update(live=False, training=True)
    Subset.objects.filter(pk=current.pk).update(training=True)
    read_keys(list(Trajectory.objects.filter(subset=current, training=True).values_list("pk", flat=True)))
    audit.record(actor=actor, verb="training.mark", project=current.project, obj=current, name=current.name)
    current.refresh_from_db()
    return current


@transaction.atomic
def unmark_training(*, actor: Actor, subset: Subset) -> Subset:
    """Put a training subset into the queue like any other; its keys are gone.

    Raises Conflict (code "used") when somebody has been given a trajectory of it, or it is used in the
    tutorial, a test, a pilot or as gold.
    """
    current = _locked(actor, subset)
    if not current.training:
        return current
    rows = Trajectory.objects.filter(subset=current, training=True)
    in_use = (
        rows.filter(copies__isnull=False),
        rows.filter(test_items__isnull=False),
        TutorialItem.objects.filter(trajectory__subset=current),
        current.pilots.all(),
        rows.filter(copy_of__isnull=False),
    )
    if any(used.exists() for used in in_use):
        raise Conflict(
            translatable(
                "Items of this subset are copies, or are used in the tutorial, a test, a pilot or as gold; "
                "take them out there first."
            ),
            code="used",
        )
    KeyLabel.objects.filter(trajectory__subset=current).delete()
    rows.update(live=True, training=False)
    Subset.objects.filter(pk=current.pk).update(training=False)
    lower_cursors(project_id=current.project_id, position=0)
    audit.record(actor=actor, verb="training.unmark", project=current.project, obj=current, name=current.name)
    current.refresh_from_db()
    return current


def _locked(actor: Actor, subset: Subset) -> Subset:
    """The subset, locked with its project, in which nobody has been given a trajectory."""
    require(actor, "training.change", subset)
    Project.objects.select_for_update(no_key=True).get(pk=subset.project_id)
    current = Subset.objects.select_for_update(no_key=True).select_related("project").get(pk=subset.pk)
    # against a claim at this moment: whoever claims locks the trajectory
    list(Trajectory.objects.filter(subset=current).order_by("pk").select_for_update(no_key=True).only("pk"))
    if Assignment.stored.filter(trajectory__subset=current).exists():
        raise Conflict(USED, code="used")
    return current


def read_keys(trajectories: Collection[int]) -> int:
    """Read in the keys that stand in the records of training trajectories; how many there are. Half a key is
    none."""
    total = 0
    pks = list(trajectories)
    for start in range(0, len(pks), READ_AT_ONCE):
        part = pks[start : start + READ_AT_ONCE]
        steps: dict[int, list[int]] = {pk: [] for pk in part}
        for pk, index in Step.objects.filter(trajectory__in=part).values_list("trajectory", "message_index"):
            steps[pk].append(index)
        read: dict[int, Key] = {}
        for content in TrajectoryContent.objects.filter(pk__in=part).defer("content"):
            try:
                key = key_in(content.raw_bytes(), content.labels_of_source(), steps[content.pk])
            except IncompleteKey:
                continue
            if key:
                read[content.pk] = key
        keys.write(read, KeyOrigin.FILE)
        total += len(read)
    return total


@transaction.atomic
def make_items(
    *, actor: User, project: Project, trajectories: Collection[Trajectory], subset: Subset
) -> Outcome[Trajectory, Trajectory]:
    """Make training items of resolved trajectories: copies, with the consensus as their key. The originals
    stay as they are.

    Refused are those that are not resolved, have no outcome, or are in the subset already. Raises Invalid
    when the subset is no training subset.
    """
    require(actor, "training.change", project)
    target = Subset.objects.select_for_update(no_key=True).get(pk=subset.pk)
    if not target.training or target.project_id != project.pk:
        reason = translatable("Choose a training subset.")
        raise Invalid(reason, fields={"subset": reason})
    consensus = keys.of_consensus([row.pk for row in trajectories])
    outcome: Outcome[Trajectory, Trajectory] = Outcome([], [])
    for row in trajectories:
        key = consensus.get(row.pk, {})
        if row.state not in RESOLVED or len(key) != row.step_count + 1:
            reason = translatable("It is not resolved, so that there is no consensus to make a key of.")
            outcome.refused.append((row, Conflict(reason, code="not_resolved")))
            continue
        try:
            with transaction.atomic():
                copy = copy_into(row, target)
        except IntegrityError:
            reason = translatable("The training subset has this record already.")
            outcome.refused.append((row, Conflict(reason, code="there_already")))
            continue
        steps = dict(Step.objects.filter(trajectory=copy).values_list("message_index", "pk"))
        for index, label in key.items():
            label.trajectory = copy
            label.step_id = None if index is None else steps[index]
        KeyLabel.objects.bulk_create(key.values())
        outcome.done.append(copy)
    if outcome.done:
        audit.record(actor=actor, verb="training.make", project=project, obj=target, count=len(outcome.done))
    return outcome
