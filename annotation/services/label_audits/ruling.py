"""Take a case of an audit, and decide it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import RESOLVED, AuditedState, ExposureKind
from annotation.models import AuditedTrajectory, AuditRuling, Exposure, Project, Step, User, ruling_drafts
from annotation.policies import require
from annotation.policies.label_audits import own_case, takeable
from annotation.reports.quality.audited_labels import AuditedLabels, audited_labels, undecided

from .. import audit as audit_log
from .. import claim_expiry, exposures
from ..judged_steps import checked_note, checked_value
from .comparing import finish, locked

GONE = translatable("This case is not yours to decide, or no longer.")


@dataclass(frozen=True, slots=True)
class StepRuling:
    """The decision of a step or an outcome: its value, and why."""

    value: int
    note: str = ""


@transaction.atomic
def take_case(*, actor: User, project: Project) -> AuditedTrajectory:
    """The actor's case of the project's audits: the one they have, else the next that they may take.

    Raises Conflict (code "nothing_left") when there is none for them.
    """
    require(claim_expiry.hold(actor), "adjudicate", project)
    mine = own_case(actor).filter(audit__project=project).order_by("pk").first()
    if mine is not None:
        return mine
    for row in takeable(actor, project)[:10]:
        waiting = AuditedTrajectory.objects.filter(
            pk=row.pk, state=AuditedState.DECIDING, adjudicator__isnull=True
        )
        if waiting.update(adjudicator=actor, taken_at=timezone.now()):
            exposures.expose(user=actor, trajectory=row.trajectory, kind=ExposureKind.LABEL)
            audit_log.record(actor=actor, verb="label_audit.take", project=project, obj=row)
            row.refresh_from_db()
            return row
    raise Conflict(translatable("No case of an audit waits for you."), code="nothing_left")


@transaction.atomic
def keep_rulings(
    *, actor: User, audited: AuditedTrajectory, rulings: Mapping[int | None, StepRuling]
) -> None:
    """Keep what the actor has chosen in their case so far, in place of what was kept before. It decides
    nothing, and is gone with the case. Raises what `decide_case` raises but for "incomplete"."""
    case = _own_case(actor, audited, rulings)
    _write(case, actor)


@transaction.atomic
def decide_case(
    *, actor: User, audited: AuditedTrajectory, rulings: Mapping[int | None, StepRuling]
) -> AuditedTrajectory:
    """Decide all that the three labels differ on, by message index (None: the outcome). What turns out wrong
    in the consensus is corrected at once.

    Raises Invalid (code "incomplete", details {"missing": [message indexes], "outcome": bool}; or for what
    is not to be decided), Denied when it is not the actor's case (any more), and (code "exposed") to who has
    seen the consensus meanwhile.
    """
    case = _own_case(actor, audited, rulings)
    _refuse_incomplete(case.missing, case.row)
    finish(case.row, case.labels, _write(case, actor))
    audit_log.record(actor=actor, verb="label_audit.decide", project=audited.audit.project, obj=case.row)
    case.row.refresh_from_db()
    return case.row


@dataclass(frozen=True, slots=True)
class _Case:
    """One's own case, locked, with what was said of its steps (by pk), and those of which nothing was."""

    row: AuditedTrajectory
    labels: AuditedLabels
    rulings: Mapping[int | None, StepRuling]
    missing: set[int | None]


def _own_case(actor: User, audited: AuditedTrajectory, rulings: Mapping[int | None, StepRuling]) -> _Case:
    require(actor, "adjudicate", audited.audit.project)
    row = locked(audited.pk)
    if row.state != AuditedState.DECIDING or row.adjudicator_id != actor.pk:
        raise Denied(GONE)
    if row.trajectory.state not in RESOLVED:
        raise Conflict(translatable("The consensus of this trajectory was taken back."), code="not_resolved")
    seen = Exposure.objects.filter(user=actor, trajectory=row.trajectory, kind=ExposureKind.CONSENSUS)
    if seen.exists():
        raise Denied(
            translatable("You have seen the consensus of this trajectory; another adjudicator must decide."),
            code="exposed",
        )
    labels = audited_labels(row)
    open_ones = set(undecided(row, labels))
    steps = {step.message_index: step for step in Step.objects.filter(trajectory=row.trajectory)}
    by_step: dict[int | None, StepRuling] = {}
    for index, ruling in rulings.items():
        step = steps[index].pk if index in steps else None
        if (index is not None and index not in steps) or step not in open_ones:
            message = translatable("This is not to be decided: the three labels are alike.")
            raise Invalid(message, fields={"message_index": message})
        checked_value(ruling.value)
        by_step[step] = ruling
    return _Case(row, labels, by_step, open_ones - set(by_step))


def _write(case: _Case, actor: User) -> datetime:
    """Store what was said of a case in place of its draft; when."""
    now = timezone.now()
    AuditRuling.objects.filter(ruling_drafts(), audited=case.row).delete()
    AuditRuling.objects.bulk_create(
        AuditRuling(
            audited=case.row,
            step_id=step,
            before=case.labels.consensus[step].value,
            value=ruling.value,
            note=checked_note(ruling.note),
            ruled_by=actor,
            ruled_at=now,
        )
        for step, ruling in case.rulings.items()
    )
    return now


def _refuse_incomplete(missing: set[int | None], row: AuditedTrajectory) -> None:
    if not missing:
        return
    left = Step.objects.filter(pk__in=[step for step in missing if step is not None]).order_by("ordinal")
    numbers, kind = [step.ordinal + 1 for step in left], row.audit.project.of_kind
    raise Invalid(
        translatable("{step} is undecided.", step=kind.step_title(numbers[0]))
        if numbers
        else translatable("The outcome is undecided."),
        code="incomplete",
        details={"missing": [step.message_index for step in left], "outcome": None in missing},
    )
