"""Remarks: an annotator asks the admins to look at a step; an admin answers, or closes it."""

from django.db import transaction
from django.utils import timezone

from annotation.core import text as escaping
from annotation.core.errors import Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import NoticeKind
from annotation.models import ACTIVE_STATES, AdminRemark, Assignment, Membership, User
from annotation.policies import require
from annotation.policies.rechecks import closed

from . import audit, notices
from .judged_steps import step_at

MAX_REMARK = 20_000


def _checked(text: str) -> str:
    if len(text) > MAX_REMARK:
        message = translatable("Keep it under {limit} characters.", limit=f"{MAX_REMARK:,}")
        raise Invalid(message, fields={"text": message})
    return escaping.escape(text.strip())


@transaction.atomic
def remark(
    *, actor: User, assignment: Assignment, text: str, message_index: int | None = None
) -> AdminRemark:
    """Ask the admins to look at a step of one's own assignment, or with `message_index` None at the whole.

    The project's admins are told. Raises Denied for somebody else's assignment, StaleState for one that is
    not in hand (any more), Invalid for an empty or too long text and for what is not a step.
    """
    require(actor, "label", assignment)
    if assignment.state not in ACTIVE_STATES or closed(assignment):
        raise StaleState(translatable("This trajectory is not in your hands any more."), code="not_open")
    if not text.strip():
        message = translatable("Write something.")
        raise Invalid(message, fields={"text": message})
    now = timezone.now()
    row = AdminRemark.objects.create(
        project_id=assignment.project_id,
        assignment=assignment,
        step=step_at(assignment.trajectory_id, message_index),
        text=_checked(text),
        created_at=now,
    )
    admins = Membership.objects.filter(project=assignment.project_id, is_admin=True, user__is_active=True)
    for pk in admins.exclude(user=actor).order_by("user").values_list("user", flat=True):
        notices.tell_one(user=pk, kind=NoticeKind.REMARK, now=now, remark=row)
    audit.record(actor=actor, verb="remark.write", project=assignment.project, obj=row)
    return row


@transaction.atomic
def close_remark(*, actor: User, row: AdminRemark, answer: str = "") -> AdminRemark:
    """Close a remark, with an answer that its author reads or without; an answer is told.

    Raises Denied to whoever is no admin, StaleState when it is closed already, Invalid for a long answer.
    """
    require(actor, "trajectory.list", row.project)
    now = timezone.now()
    still_open = AdminRemark.objects.filter(pk=row.pk, closed_at__isnull=True)
    if not still_open.update(answer=_checked(answer), closed_by=actor, closed_at=now):
        raise StaleState(translatable("Somebody has closed this remark already."), code="closed")
    row.refresh_from_db()
    if row.answer:
        author = row.assignment.annotator_id
        notices.tell_one(user=author, kind=NoticeKind.ANSWERED, now=now, remark=row)
    audit.record(actor=actor, verb="remark.close", project=row.project, obj=row)
    return row
