"""The tutorial: choose its items, serve them one after the other, give feedback, let somebody skip it."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import RecheckKind, RecheckState
from annotation.models import (
    ACTIVE_STATES,
    Assignment,
    LabelEvent,
    Membership,
    Project,
    Recheck,
    TestItem,
    Trajectory,
    TutorialItem,
    User,
)
from annotation.models.prepared import Prepared
from annotation.policies import Actor, require
from annotation.reports.training.tutorial import (
    FEEDBACK,
    Feedback,
    feedback_given,
    items,
    stored_labels,
    turns,
)

from .. import audit
from . import turns as asking
from .keys import refuse_without_key

MOST_ITEMS = 50


@transaction.atomic
def set_tutorial(*, actor: Actor, project: Project, trajectories: Sequence[Trajectory]) -> None:
    """Make these training trajectories the tutorial, in this order; none ends it. What somebody has done of
    it stays done.

    Raises Invalid for what is no training trajectory of the project, is named twice, or is in a test;
    Conflict (code "no_key") for one without a key.
    """
    require(actor, "training.change", project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    refuse_unfit(project, trajectories)
    tested = TestItem.objects.filter(trajectory__in=trajectories).select_related("trajectory").first()
    if tested is not None:
        _refuse(
            translatable(
                "{record_id} is in a test, whose key the tutorial would show.",
                record_id=tested.trajectory.record_id,
            )
        )
    TutorialItem.objects.filter(project=project).delete()
    TutorialItem.objects.bulk_create(
        TutorialItem(project=project, trajectory=trajectory, place=place)
        for place, trajectory in enumerate(trajectories)
    )
    audit.record(actor=actor, verb="tutorial.set", project=project, obj=project, items=len(trajectories))


def refuse_unfit(project: Project, trajectories: Collection[Trajectory]) -> None:
    """Raises Invalid or Conflict unless these are different training trajectories of a project with keys."""
    if len(trajectories) > MOST_ITEMS:
        _refuse(translatable("At most {count} items.", count=MOST_ITEMS))
    if len({row.pk for row in trajectories}) < len(trajectories):
        _refuse(translatable("An item can be there only once."))
    rows = Trajectory.objects.filter(pk__in=[row.pk for row in trajectories])
    if rows.filter(project=project, training=True, subset__training=True).count() < len(trajectories):
        _refuse(translatable("Choose trajectories of this project’s training subsets."))
    refuse_without_key(trajectories)


def _refuse(reason: str) -> None:
    raise Invalid(reason, fields={"trajectories": reason})


@transaction.atomic
def skip_tutorial(*, actor: Actor, membership: Membership) -> Membership:
    """Let a member do without the tutorial: for admins. Nothing happens when it is behind them.

    Raises Conflict (code "no_annotator") for somebody who does not annotate.
    """
    require(actor, "members.change", membership)
    current = Membership.objects.select_for_update(no_key=True).get(pk=membership.pk)
    if not current.is_annotator:
        raise Conflict(translatable("The tutorial is for annotators."), code="no_annotator")
    if current.tutorial_done_at is None:
        current.tutorial_done_at, current.tutorial_skipped = timezone.now(), True
        current.save(update_fields=["tutorial_done_at", "tutorial_skipped"])
        audit.record(
            actor=actor,
            verb="tutorial.skip",
            project=membership.project,
            obj=membership,
            username=membership.user.username,
        )
    return current


_items = Prepared(lambda project: items(project).values_list("trajectory", flat=True), "project")


def next_turn(membership: Membership, project: Project, *, now: datetime) -> int | None:
    """The turn (pk) at the tutorial that a member must take first; None when it is behind them, or there is
    no tutorial. What they have not been asked yet is asked now. At most four queries."""
    if membership.tutorial_done_at is not None:
        return None
    order = _items(project=project.pk)
    if not order:
        return None
    user = membership.user
    asked = _asked(user, project)
    if missing := [pk for pk in order if pk not in asked]:
        asking.ask(kind=RecheckKind.TUTORIAL, project=project, trajectories=missing, annotator=user, now=now)
        asked = _asked(user, project)
    return next((asked[pk][0] for pk in order if asked[pk][1] != RecheckState.DONE), None)


def _asked(user: User, project: Project) -> dict[int, tuple[int, str]]:
    rows = turns(user, project).values_list("trajectory", "pk", "state")
    return {trajectory: (pk, state) for trajectory, pk, state in rows}


def after_item(recheck: Recheck, *, now: datetime) -> None:
    """An item of the tutorial is labelled: after the last of them, the tutorial is behind its annotator."""
    done = turns(recheck.annotator_id or 0, recheck.project_id).filter(state=RecheckState.DONE.value)
    if items(recheck.project).exclude(trajectory__in=done.values("trajectory")).exists():
        return
    Membership.objects.filter(
        project=recheck.project_id, user=recheck.annotator_id, tutorial_done_at__isnull=True
    ).update(tutorial_done_at=now)


@transaction.atomic
def give_feedback(*, actor: User, assignment: Assignment) -> list[Feedback]:
    """Give feedback on every step, and on the outcome, that has the actor's own stored label; all that has
    been given so far. The history says on which label it was given, and what they change afterwards.

    Raises Denied (code "sealed") for what is no item of the tutorial, StaleState for one that was given back.
    """
    require(actor, "label", assignment)
    # the same lock as in saving: a label is stored before the feedback or after it, and never in between
    current = (
        Assignment.stored.select_for_update(no_key=True, of=("self",))
        .select_related("trajectory__project", "recheck", "project")
        .get(pk=assignment.pk)
    )
    if current.recheck is None or current.recheck.kind != RecheckKind.TUTORIAL:
        raise Denied(translatable("There is feedback in the tutorial only."), code="sealed")
    if current.state not in ACTIVE_STATES:
        raise StaleState(translatable("This trajectory is no longer open for labelling."), code="not_open")
    given = set(
        LabelEvent.stored.filter(assignment=current, kind=FEEDBACK).order_by().values_list("step", flat=True)
    )
    now = timezone.now()
    fresh = {step: label for step, label in stored_labels(current).items() if step not in given}
    if fresh:
        asking.note_key_seen(user=actor, trajectory=current.trajectory, now=now)
        LabelEvent.objects.bulk_create(
            LabelEvent(
                assignment=current,
                step_id=step,
                kind=FEEDBACK,
                value=value,
                version=version,
                detail={"outcome": step is None},
                created_at=now,
            )
            for step, (value, version) in fresh.items()
        )
    return feedback_given(actor=actor, assignment=current)
