"""Ask for the labels of some resolved trajectories once more (docs/sealing.md, "Rechecks").

Which ones is drawn by `sweep`, in the background: nothing that an annotator does takes longer because of it.
A recheck is then dealt to one person, whom services.assign gives it to among what they claim.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.rechecks import sampling
from annotation.core.vocabulary import (
    OF_TRAINING,
    RESOLVED,
    AssignmentState,
    AuditedState,
    LabelAuditState,
    RecheckKind,
    RecheckState,
    TrajectoryState,
)
from annotation.models import (
    Adjudication,
    Assignment,
    AuditedTrajectory,
    Consensus,
    Discussion,
    Exposure,
    Membership,
    OutcomeConsensus,
    Project,
    Recheck,
    Stratum,
    Trajectory,
    User,
)
from annotation.policies import rechecks as policy

from . import training
from .batched_writes import in_blocks
from .transitions import advance

CONSIDERED_AT_ONCE = 500
DEALT_AT_ONCE = 200
FULL = translatable("This trajectory already has all its annotators.")
DEALT_FOR = timedelta(days=7)
"""So long a recheck waits for one person before another is asked."""
DEALT_ANEW = timedelta(hours=1)
"""The time between searches for somebody when there was nobody."""
BESIDE = 4


def sweep(*, now: datetime | None = None) -> int:
    """Every worker calls this now and then: draw from what was resolved since, and look for other people
    where the one who was to be asked cannot be. Returns how many trajectories were considered."""
    now = now or timezone.now()
    fresh = Trajectory.objects.filter(live=True, stratum__isnull=True, state__in=RESOLVED)
    swept = 0
    for project in fresh.order_by("project").values_list("project", flat=True).distinct():
        pks = list(
            fresh.filter(project=project).order_by("pk").values_list("pk", flat=True)[:CONSIDERED_AT_ONCE]
        )
        in_blocks(pks, lambda pk: _consider(pk, now))
        swept += len(pks)
    in_blocks(_misdealt(now), lambda pk: _deal_anew(pk, now))
    return swept


def _consider(pk: int, now: datetime) -> None:
    """Put a resolved trajectory into its stratum, as the next of it, and ask for it again if it is chosen."""
    trajectory = Trajectory.objects.select_related("project").get(pk=pk)
    # the project's row first: two workers that look at once draw one after the other
    project = Project.objects.select_for_update(no_key=True).get(pk=trajectory.project_id)
    stratum = _stratum(trajectory)
    number = stratum.considered
    taken = Trajectory.objects.filter(pk=pk, stratum__isnull=True, state__in=RESOLVED).update(stratum=stratum)
    if not taken:
        return
    Stratum.objects.filter(pk=stratum.pk).update(considered=F("considered") + 1)

    def chosen(series: str, percent: int) -> bool:
        return sampling.chosen(
            seed=project.recheck_seed, stratum=stratum.pk, series=series, number=number, percent=percent
        )

    of_it = {"project": project, "trajectory": trajectory, "dealt_at": now, "created_at": now}
    if Discussion.objects.filter(trajectory=trajectory).exists():
        return  # its annotators have heard one another
    for assignment in policy.retested(trajectory):
        if chosen(f"retest {assignment.slot}", project.retest_percent):
            due = (assignment.submitted_at or now) + timedelta(days=project.retest_days)
            Recheck.objects.create(
                **of_it, kind=RecheckKind.RETEST.value, annotator_id=assignment.annotator_id, due_at=due
            )


def _stratum(trajectory: Trajectory) -> Stratum:
    kinds = {*Consensus.objects.filter(trajectory=trajectory).order_by().values_list("kind", flat=True)}
    kinds |= {*OutcomeConsensus.objects.filter(trajectory=trajectory).values_list("kind", flat=True)}
    stratum, _made = Stratum.objects.get_or_create(
        project_id=trajectory.project_id,
        subset_id=trajectory.subset_id,
        origin=sampling.origin_of(frozenset(kinds)).value,
        doubt=sampling.doubt_of(trajectory.doubt).value,
    )
    return stratum


def ask_readers(*, project: Project, audited: Collection[AuditedTrajectory], now: datetime) -> None:
    """Ask two people for each of these trajectories, drawn by chance among those who can be asked; nobody,
    where there are not enough. A constant number of queries."""
    trajectories = [row.trajectory_id for row in audited]
    people = set(
        Membership.objects.filter(
            policy.SEES_LITTLE[RecheckKind.AUDIT], project=project, user__is_active=True
        )
        .exclude(user__password__startswith=UNUSABLE_PASSWORD_PREFIX)
        .order_by()
        .values_list("user", flat=True)
    )
    of_it = {"trajectory__in": trajectories}
    met = {
        *Assignment.stored.filter(**of_it).order_by().values_list("trajectory", "annotator"),
        *Exposure.objects.filter(**of_it).order_by().values_list("trajectory", "user"),
        *Adjudication.objects.filter(**of_it).order_by().values_list("trajectory", "adjudicator"),
    }

    def rank(trajectory: int, person: int) -> float:
        return sampling.rank(seed=project.recheck_seed, trajectory=trajectory, person=person, turn=0)

    readings = []
    for row in audited:
        fit = [person for person in people if (row.trajectory_id, person) not in met]
        fit.sort(key=lambda person, pk=row.trajectory_id: rank(pk, person))  # type: ignore[misc]
        readings += [
            Recheck(
                project=project,
                trajectory_id=row.trajectory_id,
                audited=row,
                kind=RecheckKind.AUDIT.value,
                annotator_id=fit[reader] if reader < len(fit) else None,
                due_at=now,
                dealt_at=now,
                created_at=now,
            )
            for reader in range(sampling.READERS)
        ]
    Recheck.objects.bulk_create(readings, batch_size=500)


def _deal(recheck: Recheck, project: Project, now: datetime) -> None:
    """Choose the reader by chance among those who can be asked; nobody, when there is
    nobody. Whoever it was dealt to before is asked again only when there is no other."""
    people = policy.candidates(recheck).exclude(user__password__startswith=UNUSABLE_PASSWORD_PREFIX)
    candidates = sorted(people.values_list("user", flat=True))
    others = [person for person in candidates if person != recheck.annotator_id]
    turn = (now - recheck.created_at).days

    def rank(person: int) -> float:
        return sampling.rank(
            seed=project.recheck_seed, trajectory=recheck.trajectory_id, person=person, turn=turn
        )

    person = min(others or candidates, key=rank, default=None)
    Recheck.objects.filter(pk=recheck.pk, state=RecheckState.WAITING).update(annotator=person, dealt_at=now)


def _misdealt(now: datetime) -> list[int]:
    """Rechecks that wait for nobody, for somebody who cannot be asked, or for somebody who does not come."""
    readings = Recheck.objects.filter(
        kind=RecheckKind.AUDIT.value,
        state=RecheckState.WAITING.value,
        dealt_at__lt=now - DEALT_ANEW,
        audited__audit__state=LabelAuditState.RUNNING,
        audited__state=AuditedState.READING,
        trajectory__live=True,
    )
    here = Membership.objects.filter(
        policy.SEES_LITTLE[RecheckKind.AUDIT],
        user=OuterRef("annotator"),
        project=OuterRef("project"),
        user__is_active=True,
    )
    seen = Exposure.objects.filter(user=OuterRef("annotator"), trajectory=OuterRef("trajectory"))
    unfit = Q(annotator__isnull=True) | ~Exists(here) | Exists(seen) | Q(dealt_at__lt=now - DEALT_FOR)
    return list(readings.filter(unfit).order_by("dealt_at").values_list("pk", flat=True)[:DEALT_AT_ONCE])


def _deal_anew(pk: int, now: datetime) -> None:
    recheck = Recheck.objects.select_related("project").filter(pk=pk).first()
    if recheck is not None:
        _deal(recheck, recheck.project, now)


def demand_of_audits(user: User, project: Project) -> float:
    """The readings for audits that wait for a person, for each trajectory that is still to be labelled: they
    are to be spread over these. Two queries."""
    waiting = Recheck.objects.filter(
        project=project, annotator=user, kind=RecheckKind.AUDIT.value, state=RecheckState.WAITING.value
    ).count()
    if not waiting:
        return 0.0
    left = Trajectory.objects.filter(project=project, live=True, free_slots__gt=F("reserved")).count()
    return waiting / max(1, left)


def take(*, recheck: int, user: User, dealt: bool = True) -> Recheck:
    """Give a waiting recheck to a person, for services that asked permission; its row. `dealt`: only if it
    was dealt to them.

    Raises StaleState when somebody else has it.
    """
    waiting = Recheck.objects.filter(pk=recheck, state=RecheckState.WAITING)
    mine = waiting.filter(annotator=user) if dealt else waiting
    if not mine.update(state=RecheckState.CLAIMED, annotator=user):
        raise StaleState(FULL, code="no_free_slot")
    return Recheck.objects.get(pk=recheck)


def put_back(*, recheck: int, now: datetime) -> None:
    """It was given back, or expired: the next sweep asks somebody else for a reading, so that giving it back
    takes no longer. A retest waits for its annotator to take it up again, and so do gold and a reading for an
    audit that has ended or has compared it already."""
    advance(Recheck, recheck, RecheckState.CLAIMED, RecheckState.WAITING)
    readings = Recheck.objects.filter(
        pk=recheck, audited__audit__state=LabelAuditState.RUNNING, audited__state=AuditedState.READING
    )
    readings.update(annotator=None, dealt_at=now - 2 * DEALT_ANEW)


def finish(*, recheck: int, now: datetime) -> None:
    """Its labels are in."""
    advance(Recheck, recheck, RecheckState.CLAIMED, RecheckState.DONE)
    row = Recheck.objects.select_related("project", "trajectory", "annotator", "attempt").get(pk=recheck)
    if row.kind in OF_TRAINING:
        training.finished(row, now=now)


def too_late(*, assignment: Assignment) -> bool:
    """Whether a submitted recheck can no longer be reopened, for a service that holds its trajectory.

    As soon as one of the queue that its annotator submitted shortly before it could not, because another
    annotator has submitted that (`_beside`): of rechecks as many can be reopened as of the rest, and for as
    long. A reading besides only until its audit has compared it; a training turn but gold never.
    """
    recheck = assignment.recheck
    assert recheck is not None
    if assignment.project.annotators_per_trajectory == 1:
        return True
    if recheck.kind in OF_TRAINING and recheck.kind != RecheckKind.GOLD:
        return True
    if recheck.audited is not None and recheck.audited.state != AuditedState.READING:
        return True
    beside = _beside(assignment)
    if beside is None:
        return False
    others = Assignment.objects.filter(trajectory=beside.trajectory_id, state=AssignmentState.SUBMITTED)
    return beside.trajectory.state != TrajectoryState.LABELLING or others.exclude(pk=beside.pk).exists()


def _beside(assignment: Assignment) -> Assignment | None:
    """One of the `BESIDE` assignments of trajectories of the queue that a recheck's annotator submitted last
    before it, drawn by chance, which stays; else the first after it. One or two queries."""
    own = Assignment.objects.filter(
        project=assignment.project_id,
        annotator=assignment.annotator_id,
        state=AssignmentState.SUBMITTED,
        imported=False,
        trajectory__live=True,
    ).select_related("trajectory")
    at = assignment.submitted_at
    before = list(own.filter(submitted_at__lte=at).order_by("-submitted_at", "-pk")[:BESIDE]) if at else []
    if not before:
        return own.order_by("submitted_at", "pk").first()
    drawn = sampling.fraction(assignment.project.recheck_seed, "beside", assignment.pk)
    return before[int(drawn * len(before))]


def reopen(*, recheck: int) -> None:
    """It is being labelled again."""
    advance(Recheck, recheck, RecheckState.DONE, RecheckState.CLAIMED)
    training.forget_mark(recheck)
