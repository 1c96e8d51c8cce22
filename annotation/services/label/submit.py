"""Submit a finished assignment."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.core.errors import Invalid, NotFound, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, WebhookEvent
from annotation.models import Assignment, Label, OutcomeLabel, Step, User
from annotation.models.prepared import Prepared
from annotation.policies import own, require

from .. import assign, audit, consensus, rechecks, second_person, webhooks
from ..transitions import advance_all

NEEDED = (
    "state",
    "annotator_id",
    "project_id",
    "trajectory_id",
    "recheck_id",
    "project__carry_forward",
    "trajectory__subset__suspend_on_user_turn",
)


def _own(user: int, pk: int) -> QuerySet[Assignment]:
    return (
        own(User(pk=user), Assignment.stored.filter(pk=pk))
        .select_for_update(no_key=True, of=("self",))
        .select_related("project", "trajectory__subset", "outcome")
        .only(*NEEDED, "outcome")
        .order_by()
    )


_own_of = Prepared(_own, "user", "pk")
_labelled = Prepared(
    lambda assignment: (
        Label.stored.filter(assignment=assignment, value__isnull=False)
        .order_by()
        .values_list("step__message_index", flat=True)
    ),
    "assignment",
)
_outcome = Prepared(
    lambda assignment: OutcomeLabel.stored.filter(assignment=assignment, value__isnull=False).values_list(
        "pk"
    ),
    "assignment",
)
_steps = Prepared(
    lambda trajectory: (
        Step.objects.filter(trajectory=trajectory).order_by("ordinal").values_list("message_index", "ordinal")
    ),
    "trajectory",
)


def _locked(actor: User, pk: int) -> Assignment:
    """One's own assignment, locked, with its outcome. Raises NotFound for anybody else's."""
    assignment = _own_of.first(user=actor.pk, pk=pk) if actor.is_active else None
    if assignment is None:
        raise NotFound(translatable("This does not exist, or you may not see it."))
    return assignment


@transaction.atomic
def submit(*, actor: User, assignment: Assignment) -> Assignment:
    """Hand in: every step must be labelled and the outcome set. The last of the N decides the trajectory's
    state.

    Raises Invalid (code "incomplete", details {"missing": [message indexes], "outcome": bool}), or StaleState
    when it is not open (a second submit, for example).
    """
    require(actor, "label", assignment)
    current = _locked(actor, assignment.pk)
    if current.state != AssignmentState.OPEN:
        raise StaleState(
            translatable("This trajectory has already been submitted or returned."), code="not_open"
        )
    done = set(_labelled(assignment=current.pk))
    steps = _steps(trajectory=current.trajectory_id)
    numbers = {index: ordinal + 1 for index, ordinal in steps}
    missing = [index for index in numbers if index not in done]
    outcome_missing = not _outcome(assignment=current.pk)
    if missing or outcome_missing:
        raise Invalid(
            translatable(
                "Not complete yet: {step} (message {index}) has no label.",
                step=current.project.of_kind.step_inside(numbers[missing[0]]),
                index=missing[0],
            )
            if missing
            else translatable("Not complete yet: the outcome is not set."),
            code="incomplete",
            details={"missing": missing, "outcome": outcome_missing},
        )
    finish([current], now=timezone.now())
    audit.record(actor=actor, verb="assignment.submit", project=current.project, obj=current)
    current.refresh_from_db()
    return current


def finish(assignments: Collection[Assignment], *, now: datetime) -> None:
    """Turn complete open assignments into submitted ones, and settle their trajectories where they were the
    last. A recheck settles nothing. Raises StaleState when one is not open (any more)."""
    of_project: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in assignments:
        of_project[assignment.project_id].append(assignment)
    for project, submitted in of_project.items():
        advance_all(
            Assignment,
            [assignment.pk for assignment in submitted],
            AssignmentState.OPEN,
            AssignmentState.SUBMITTED,
            submitted_at=now,
            guideline_version=assign.guideline_in_force(project),
        )
        # gold, tests and other rechecks are to be told from nothing: no webhook hears of them
        first = [(row.pk, row.trajectory_id) for row in submitted if row.recheck_id is None]
        webhooks.note(WebhookEvent.SUBMITTED, project=project, objects=first, now=now)
    for assignment in assignments:
        if assignment.recheck_id is not None:
            rechecks.finish(recheck=assignment.recheck_id, now=now)
    labelled = {assignment.trajectory_id for assignment in assignments if assignment.recheck_id is None}
    if labelled:
        consensus.settle(labelled)
        for project in of_project:
            second_person.look(project)
