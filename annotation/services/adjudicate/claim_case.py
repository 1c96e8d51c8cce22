"""Take a case, hand it back, and look at what judges suggest in it."""

from collections.abc import Collection

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.resolution import is_disputed
from annotation.core.vocabulary import (
    AdjudicationState,
    ExpiryReason,
    ExposureKind,
)
from annotation.models import Adjudication, Decision, Discussion, Project, Trajectory, User
from annotation.models.consensus import new_letter_seed
from annotation.policies import Actor, require
from annotation.reports.judging.suggestions import StepSuggestions, requested_steps, suggestions_for

from .. import audit, claim_expiry, consensus, exposures
from ..chosen import Outcome
from ..transitions import advance
from .own_case import own_open, refusal, refuse_barred


@transaction.atomic
def open_case(*, actor: User, trajectory: Trajectory) -> Adjudication:
    """Take a disputed trajectory; one's own open case is simply returned.

    Raises Denied to whoever may not decide it (`refuse_barred`), Conflict when somebody else has the case or
    it is not disputed.
    """
    require(claim_expiry.hold(actor), "adjudicate", trajectory.project)
    refuse_barred(actor, trajectory.pk)
    case, fresh = _take(trajectory, actor)
    if fresh:
        exposures.expose(user=actor, trajectory=trajectory, kind=ExposureKind.LABEL)
        audit.record(actor=actor, verb="case.open", project=trajectory.project, obj=case)
    return case


def _take(trajectory: Trajectory, adjudicator: User) -> tuple[Adjudication, bool]:
    """The case of a disputed trajectory for this person, and whether it is a new one."""
    locked = Trajectory.objects.select_for_update(no_key=True, of=("self",)).get(pk=trajectory.pk)
    active = (
        Adjudication.objects.filter(trajectory=locked).exclude(state=AdjudicationState.RELEASED.value).first()
    )
    if active is not None and active.adjudicator_id == adjudicator.pk:
        return active, False
    if (refused := refusal(locked, active)) is not None:
        raise refused
    # the letters of a discussion that is open already stay what they are
    seed = Discussion.objects.filter(trajectory=locked).values_list("letter_seed", flat=True).first()
    try:
        with transaction.atomic():
            case = Adjudication.objects.create(
                project=trajectory.project,
                trajectory=locked,
                adjudicator=adjudicator,
                letter_seed=new_letter_seed() if seed is None else seed,
                opened_at=timezone.now(),
            )
    except IntegrityError as error:
        raise Conflict(translatable("Another adjudicator has this case."), code="case_taken") from error
    return case, True


@transaction.atomic
def release_case(*, actor: User, adjudication: Adjudication) -> None:
    """Hand a case back undecided; another adjudicator may take it. The decisions so far stay with the old
    case."""
    case = own_open(actor, adjudication)
    advance(Adjudication, case.pk, AdjudicationState.OPEN, AdjudicationState.RELEASED)
    audit.record(actor=actor, verb="case.release", project=case.project, obj=case)


@transaction.atomic
def take_cases_back(
    *, actor: Actor, project: Project, adjudications: Collection[Adjudication]
) -> Outcome[Adjudication, Adjudication]:
    """Hand open cases of a project back in their adjudicators' place, so that others may take them; what is
    not open any more is refused."""
    require(actor, "assign", project)
    cases = Adjudication.objects.filter(project=project, pk__in=[row.pk for row in adjudications])
    released = claim_expiry.release_cases(actor=actor, cases=cases, because=ExpiryReason.TAKEN_BACK)
    closed = Conflict(translatable("This case is no longer open."), code="case_closed")
    return Outcome(released, [(row, closed) for row in adjudications if row not in released])


@transaction.atomic
def reveal(
    *,
    actor: User,
    adjudication: Adjudication,
    message_index: int | None = None,
    outcome: bool = False,
    everything: bool = False,
) -> list[StepSuggestions]:
    """Show what judges suggest for one step, the outcome or all of one's own case: asked for on purpose. The
    exposure is noted, and the audit log says what had been decided by then.

    What judges say of something disputed is sealed until one has decided it; of what is agreed on, until
    everything disputed is decided. `everything` means what is not sealed.

    `adjudication` comes with its trajectory. Raises Invalid for a message that is not a step, Conflict (code
    "decide_first") for what is sealed, and for a case that was handed back.
    """
    require(actor, "adjudicate", adjudication)
    case = Adjudication.objects.select_for_update(no_key=True, of=("self",)).get(pk=adjudication.pk)
    if case.state == AdjudicationState.RELEASED:
        raise Conflict(translatable("You have returned this case to the queue."), code="case_closed")
    trajectory = adjudication.trajectory
    steps = requested_steps(
        trajectory=trajectory, message_index=message_index, outcome=outcome, everything=everything
    )
    rows = Decision.objects.filter(adjudication=case)
    decided: set[int | None] = set(rows.values_list("step", flat=True))
    sealed = _sealed(case, decided)
    if not everything and sealed.intersection(steps):
        raise Conflict(
            translatable("Decide this first: the judges’ suggestions for it are sealed until then."),
            code="decide_first",
        )
    steps = {step: index for step, index in steps.items() if step not in sealed}
    suggestions = suggestions_for(trajectory=trajectory, steps=steps)
    telling = [step.step for step in suggestions if step.tells]
    fresh = exposures.expose_suggestions(user=actor, trajectory=trajectory, steps=telling, now=timezone.now())
    if fresh:
        audit.record(
            actor=actor,
            verb="case.reveal",
            project=adjudication.project,
            obj=case,
            steps=[steps[step] for step in steps if step in fresh and step is not None],
            outcome=None in fresh,
            decided=[steps[step] for step in steps if step in fresh & decided and step is not None],
            outcome_decided=None in fresh & decided,
            recalibrated=any(it.recalibrated is not None for step in suggestions for it in step.suggestions),
        )
    return suggestions


def _sealed(case: Adjudication, decided: set[int | None]) -> set[int | None]:
    """Steps (by pk; None: the outcome) whose suggestions the adjudicator may not see yet."""
    if case.state == AdjudicationState.DECIDED:
        return set()
    positions_of = consensus.positions(case.trajectory_id)
    open_ones = {step for step, positions in positions_of.items() if is_disputed(positions)} - decided
    return set(positions_of) - decided if open_ones else set()
