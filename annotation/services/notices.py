"""Notices: tell people what happened in a discussion of theirs, to a claim or with a case.

A notice is a row that pages show. Where there is a mail server, a mail goes out too, by a worker and after
the commit: it says in which project there is something to read, and neither names nor anything that was said.
"""

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Q, QuerySet
from django.utils import translation

from annotation import dispatch
from annotation.core.i18n import translatable
from annotation.core.text import unescape
from annotation.core.vocabulary import NoticeKind
from annotation.language import translated
from annotation.models import (
    Adjudication,
    AdminRemark,
    Assignment,
    Comment,
    Discussion,
    Membership,
    Notice,
    Revision,
    User,
    Webhook,
)

log = logging.getLogger(__name__)

MAILED_AT_ONCE = 100


def tell(
    *,
    discussion: Discussion,
    notified: Mapping[int, NoticeKind],
    now: datetime,
    comment: Comment | None = None,
    revision: Revision | None = None,
) -> None:
    """Write a notice for each of these people (by pk), of this kind; in the caller's transaction.

    A mail is due to whoever has an address and has read everything of this discussion that they were told of
    before.
    """
    mailed = _mailed(notified, discussion=discussion)
    Notice.objects.bulk_create(
        Notice(
            user_id=pk,
            discussion=discussion,
            comment=comment,
            revision=revision,
            kind=kind.value,
            mail_due=pk in mailed,
            created_at=now,
        )
        for pk, kind in sorted(notified.items())
    )
    if mailed:
        dispatch.send("mail_notices")


def tell_one(
    *,
    user: int,
    kind: NoticeKind,
    now: datetime,
    assignment: Assignment | None = None,
    adjudication: Adjudication | None = None,
    remark: AdminRemark | None = None,
    membership: Membership | None = None,
    webhook: Webhook | None = None,
) -> None:
    """Write a notice for one person (by pk) of a claim of theirs, of a case, of a remark, about a member or
    about a webhook; in the caller's transaction."""
    about = {
        "assignment": assignment,
        "adjudication": adjudication,
        "remark": remark,
        "membership": membership,
        "webhook": webhook,
    }
    due = bool(_mailed([user], **about))
    Notice.objects.create(user_id=user, **about, kind=kind.value, mail_due=due, created_at=now)
    if due:
        dispatch.send("mail_notices")


def _mailed(notified: Iterable[int], **about: Any) -> set[int]:
    """The people among these who get a mail: those with an address who want mails, and have read everything
    that they were told of this before."""
    if not settings.MAIL_ENABLED:
        return set()
    people = list(notified)
    behind = Notice.objects.filter(user__in=people, read_at__isnull=True, **about)
    reachable = User.objects.filter(pk__in=people, is_active=True, mail_notices=True).exclude(email="")
    return set(reachable.exclude(pk__in=behind.values("user")).values_list("pk", flat=True))


def read(*, user: User, discussion: Discussion, comments: QuerySet[Comment, Any], now: datetime) -> int:
    """Mark a person's notices of a discussion as read: those of these comments, and those of none."""
    theirs = Notice.objects.filter(user=user, discussion=discussion, read_at__isnull=True)
    return theirs.filter(Q(comment__isnull=True) | Q(comment__in=comments)).update(read_at=now)


def read_all(*, user: User, discussion: Discussion, comment: int, now: datetime) -> int:
    """Mark a person's notices of a discussion as read, but for those of comments after one (by its id); how
    many were new."""
    theirs = Notice.objects.filter(user=user, discussion=discussion, read_at__isnull=True)
    notices = theirs.filter(Q(comment__isnull=True) | Q(comment__lte=comment))
    # most pages show nothing new, and are not to wait for a turn to write
    return notices.update(read_at=now) if notices.exists() else 0


def read_up_to(*, user: User, notice: int, now: datetime) -> int:
    """Mark a person's notices as read, up to one of them (by its id); how many were new."""
    return Notice.objects.filter(user=user, pk__lte=notice, read_at__isnull=True).update(read_at=now)


def read_one(*, user: User, notice: Notice, now: datetime) -> None:
    """Mark one of a person's notices as read, and with it the earlier ones of the same discussion."""
    same = Q(pk=notice.pk)
    if notice.discussion_id is not None:
        same |= Q(discussion=notice.discussion_id, pk__lte=notice.pk)
    Notice.objects.filter(same, user=user, read_at__isnull=True).update(read_at=now)


def read_unlisted(*, user: User, listed: QuerySet[Notice], now: datetime) -> None:
    """Mark as read what is not among a person's notices any more, so that it does not count as new."""
    unread = Notice.objects.filter(user=user, read_at__isnull=True)
    gone = unread.exclude(pk__in=listed.order_by().values("pk"))
    gone.update(read_at=now)


def mail_due() -> int:
    """Send the mails that are due; how many. A mail that cannot be sent is not tried again: the notice is on
    the person's pages."""
    sent = 0
    waiting = Notice.objects.filter(mail_due=True).select_related(
        *("user", "discussion__project", "assignment__project", "adjudication__project", "remark__project"),
        *("membership__project", "webhook__project"),
    )
    for notice in waiting.order_by("pk")[:MAILED_AT_ONCE]:
        if not Notice.objects.filter(pk=notice.pk, mail_due=True).update(mail_due=False):
            continue  # another worker was faster
        if notice.read_at is None and notice.user.is_active and notice.user.mail_notices:
            sent += _mail(notice.user, notice.project.name, discussed=notice.discussion_id is not None)
    return sent


def _mail(user: User, project: str, *, discussed: bool) -> bool:
    with translation.override(user.language or settings.LANGUAGE_CODE):
        subject = translated(
            translatable("A discussion on Tristep") if discussed else translatable("Something new on Tristep")
        )
        body = translated(
            translatable(
                "In the project “{project}” there is something new in a discussion of yours.\n\n"
                "Sign in to Tristep and open “My discussions” to read it. You get no further mail about this "
                "discussion before you have read it.",
                project=unescape(project),
            )
            if discussed
            else translatable(
                "In the project “{project}” there is something new about your work.\n\n"
                "Sign in to Tristep and open “Notices” to read it. You get no further mail about it before "
                "you have read it.",
                project=unescape(project),
            )
        )
    try:
        send_mail(subject, body, None, [user.email])
    except (SMTPException, OSError):
        log.warning("a notice could not be mailed", exc_info=True)
        return False
    return True
