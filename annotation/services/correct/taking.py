"""Take a first error to correct it, give it up, and take it up again."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.vocabulary import CorrectionState, ExposureKind
from annotation.models import ACTIVE_CORRECTIONS, Consensus, Correction, Project, User
from annotation.policies import allowed, require, roles
from annotation.policies.corrections import correctable, why_none

from .. import audit, claim_expiry, exposures
from ..transitions import advance

TRIED: int = 10
"""So many of the queue are tried when others take at the same time."""
TAKEN = translatable("Somebody else is correcting this step, or has corrected it.")
FINISH_FIRST = translatable("You are writing another correction; save it or give it up first.")


@transaction.atomic
def take(*, actor: User, project: Project, error: Consensus | None = None) -> Correction:
    """The correction that the actor is writing in a project, else that of the next first error, or of
    `error`. Its consensus is seen from now on.

    Raises Conflict: "not_of_this_kind", "nothing_left", "finish_first" for another error than that of the
    correction they are writing, "taken" for one that they cannot have.
    """
    require(claim_expiry.hold(actor), "correct", project)
    project.of_kind.require(Feature.DERIVATION)
    mine = Correction.objects.filter(project=project, author=actor, state=CorrectionState.OPEN).first()
    if mine is not None:
        if error is None or mine.step_id == error.step_id:
            return mine
        raise Conflict(FINISH_FIRST, code="finish_first")
    rows = correctable(actor, project).select_related("trajectory")
    for row in rows[:TRIED] if error is None else rows.filter(pk=error.pk):
        made = _made(actor, row, project)
        if made is not None:
            return made
    if error is not None:
        raise Conflict(TAKEN, code="taken")
    reason = why_none(project, roles(actor, project))
    raise Conflict(reason or translatable("No first error waits for you."), code="nothing_left")


def _made(actor: User, row: Consensus, project: Project) -> Correction | None:
    """The correction of a first error; None when somebody was faster."""
    try:
        with transaction.atomic():
            made = Correction.objects.create(
                project=project,
                trajectory=row.trajectory,
                step_id=row.step_id,
                author=actor,
                created_at=timezone.now(),
            )
    except IntegrityError:
        return None
    exposures.expose(user=actor, trajectory=row.trajectory, kind=ExposureKind.CONSENSUS)
    audit.record(actor=actor, verb="correction.take", project=project, obj=made)
    return made


@transaction.atomic
def withdraw(*, actor: User, correction: Correction) -> None:
    """Give a correction up, one's own or as an admin anybody's: others may correct the step, and nothing is
    derived of it any more. Raises StaleState when it is withdrawn already."""
    own = allowed(actor, "correct", correction)
    if not own:
        require(actor, "trajectory.list", correction.project)
    advance(Correction, correction.pk, ACTIVE_CORRECTIONS, CorrectionState.WITHDRAWN)
    whose = {} if own or correction.author is None else {"username": correction.author.username}
    audit.record(actor=actor, verb="correction.withdraw", project=correction.project, obj=correction, **whose)


@transaction.atomic
def restore(*, actor: User, correction: Correction) -> Correction:
    """Take a correction that was withdrawn up again, as it was: its author alone.

    Raises Conflict ("taken") when somebody else has the step, "finish_first" when the actor is writing
    another one, StaleState when it is not withdrawn.
    """
    require(claim_expiry.hold(actor), "correct", correction)
    state = CorrectionState.SAVED if correction.answer else CorrectionState.OPEN
    open_ones = Correction.objects.filter(
        project=correction.project_id, author=actor, state=CorrectionState.OPEN
    )
    if state is CorrectionState.OPEN and open_ones.exists():
        raise Conflict(FINISH_FIRST, code="finish_first")
    try:
        with transaction.atomic():
            advance(Correction, correction.pk, CorrectionState.WITHDRAWN, state)
    except IntegrityError as error:
        raise Conflict(TAKEN, code="taken") from error
    audit.record(actor=actor, verb="correction.restore", project=correction.project, obj=correction)
    correction.refresh_from_db()
    return correction
