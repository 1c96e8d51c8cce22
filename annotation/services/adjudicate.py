"""Adjudicate: one person takes a dispute, decides what is disputed, and closes the case."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core import text
from annotation.core.errors import Conflict, Denied, Invalid, StaleVersion
from annotation.core.i18n import translatable
from annotation.core.vocabulary import (
    VALUES,
    AdjudicationState,
    ConsensusKind,
    ExpiryReason,
    ExposureKind,
    TrajectoryState,
)
from annotation.models import Adjudication, Assignment, Decision, Step, Trajectory, User
from annotation.policies import Actor, require
from annotation.reports.suggestions import StepSuggestions, requested_steps, suggestions_for

from . import audit, consensus, exposures, open_work
from .transitions import advance

MAX_NOTE = 20_000


@transaction.atomic
def open_case(*, actor: User, trajectory: Trajectory) -> Adjudication:
    """Take a disputed trajectory; one's own open case is simply returned.

    Raises Denied to whoever has labelled it, Conflict when somebody else has the case or it is not disputed.
    """
    require(open_work.hold(actor), "adjudicate", trajectory.project)
    if Assignment.objects.filter(trajectory=trajectory, annotator=actor).exists():
        raise Denied(
            translatable("You have labelled this trajectory yourself; another adjudicator must decide it.")
        )
    locked = Trajectory.objects.select_for_update(no_key=True, of=("self",)).get(pk=trajectory.pk)
    active = (
        Adjudication.objects.filter(trajectory=locked).exclude(state=AdjudicationState.RELEASED.value).first()
    )
    if active is not None and active.adjudicator_id == actor.pk:
        return active
    if active is not None:
        raise Conflict(translatable("Another adjudicator has this case."), code="case_taken")
    if locked.state != TrajectoryState.DISPUTED:
        raise Conflict(translatable("This trajectory is not disputed."), code="not_disputed")
    now = timezone.now()
    try:
        with transaction.atomic():
            case = Adjudication.objects.create(
                project=trajectory.project, trajectory=locked, adjudicator=actor, opened_at=now
            )
    except IntegrityError as error:
        raise Conflict(translatable("Another adjudicator has this case."), code="case_taken") from error
    exposures.expose(user=actor, trajectory=locked, kind=ExposureKind.LABEL)
    audit.record(actor=actor, verb="case.open", project=trajectory.project, obj=case)
    return case


def _own_open(actor: User, adjudication: Adjudication) -> Adjudication:
    require(actor, "adjudicate", adjudication)
    case = (
        Adjudication.objects.select_for_update(no_key=True, of=("self",))
        .select_related("project")
        .get(pk=adjudication.pk)
    )
    if case.state != AdjudicationState.OPEN:
        raise Conflict(translatable("This case is not open any more."), code="case_closed")
    return case


@transaction.atomic
def decide(
    *,
    actor: User,
    adjudication: Adjudication,
    message_index: int | None,
    value: int,
    note: str = "",
    version: int = 0,
) -> Decision:
    """Decide one disputed step, or with `message_index` None the outcome.

    `version` is the version the decision was based on (0: none yet). Raises StaleVersion, or Invalid when the
    step is not disputed or the value is not −1, 0 or 1.
    """
    case = _own_open(actor, adjudication)
    if type(value) is not int or value not in VALUES:
        raise Invalid(
            translatable("A label is −1, 0 or 1."), fields={"value": translatable("A label is −1, 0 or 1.")}
        )
    _check_note(note)
    step = _disputed_step(case, message_index)
    current = Decision.objects.filter(adjudication=case, step=step).first()
    if (current.version if current else 0) != version:
        raise StaleVersion(translatable("This decision was changed elsewhere; reload to see it."))
    now = timezone.now()
    if current is None:
        return Decision.objects.create(
            adjudication=case, step=step, value=value, note=text.escape(note), updated_at=now
        )
    current.value, current.note, current.version, current.updated_at = (
        value,
        text.escape(note),
        version + 1,
        now,
    )
    current.save(update_fields=["value", "note", "version", "updated_at"])
    return current


def _check_note(note: str) -> None:
    if len(note) > MAX_NOTE:
        message = translatable("Keep the note under {note} characters.", note=f"{MAX_NOTE:,}")
        raise Invalid(message, fields={"note": message})


def _disputed_step(case: Adjudication, message_index: int | None) -> Step | None:
    if message_index is None:
        return None
    step = Step.objects.filter(trajectory=case.trajectory_id, message_index=message_index).first()
    if step is None:
        raise Invalid(
            translatable("Message {message_index} is not a step.", message_index=message_index),
            fields={"message_index": translatable("Not a step.")},
        )
    if step.pk not in consensus.submitted_labels(case.trajectory_id).disputed_steps:
        raise Invalid(
            translatable("The annotators agree on step {number}.", number=step.ordinal + 1),
            fields={"message_index": translatable("Not disputed.")},
        )
    return step


@transaction.atomic
def close_case(*, actor: User, adjudication: Adjudication, note: str = "") -> Adjudication:
    """Close a case: everything disputed must be decided. The consensus is written at once.

    Raises Invalid (code "incomplete", details {"missing": [message indexes], "outcome": bool}).
    """
    case = _own_open(actor, adjudication)
    _check_note(note)
    cast = consensus.submitted_labels(case.trajectory_id)
    decided = {decision.step_id: decision.value for decision in Decision.objects.filter(adjudication=case)}
    missing = [step for step in cast.disputed_steps if step not in decided]
    outcome_missing = cast.outcome_disputed and None not in decided
    if missing or outcome_missing:
        undecided = Step.objects.filter(pk__in=missing).order_by("ordinal")
        steps = list(undecided.values_list("ordinal", "message_index"))
        raise Invalid(
            translatable(
                "Not everything is decided yet: step {number} (message {index}) is missing.",
                number=steps[0][0] + 1,
                index=steps[0][1],
            )
            if steps
            else translatable("Not everything is decided yet: the outcome is missing."),
            code="incomplete",
            details={"missing": [index for _ordinal, index in steps], "outcome": outcome_missing},
        )
    now = timezone.now()
    advance(
        Adjudication,
        case.pk,
        AdjudicationState.OPEN,
        AdjudicationState.DECIDED,
        decided_at=now,
        note=text.escape(note),
    )
    advance(Trajectory, case.trajectory_id, TrajectoryState.DISPUTED, TrajectoryState.ADJUDICATED)
    consensus.write(
        trajectory_id=case.trajectory_id,
        steps=(
            (step, decided[step], ConsensusKind.ADJUDICATED)
            if step in decided
            else (step, values[0], ConsensusKind.UNANIMOUS)
            for step, values in cast.steps.items()
        ),
        outcome=(decided[None], ConsensusKind.ADJUDICATED)
        if None in decided
        else (cast.outcomes[0], ConsensusKind.UNANIMOUS),
    )
    audit.record(actor=actor, verb="case.close", project=case.project, obj=case)
    case.refresh_from_db()
    return case


@transaction.atomic
def release_case(*, actor: User, adjudication: Adjudication) -> None:
    """Hand a case back undecided; another adjudicator may take it. The decisions so far stay with the old
    case."""
    case = _own_open(actor, adjudication)
    advance(Adjudication, case.pk, AdjudicationState.OPEN, AdjudicationState.RELEASED)
    audit.record(actor=actor, verb="case.release", project=case.project, obj=case)


@transaction.atomic
def take_case_back(*, actor: Actor, adjudication: Adjudication) -> None:
    """Hand somebody's open case back in their place, so that another adjudicator may take it.

    Raises Conflict when it is not open any more.
    """
    require(actor, "assign", adjudication)
    cases = Adjudication.objects.filter(pk=adjudication.pk)
    if not open_work.release_cases(actor=actor, cases=cases, because=ExpiryReason.TAKEN_BACK):
        raise Conflict(translatable("This case is not open any more."), code="case_closed")


@transaction.atomic
def reopen_case(*, actor: User, adjudication: Adjudication) -> Adjudication:
    """Take one's own decision back, to correct it; the consensus is erased until the case is closed again."""
    require(open_work.hold(actor), "adjudicate", adjudication)
    advance(Adjudication, adjudication.pk, AdjudicationState.DECIDED, AdjudicationState.OPEN, decided_at=None)
    advance(Trajectory, adjudication.trajectory_id, TrajectoryState.ADJUDICATED, TrajectoryState.DISPUTED)
    consensus.erase(trajectory_id=adjudication.trajectory_id)
    audit.record(actor=actor, verb="case.reopen", project=adjudication.project, obj=adjudication)
    adjudication.refresh_from_db()
    return adjudication


