"""Begin an audit of a project's labels, add draws, and end it."""

from collections import defaultdict
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.core.audits.drawing import chances, draw
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.rechecks.sampling import origin_of
from annotation.core.vocabulary import AuditedState, LabelAuditState, RecheckState
from annotation.models import (
    AuditDraw,
    AuditedTrajectory,
    Consensus,
    LabelAudit,
    OutcomeConsensus,
    Project,
    Recheck,
)
from annotation.policies import Actor, recorded, require
from annotation.reports.judging.stack import expected_wrong
from annotation.reports.quality.audit_planning import drawable

from .. import audit as audit_log
from .. import rechecks
from ..transitions import advance

MOST_DRAWS = 5_000
"""The most draws of one audit."""
BATCH = 1_000


def begin_audit(
    *, actor: Actor, project: Project, wished: float, draws: int, mixed: bool = True
) -> LabelAudit:
    """Draw trajectories among all that are resolved, and ask two readers for each.

    With `mixed`, a tenth of the chance of a trajectory goes by the steps that stacked judges expect to be
    wrong (core.audits.drawing); without, or where no judges are stacked, by its steps alone. `wished` is the
    share of wrong steps that the audit is to stay below, `draws` how many are drawn first
    (core.audits.planning says how many that takes). Raises Invalid for either out of range, Conflict (codes
    "running", "nothing") while another audit runs, and when nothing is resolved.
    """
    require(actor, "label_audit.change", project)
    if not 0 < wished < 1:
        message = translatable("A share above 0 and below 100 %.")
        raise Invalid(message, fields={"wished": message})
    # before anything is locked: fitting the judges takes its time
    expected = expected_wrong(project) if mixed else {}
    with transaction.atomic():
        return _begin(actor, project, wished, draws, expected)


def _begin(
    actor: Actor, project: Project, wished: float, draws: int, expected: dict[int, float]
) -> LabelAudit:
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if LabelAudit.objects.filter(project=project, state=LabelAuditState.RUNNING).exists():
        raise Conflict(translatable("An audit is running; end it before another begins."), code="running")
    steps = drawable(project)
    if not steps:
        raise Conflict(
            translatable("Nothing is resolved yet: there is nothing to draw from."), code="nothing"
        )
    now = timezone.now()
    begun = LabelAudit.objects.create(
        project=project,
        wished=wished,
        mixed=any(expected.get(pk, 0) > 0 for pk in steps),
        begun_by=recorded(actor),
        begun_at=now,
    )
    origins = _origins(project)
    AuditedTrajectory.objects.bulk_create(
        (
            AuditedTrajectory(
                audit=begun, trajectory_id=pk, steps=steps[pk], chance=chance, origin=origin_of(origins[pk])
            )
            for pk, chance in chances(steps, expected).items()
        ),
        batch_size=BATCH,
    )
    _draw(begun, draws, now)
    audit_log.record(
        actor=actor,
        verb="label_audit.begin",
        project=project,
        obj=begun,
        wished=wished,
        draws=draws,
        trajectories=len(steps),
    )
    return begun


def _origins(project: Project) -> dict[int, frozenset[str]]:
    """The kinds of a trajectory's consensus, outcome included, by its pk."""
    kinds: dict[int, set[str]] = defaultdict(set)
    for model in (Consensus, OutcomeConsensus):
        rows = model.objects.filter(trajectory__project=project, trajectory__live=True).order_by()
        for pk, kind in rows.values_list("trajectory", "kind").distinct():
            kinds[pk].add(kind)
    return defaultdict(frozenset, {pk: frozenset(origins) for pk, origins in kinds.items()})


@transaction.atomic
def add_draws(*, actor: Actor, audit: LabelAudit, draws: int) -> LabelAudit:
    """Draw more, where the sequence of its seed goes on. Raises Invalid for a number out of range, Conflict
    (code "ended") for an audit that has ended."""
    require(actor, "label_audit.change", audit)
    running = _running(audit)
    _draw(running, draws, timezone.now())
    audit_log.record(actor=actor, verb="label_audit.add", project=running.project, obj=running, draws=draws)
    return running


@transaction.atomic
def end_audit(*, actor: Actor, audit: LabelAudit) -> LabelAudit:
    """Ask for no further readings. What is being read or decided may still be finished, and counts.

    Raises Conflict (code "ended") when it has ended.
    """
    require(actor, "label_audit.change", audit)
    running = _running(audit)
    advance(LabelAudit, running.pk, LabelAuditState.RUNNING, LabelAuditState.ENDED, ended_at=timezone.now())
    waiting = Recheck.objects.filter(audited__audit=running, state=RecheckState.WAITING)
    # what somebody has returned or let expire keeps its draft
    waiting.filter(assignments__isnull=True).delete()
    audit_log.record(actor=actor, verb="label_audit.end", project=running.project, obj=running)
    running.refresh_from_db()
    return running


def _running(audit: LabelAudit) -> LabelAudit:
    """The audit, locked. Raises Conflict when it is not running."""
    rows = LabelAudit.objects.select_for_update(no_key=True, of=("self",)).select_related("project")
    locked = rows.get(pk=audit.pk)
    if locked.state != LabelAuditState.RUNNING:
        raise Conflict(translatable("This audit has ended."), code="ended")
    return locked


def _draw(audit: LabelAudit, number: int, now: datetime) -> None:
    """The next draws of an audit; what is drawn for the first time gets two readers."""
    start = AuditDraw.objects.filter(audit=audit).count()
    if not 0 < number <= MOST_DRAWS - start:
        message = translatable("Draw 1 to {most} trajectories.", most=f"{MOST_DRAWS - start:,}")
        raise Invalid(message, fields={"draws": message})
    listed = AuditedTrajectory.objects.filter(audit=audit).order_by()
    rows = {
        trajectory: (pk, chance)
        for pk, trajectory, chance in listed.values_list("pk", "trajectory", "chance")
    }
    drawn = draw(audit.seed, {pk: chance for pk, (_row, chance) in rows.items()}, number, start)
    AuditDraw.objects.bulk_create(
        (
            AuditDraw(audit=audit, number=at, audited_id=rows[trajectory][0])
            for at, trajectory in enumerate(drawn, start)
        ),
        batch_size=BATCH,
    )
    order = list(dict.fromkeys(rows[trajectory][0] for trajectory in drawn))
    fresh = AuditedTrajectory.objects.filter(pk__in=order, state=AuditedState.LISTED).in_bulk()
    AuditedTrajectory.objects.filter(pk__in=fresh).update(state=AuditedState.READING)
    rechecks.ask_readers(project=audit.project, audited=[fresh[pk] for pk in order if pk in fresh], now=now)
