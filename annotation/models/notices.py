"""Notices: what people are told of on their pages, and by mail where they want it."""

from functools import reduce
from operator import or_

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import NoticeKind

from .connections.webhooks import Webhook
from .consensus import Adjudication
from .discussion import Comment, Discussion, Revision
from .labels import Assignment
from .projects import Membership, Project
from .remarks import AdminRemark

ABOUT = ("discussion", "assignment", "adjudication", "remark", "membership", "webhook")


def _about_one(name: str) -> Q:
    """The condition that a notice is about this and nothing else."""
    return Q(**{f"{other}__isnull": other != name for other in ABOUT})


class Notice(models.Model):
    """Tells one person of something: in a discussion (`comment` or `revision` where it tells of one), of a
    claim of theirs, of a case or of a remark; about a member, which they are or administer; or about a
    webhook.

    `mail_due` is true until the mail has been sent, where there is a mail server and the person has an
    address and wants it (services.notices).
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices", db_index=False
    )
    discussion = models.ForeignKey(
        Discussion, on_delete=models.CASCADE, null=True, blank=True, related_name="notices"
    )
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    revision = models.ForeignKey(
        Revision, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    adjudication = models.ForeignKey(
        Adjudication, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    remark = models.ForeignKey(AdminRemark, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=12)
    mail_due = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in NoticeKind]), name="notice_kind_known"
            ),
            models.CheckConstraint(
                condition=reduce(or_, map(_about_one, ABOUT)), name="notice_about_one_thing"
            ),
        )
        indexes = (
            models.Index(fields=("user", "-id"), name="notice_newest"),
            models.Index(fields=("user",), name="notice_unread", condition=Q(read_at__isnull=True)),
            models.Index(fields=("id",), name="notice_mail_due", condition=Q(mail_due=True)),
        )

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"

    @property
    def project(self) -> Project:
        """The project of the event."""
        about = (
            self.discussion
            or self.assignment
            or self.adjudication
            or self.remark
            or self.membership
            or self.webhook
        )
        assert about is not None
        return about.project
