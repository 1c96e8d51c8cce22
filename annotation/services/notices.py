"""Notices: tell the people whom a discussion concerns what happened in it.

A notice is a row that pages show. Where there is a mail server, a mail goes out too, by a worker and after
the commit: it says in which project there is something to read, and neither names nor anything that was said.
"""

import logging
from collections.abc import Mapping
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
from annotation.models import Comment, Discussion, Notice, User

log = logging.getLogger(__name__)

MAILED_AT_ONCE = 100


def tell(
    *,
    discussion: Discussion,
    told: Mapping[int, NoticeKind],
    now: datetime,
    comment: Comment | None = None,
) -> None:
    """Write a notice for each of these people (by pk), of this kind; in the caller's transaction.

    A mail is due to whoever has an address and has read everything of this discussion that they were told of
    before.
    """
    mailed: set[int] = set()
    if settings.MAIL_ENABLED:
        behind = Notice.objects.filter(user__in=told, discussion=discussion, read_at__isnull=True)
        reachable = User.objects.filter(pk__in=told, is_active=True).exclude(email="")
        mailed = set(reachable.exclude(pk__in=behind.values("user")).values_list("pk", flat=True))
    Notice.objects.bulk_create(
        Notice(
            user_id=pk,
            discussion=discussion,
            comment=comment,
            kind=kind.value,
            mail_due=pk in mailed,
            created_at=now,
        )
        for pk, kind in sorted(told.items())
    )
    if mailed:
        dispatch.send("mail_notices")


def read(*, user: User, discussion: Discussion, comments: QuerySet[Comment, Any], now: datetime) -> int:
    """Mark a person's notices of a discussion as read: those of these comments, and those of none."""
    theirs = Notice.objects.filter(user=user, discussion=discussion, read_at__isnull=True)
    return theirs.filter(Q(comment__isnull=True) | Q(comment__in=comments)).update(read_at=now)


def mail_due() -> int:
    """Send the mails that are due; how many. A mail that cannot be sent is not tried again: the notice is on
    the person's pages."""
    sent = 0
    waiting = Notice.objects.filter(mail_due=True).select_related("user", "discussion__project")
    for notice in waiting.order_by("pk")[:MAILED_AT_ONCE]:
        if not Notice.objects.filter(pk=notice.pk, mail_due=True).update(mail_due=False):
            continue  # another worker was faster
        if notice.read_at is None and notice.user.is_active:
            sent += _mail(notice.user, notice.discussion.project.name)
    return sent


def _mail(user: User, project: str) -> bool:
    with translation.override(user.language or settings.LANGUAGE_CODE):
        subject = translated(translatable("A discussion on Tristep"))
        body = translated(
            translatable(
                "In the project “{project}” there is something new in a discussion of yours.\n\n"
                "Sign in to Tristep and open “My discussions” to read it. You get no further mail about this "
                "discussion before you have read it.",
                project=unescape(project),
            )
        )
    try:
        send_mail(subject, body, None, [user.email])
    except (SMTPException, OSError):
        log.warning("a notice could not be mailed", exc_info=True)
        return False
    return True
