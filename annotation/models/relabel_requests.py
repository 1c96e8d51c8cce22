"""Submitted work that its own annotators are asked to look at again, because the guidelines changed."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .labels import Assignment
from .projects import Project


class RelabelRequest(models.Model):
    """A submitted assignment that its annotator is to label again under `version` of the guidelines.

    `batch` is shared by what was queued at once. `begun_at` is when the annotator opened it again; until then
    it can be taken back.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="relabel_requests")
    version = models.PositiveIntegerField()
    batch = models.UUIDField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "annotation_lookagain"
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("assignment",), condition=Q(begun_at__isnull=True), name="look_again_waiting_once"
            ),
        )
        indexes = (models.Index(fields=("project", "batch"), name="look_again_by_batch"),)

    def __str__(self) -> str:
        return f"relabelling of {self.assignment_id}"
