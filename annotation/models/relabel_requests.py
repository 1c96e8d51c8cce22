"""Submitted work that its own annotators are asked to look at again: the guidelines have changed, or too much
of their gold was not as in the key."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import LookReason

from .labels import Assignment
from .projects import Project

LOOK_REASONS = [reason.value for reason in LookReason]


class RelabelRequest(models.Model):
    """A submitted assignment that its annotator is to label again under `version` of the guidelines.

    `batch` is shared by what was queued at once. `begun_at` is when the annotator opened it again; until then
    it can be taken back.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="relabel_requests")
    version = models.PositiveIntegerField()
    batch = models.UUIDField()
    because = models.CharField(max_length=10, default=LookReason.GUIDELINES.value)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "annotation_lookagain"
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(condition=Q(because__in=LOOK_REASONS), name="look_again_reason_known"),
            models.UniqueConstraint(
                fields=("assignment",), condition=Q(begun_at__isnull=True), name="look_again_waiting_once"
            ),
        )
        indexes = (models.Index(fields=("project", "batch"), name="look_again_by_batch"),)

    def __str__(self) -> str:
        return f"relabelling of {self.assignment_id}"
