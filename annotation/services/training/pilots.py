"""Pilots: everybody labels the same few trajectories before the queue opens (docs/training.md, "Pilot")."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import NoticeKind, PilotState, RecheckKind, RecheckState
from annotation.models import Assignment, Guideline, Membership, Pilot, Project, Recheck, Subset, User
from annotation.models.prepared import Prepared
from annotation.policies import OPERATOR, Actor, recorded, require
from annotation.reports.training.pilots import pilot_progress

from .. import audit, notices
from ..transitions import advance
from .turns import ask

RUNNING = translatable(
    "A pilot is running: the queue opens when everybody has labelled it. What you have returned of it is "
    "under My work."
)
BOUND = translatable("Give a number from −1 to below 1.")


@transaction.atomic
def begin_pilot(
    *, actor: User, project: Project, subset: Subset, bound: float, new_guidelines: bool = False
) -> Pilot:
    """Ask all annotators, and whoever becomes one, for the labels of a training subset before anything else.

    Raises Invalid for a subset that is not fit or a bound that is none, Conflict (code "running") while
    another pilot runs.
    """
    require(actor, "training.change", project)
    if not -1 <= bound < 1:
        raise Invalid(BOUND, fields={"bound": BOUND})
    items = subset.trajectories.filter(training=True)
    if subset.project_id != project.pk or not subset.training or not items.exists():
        reason = translatable("Choose a training subset with trajectories in it.")
        raise Invalid(reason, fields={"subset": reason})
    if Pilot.objects.filter(subset=subset).exclude(state=PilotState.RUNNING).exists():
        reason = translatable("This subset has been in a pilot before: everybody knows it.")
        raise Invalid(reason, fields={"subset": reason})
    now = timezone.now()
    try:
        with transaction.atomic():
            pilot = Pilot.objects.create(
                project=project,
                subset=subset,
                bound=bound,
                new_guidelines=new_guidelines,
                guideline_version=_guidelines(project),
                begun_by=recorded(actor),
                begun_at=now,
            )
    except IntegrityError:
        raise Conflict(translatable("A pilot is running already."), code="running") from None
    for member in _annotators(project):
        _ask(pilot, member, now)
        notices.tell_one(user=member.user_id, kind=NoticeKind.PILOT_BEGUN, now=now, membership=member)
    audit.record(actor=actor, verb="pilot.begin", project=project, obj=pilot, subset=subset.name, bound=bound)
    return pilot


def _guidelines(project: Project) -> int:
    newest = Guideline.objects.filter(project=project).order_by("-version")
    return newest.values_list("version", flat=True).first() or 0


def _annotators(project: Project) -> QuerySet[Membership]:
    rows = Membership.objects.filter(project=project, is_annotator=True, user__is_active=True)
    return rows.select_related("user").order_by("pk")


def _ask(pilot: Pilot, member: Membership, now: datetime) -> None:
    items = pilot.subset.trajectories.filter(training=True).order_by("position", "pk")
    had = Assignment.stored.filter(trajectory=OuterRef("pk"), annotator=member.user_id)
    ask(
        kind=RecheckKind.PILOT,
        project=pilot.project,
        trajectories=list(items.filter(~Exists(had)).values_list("pk", flat=True)),
        annotator=member.user,
        now=now,
    )


_running = Prepared(
    lambda project: Pilot.objects.filter(project=project, state=PilotState.RUNNING).order_by("pk")[:1],
    "project",
)


def pilot_turn(membership: Membership) -> int | None:
    """The next turn (pk) of a member at the running pilot; None: none runs.

    Raises Conflict (code "pilot") where they have had all of it: the queue is not open yet.
    """
    pilot = _running.first(project=membership.project_id)
    if pilot is None:
        return None
    rows = Recheck.objects.filter(
        project=membership.project_id, annotator=membership.user_id, kind=RecheckKind.PILOT.value
    )
    if not rows.filter(trajectory__subset=pilot.subset_id).exists():
        _ask(pilot, membership, timezone.now())
    # what they have returned they resume
    had = Assignment.stored.filter(recheck=OuterRef("pk"), annotator=membership.user_id)
    waiting = rows.filter(~Exists(had), state=RecheckState.WAITING, trajectory__training=True)
    turn = waiting.order_by("pk").values_list("pk", flat=True).first()
    if turn is None:
        raise Conflict(RUNNING, code="pilot")
    return turn


def sweep_pilots(*, now: datetime | None = None) -> int:
    """Every worker calls this now and then: open the queue where a pilot has reached what it asks; how many.

    That is: all annotators have labelled all of it, α is at least the bound, and the guidelines are newer
    than at its beginning where that is asked.
    """
    now = now or timezone.now()
    opened = 0
    for pilot in Pilot.objects.filter(state=PilotState.RUNNING).select_related("project", "subset"):
        progress = pilot_progress(pilot)
        alpha = progress.alpha.value
        if not progress.complete or alpha is None or alpha < pilot.bound:
            continue
        if pilot.new_guidelines and _guidelines(pilot.project) <= pilot.guideline_version:
            continue
        try:
            _end(OPERATOR, pilot, PilotState.PASSED, alpha, now)
        except StaleState:
            continue  # another worker was faster
        opened += 1
    return opened


def stop_pilot(*, actor: Actor, pilot: Pilot) -> Pilot:
    """Open the queue without waiting for a pilot; its labels stay. Raises StaleState when it has ended."""
    require(actor, "training.change", pilot)
    return _end(actor, pilot, PilotState.STOPPED, pilot_progress(pilot).alpha.value, timezone.now())


@transaction.atomic
def _end(actor: Actor, pilot: Pilot, state: PilotState, alpha: float | None, now: datetime) -> Pilot:
    advance(Pilot, pilot.pk, PilotState.RUNNING, state, alpha=alpha, ended_at=now)
    waiting = Recheck.objects.filter(
        project=pilot.project_id,
        trajectory__subset=pilot.subset_id,
        kind=RecheckKind.PILOT.value,
        state=RecheckState.WAITING,
    )
    waiting.filter(~Exists(Assignment.stored.filter(recheck=OuterRef("pk")))).delete()
    for member in _annotators(pilot.project):
        notices.tell_one(user=member.user_id, kind=NoticeKind.PILOT_ENDED, now=now, membership=member)
    verb = "pilot.pass" if state is PilotState.PASSED else "pilot.stop"
    audit.record(actor=actor, verb=verb, project=pilot.project, obj=pilot, alpha=alpha)
    pilot.refresh_from_db()
    return pilot
