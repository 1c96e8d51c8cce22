"""Remarks: what an annotator asks the admins to look at, outside of disputes."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .data import Step
from .labels import Assignment
from .projects import Project


class AdminRemark(models.Model):
    """One remark of an annotator on their own assignment; `step` null: on the whole trajectory.

    `text` and `answer` are escaped (core.text). An admin closes it, with an answer or without.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="remarks", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="remarks")
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    text = models.TextField()
    created_at = models.DateTimeField()
    answer = models.TextField(blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True, closed_by__isnull=True, answer="")
                | Q(closed_at__isnull=False, closed_by__isnull=False),
                name="remark_closed_by_somebody",
            ),
        )
        indexes = (
            models.Index(fields=("project", "-id"), name="remark_newest"),
            models.Index(fields=("project",), name="remark_open", condition=Q(closed_at__isnull=True)),
        )

    def __str__(self) -> str:
        return f"remark {self.pk}"
