"""Ask annotators to look again at what they labelled under older guidelines or since their last good gold;
take that back; look again."""

from collections.abc import Mapping
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.core.errors import Conflict, Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import (
    AdjudicationState,
    AuditedState,
    LookReason,
    NoticeKind,
    RecheckKind,
    RecheckState,
)
from annotation.models import (
    Adjudication,
    Assignment,
    AuditedTrajectory,
    Discussion,
    Membership,
    Project,
    Recheck,
    RelabelRequest,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR, Actor, require
from annotation.reports.quality import look_again as report
from annotation.reports.quality.since_check import GONE, since_check
from annotation.reports.releases.release_preview import frozen_in

from .. import assign, audit, claim_expiry, consensus, notices, rechecks, training
from .reopen import open_again

NOT_ASKED = translatable("You are not, or no longer, asked to look at this trajectory again.")


@transaction.atomic
def queue_again(*, actor: User, project: Project, filters: Mapping[str, str], expected: int) -> UUID:
    """Ask the annotators of all submitted work that fits to look at it again; the batch.

    `expected` is the number that the actor was shown. Raises Conflict (codes "nothing", "changed") when there
    is nothing, or another number by now; Invalid for a filter that does not exist.
    """
    require(actor, "project.change", project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    preview = report.preview(actor=actor, project=project, filters=filters)
    if not preview.ready:
        raise Conflict(
            translatable("None of the matching assignments can be looked at again."), code="nothing"
        )
    batch = _ask(actor, project, preview, expected, LookReason.GUIDELINES)
    audit.record(
        actor=actor,
        verb="guidelines.look_again",
        project=project,
        version=report.current_version(project),
        queued=expected,
        filters={name: value for name, value in filters.items() if value},
    )
    return batch


@transaction.atomic
def queue_since_check(*, actor: User, membership: Membership, expected: int) -> UUID:
    """Ask a member to look again at what they have submitted since their last good gold; the batch. While
    they are paused it waits.

    `expected` is the number that the actor was shown. Raises Conflict (codes "nothing", "changed") as
    `queue_again`, and (code "gone") for who is no annotator of the project any more.
    """
    require(actor, "members.change", membership)
    Project.objects.select_for_update(no_key=True).get(pk=membership.project_id)
    rows = Membership.objects.select_for_update(no_key=True, of=("self",)).select_related("project", "user")
    current = rows.filter(pk=membership.pk, is_annotator=True).first()
    if current is None:
        raise Conflict(GONE, code="gone")
    check = since_check(actor=actor, membership=current)
    if check.refusal:
        raise Conflict(check.refusal, code="nothing")
    batch = _ask(actor, current.project, check.preview, expected, LookReason.CHECK)
    audit.record(
        actor=actor,
        verb="member.look_again",
        project=current.project,
        obj=current,
        username=current.user.username,
        queued=expected,
    )
    return batch


def _ask(
    actor: User, project: Project, preview: report.RelabelPreview, expected: int, because: LookReason
) -> UUID:
    """Ask for another look at what can be; the batch. Gold among it is held against its key before: what is
    said on a second look is no draw by chance. Who is paused is told once they are resumed."""
    if len(preview.ready) != expected:
        raise Conflict(
            translatable("{n} assignments match now; check the list again.", n=len(preview.ready)),
            code="changed",
        )
    now, batch = timezone.now(), uuid4()
    version = report.current_version(project)
    training.mark_now([row.recheck_id for row in preview.ready if row.recheck_id is not None], now=now)
    RelabelRequest.objects.bulk_create(
        RelabelRequest(
            project=project,
            assignment=row,
            version=version,
            batch=batch,
            because=because.value,
            asked_by=actor,
            asked_at=now,
        )
        for row in preview.ready
    )
    paused = set(
        Membership.objects.filter(project=project, paused_at__isnull=False).values_list("user", flat=True)
    )
    for row in {row.annotator_id: row for row in reversed(preview.ready)}.values():
        if row.annotator_id not in paused:
            notices.tell_one(user=row.annotator_id, kind=NoticeKind.LOOK_AGAIN, now=now, assignment=row)
    return batch


@transaction.atomic
def unqueue(*, actor: User, project: Project, batch: UUID) -> int:
    """Take back what nobody of a batch has begun; how many. Raises Conflict when all have."""
    require(actor, "project.change", project)
    gone = _take_back(actor, project, RelabelRequest.objects.filter(project=project, batch=batch))
    if not gone:
        raise Conflict(
            translatable("All assignments of this batch have been begun or taken back."), code="nothing"
        )
    return gone


def _take_back(actor: Actor, project: Project, looks: QuerySet[RelabelRequest]) -> int:
    """Ask no more for those of these looks that are not begun; how many."""
    rows = looks.filter(begun_at__isnull=True)
    trajectories = set(rows.order_by().values_list("assignment__trajectory", flat=True))
    # as in beginning one: else the two could wait for each other
    locked = Trajectory.objects.filter(pk__in=trajectories).order_by("pk").select_for_update(no_key=True)
    list(locked.values_list("pk", flat=True))
    gone, _models = rows.filter(assignment__trajectory__in=trajectories).delete()
    if gone:
        # what somebody has looked at again meanwhile waited for these
        consensus.settle(trajectories)
        audit.record(actor=actor, verb="guidelines.look_again_undo", project=project, taken_back=gone)
    return gone


def sweep_looks() -> int:
    """Every worker calls this now and then: ask no more whoever has left, or has seen others' labels since,
    so that nobody waits for them; how many looks that were."""
    hopeless = report.hopeless(RelabelRequest.objects.filter(begun_at__isnull=True))
    taken = 0
    for project in Project.objects.filter(pk__in=hopeless.order_by().values("project")):
        with transaction.atomic():
            taken += _take_back(OPERATOR, project, hopeless.filter(project=project))
    return taken


@transaction.atomic
def look_again(*, actor: User, assignment: Assignment) -> Assignment:
    """Open one's own submitted assignment again, as one was asked to; its trajectory is labelled once more
    until all who were asked have submitted.

    Gold and rechecks are opened as if their labels were among the N: nothing is settled anew by them. Raises
    Conflict (codes "not_asked", "frozen", and "paused" to who is), Denied to whoever has seen others' labels
    of it meanwhile.
    """
    require(claim_expiry.hold(actor), "label", assignment)
    Assignment.stored.select_for_update(no_key=True).get(pk=assignment.pk)
    Project.objects.select_for_update(no_key=True).get(pk=assignment.project_id)
    trajectory = (
        Trajectory.objects.select_for_update(no_key=True, of=("self",))
        .select_related("subset")
        .get(pk=assignment.trajectory_id)
    )
    training.refuse_paused(Membership.objects.filter(project=assignment.project_id, user=actor).first())
    now = timezone.now()
    waiting = RelabelRequest.objects.filter(assignment=assignment, begun_at__isnull=True)
    request = waiting.select_related("asked_by").first()
    if request is None or not waiting.update(begun_at=now):
        raise Conflict(NOT_ASKED, code="not_asked")
    _refuse_closed(actor, request, assignment, trajectory)
    if assignment.recheck_id is None:
        consensus.unsettle(trajectory=trajectory, actor=request.asked_by)
    open_again(assignment, now)
    if assignment.recheck_id is not None:
        rechecks.reopen(recheck=assignment.recheck_id)
    audit.record(
        actor=actor,
        verb="assignment.look_again",
        project=assignment.project,
        obj=assignment,
        version=request.version,
    )
    assignment.refresh_from_db()
    return assignment


def _asked_beside(request: RelabelRequest) -> Trajectory | None:
    """The trajectory of the queue before one in its batch, or else after it, that is not begun."""
    rows = RelabelRequest.objects.filter(
        batch=request.batch,
        assignment__annotator=request.assignment.annotator_id,
        assignment__recheck__isnull=True,
        begun_at__isnull=True,
    ).select_related("assignment__trajectory__subset")
    beside = rows.filter(pk__lt=request.pk).order_by("-pk").first() or rows.order_by("pk").first()
    return beside.assignment.trajectory if beside is not None else None


def _refuse_closed(
    actor: User, request: RelabelRequest, assignment: Assignment, trajectory: Trajectory
) -> None:
    recheck = assignment.recheck
    # no release holds gold: it is refused with what was asked for beside it
    gold = recheck is not None and recheck.kind == RecheckKind.GOLD
    release = frozen_in((gold and _asked_beside(request)) or trajectory)
    if release is not None:
        message = translatable("Release {version} holds this trajectory by now.", version=release.version)
        raise Conflict(message, code="frozen")
    open_case = Adjudication.objects.filter(trajectory=trajectory, state=AdjudicationState.OPEN)
    audited = AuditedTrajectory.objects.filter(
        readings__in=[recheck] if recheck else [], state=AuditedState.DECIDING
    )
    if Discussion.objects.filter(trajectory=trajectory).exists() or open_case.exists() or audited.exists():
        # no annotator is to learn here that there is a dispute
        raise Conflict(NOT_ASKED, code="not_asked")
    mine = {"trajectory": trajectory, "annotator": actor}
    if recheck is None and Assignment.stored.filter(**mine, recheck__isnull=False).exists():
        raise Conflict(NOT_ASKED, code="not_asked")
    # what was drawn since is not asked for blind any more
    Recheck.objects.filter(**mine, kind=RecheckKind.RETEST, state=RecheckState.WAITING).delete()
    if assign.has_seen_labels(actor, trajectory):
        raise Denied(translatable("You have seen other people's labels of this trajectory."), code="exposed")