@transaction.atomic
def reveal(
    *,
    actor: User,
    adjudication: Adjudication,
    message_index: int | None = None,
    outcome: bool = False,
    everything: bool = False,
) -> list[StepSuggestions]:
    """Show what judges suggest for one step, the outcome or all of one's own case: asked for on purpose,
    before or after deciding. The exposure is noted, and the audit log says what had been decided by then.

    `adjudication` comes with its trajectory. Raises Invalid for a message that is not a step, Conflict for a
    case that was handed back.
    """
    require(actor, "adjudicate", adjudication)
    case = Adjudication.objects.select_for_update(no_key=True, of=("self",)).get(pk=adjudication.pk)
    if case.state == AdjudicationState.RELEASED:
        raise Conflict(translatable("You have handed this case back."), code="case_closed")
    trajectory = adjudication.trajectory
    wanted = requested_steps(
        trajectory=trajectory, message_index=message_index, outcome=outcome, everything=everything
    )
    shown = suggestions_for(trajectory=trajectory, steps=wanted)
    telling = [one.step for one in shown if one.tells]
    fresh = exposures.expose_suggestions(user=actor, trajectory=trajectory, steps=telling, now=timezone.now())
    if fresh:
        decided = set(Decision.objects.filter(adjudication=case).values_list("step", flat=True))
        audit.record(
            actor=actor,
            verb="case.reveal",
            project=adjudication.project,
            obj=case,
            steps=[wanted[step] for step in wanted if step in fresh and step is not None],
            outcome=None in fresh,
            decided=[wanted[step] for step in wanted if step in fresh & decided and step is not None],
            outcome_decided=None in fresh & decided,
        )
    return shown
