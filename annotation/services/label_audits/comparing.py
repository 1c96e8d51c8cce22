"""Compare what an audit's readers say with the consensus, in the background, and correct what is wrong."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from annotation.core.rechecks.sampling import READERS
from annotation.core.resolution import AnnotatorPosition, Resolution, Ruling, resolve, sound_roots
from annotation.core.vocabulary import (
    RESOLVED,
    AdjudicationState,
    AssignmentState,
    AuditedState,
    ExposureKind,
    NoticeKind,
    RecheckState,
)
from annotation.models import (
    Adjudication,
    Assignment,
    AuditedTrajectory,
    AuditRuling,
    Exposure,
    Membership,
    Trajectory,
    ruling_drafts,
)
from annotation.policies.label_audits import ONLY_ADJUDICATES
from annotation.policies.own_consensus import why_no_consensus
from annotation.reports.quality.audited_labels import AuditedLabels, audited_labels, undecided

from .. import consensus, notices
from ..batched_writes import in_blocks
from ..transitions import advance

COMPARED_AT_ONCE = 200
HELD_FOR = timedelta(days=7)
"""So long an adjudicator has a case before another may take it."""


def sweep(*, now: datetime | None = None) -> int:
    """Every worker calls this now and then: compare what both readers have handed in, and free cases whose
    adjudicator has left or does not come. Returns how many trajectories were compared."""
    now = now or timezone.now()
    read = (
        AuditedTrajectory.objects.filter(
            state=AuditedState.READING, trajectory__live=True, trajectory__state__in=RESOLVED
        )
        .annotate(done=Count("readings", filter=Q(readings__state=RecheckState.DONE)))
        .filter(done__gte=READERS)
    )
    pks = list(read.order_by("pk").values_list("pk", flat=True)[:COMPARED_AT_ONCE])
    in_blocks(pks, lambda pk: _compare(pk, now))
    _free(now)
    return len(pks)


def _free(now: datetime) -> None:
    here = Membership.objects.filter(
        ONLY_ADJUDICATES,
        user=OuterRef("adjudicator"),
        project=OuterRef("audit__project"),
        user__is_active=True,
    )
    exposed = Exposure.objects.filter(
        user=OuterRef("adjudicator"), trajectory=OuterRef("trajectory"), kind=ExposureKind.CONSENSUS
    )
    held = AuditedTrajectory.objects.filter(state=AuditedState.DECIDING, adjudicator__isnull=False)
    unfit = ~Exists(here) | Exists(exposed) | Q(taken_at__lt=now - HELD_FOR)
    gone = list(held.filter(unfit).values_list("pk", flat=True))
    AuditRuling.objects.filter(ruling_drafts(), audited__in=gone).delete()
    held.filter(pk__in=gone).update(adjudicator=None, taken_at=None)


def _compare(pk: int, now: datetime) -> None:
    """To be decided where the three differ; done where they do not."""
    row = locked(pk)
    if row.state != AuditedState.READING or row.trajectory.state not in RESOLVED:
        return
    if row.readings.filter(state=RecheckState.DONE).count() < READERS:
        return  # one was reopened meanwhile
    labels = audited_labels(row)
    if undecided(row, labels):
        advance(AuditedTrajectory, pk, AuditedState.READING, AuditedState.DECIDING)
    else:
        finish(row, labels, now)


def locked(pk: int) -> AuditedTrajectory:
    """A trajectory of an audit, its own row locked after the trajectory's: nobody takes the consensus back
    between what is read here and what is written."""
    of_it = AuditedTrajectory.objects.filter(pk=pk).values("trajectory")
    trajectory = Trajectory.objects.select_for_update(no_key=True, of=("self",)).get(pk__in=of_it)
    row = AuditedTrajectory.objects.select_for_update(no_key=True, of=("self",)).get(pk=pk)
    row.trajectory = trajectory
    return row


def finish(row: AuditedTrajectory, labels: AuditedLabels, now: datetime) -> None:
    """Correct the consensus where what was decided is another value, say so to whom it concerns, and count
    the steps on which it was wrong."""
    rulings = {ruling.step_id: ruling for ruling in AuditRuling.objects.filter(audited=row)}
    wrong = {step: ruling for step, ruling in rulings.items() if labels.consensus[step].value != ruling.value}
    if wrong:
        again = [ruling for step, ruling in wrong.items() if labels.consensus[step].value != ruling.before]
        for ruling in again:
            # the consensus has been another one since
            ruling.before = labels.consensus[ruling.step_id].value
        AuditRuling.objects.bulk_update(again, ["before"])
        before = labels.consensus
        after = _corrected(labels, wrong)
        consensus.correct(
            trajectory=row.trajectory_id,
            corrected={step: it for step, it in after.items() if it != before[step]},
            by={step: ruling.ruled_by_id for step, ruling in wrong.items()},
        )
        _tell(row, now)
    advance(
        AuditedTrajectory,
        row.pk,
        (AuditedState.READING, AuditedState.DECIDING),
        AuditedState.DONE,
        wrong=sum(step is not None and it.value != it.before for step, it in rulings.items()),
        done_at=now,
    )


def _corrected(
    labels: AuditedLabels, wrong: Mapping[int | None, AuditRuling]
) -> dict[int | None, Resolution]:
    """The consensus of the whole trajectory with what was decided. A corrected −1 takes the root and the
    reason on which those agree who said so. The root of an error that is none any more is replaced by the one
    that both readers name, or by none."""
    after = dict(labels.consensus)
    for step, ruling in wrong.items():
        was = labels.consensus[step]
        three = (AnnotatorPosition(was.value, was.value, was.root, was.reason), *labels.readers[step])
        decided = Ruling(value=ruling.value, note=ruling.note, at=ruling.ruled_at)
        resolution = resolve(three, decided)
        assert resolution is not None
        after[step] = resolution
    sound = sound_roots(after)
    for step, it in sound.items():
        if it.root is not None or after[step].root is None:
            continue
        roots = {label.root for label in labels.readers[step]}
        named = resolve(labels.readers[step], None)
        if len(roots) == 1 and named is not None and named.value == it.value:
            after[step] = Resolution(it.value, it.kind, named.root, it.reason, it.note, it.by_ruling, it.at)
    return sound_roots(after)


def _tell(row: AuditedTrajectory, now: datetime) -> None:
    """Tell who decided its case, and those of its annotators who may read the consensus beside their own
    labels: to the others this would say what they are not to know."""
    trajectory = row.trajectory
    for case in Adjudication.objects.filter(trajectory=trajectory, state=AdjudicationState.DECIDED):
        notices.tell_one(user=case.adjudicator_id, kind=NoticeKind.CORRECTED, now=now, adjudication=case)
    mine = Assignment.objects.filter(trajectory=trajectory, state=AssignmentState.SUBMITTED)
    for assignment in mine.select_related("annotator", "project", "trajectory").order_by("pk"):
        if not why_no_consensus(assignment.annotator, assignment):
            notices.tell_one(
                user=assignment.annotator_id, kind=NoticeKind.CORRECTED, now=now, assignment=assignment
            )
