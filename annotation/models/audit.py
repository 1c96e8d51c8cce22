"""The audit log: events written by services in the transaction of what they tell of."""

from django.conf import settings
from django.db import models

from .projects import Project


class AuditEvent(models.Model):
    """One action. `actor` null is the operator at the command line. `detail` never holds trajectory text or
    labels. A row is never changed or deleted: triggers refuse it (frozen.py)."""

    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, null=True, blank=True, related_name="audit_events"
    )
    verb = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40, blank=True)
    object_id = models.CharField(max_length=64, blank=True)
    detail = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes = (
            models.Index(fields=("project", "-created_at"), name="audit_by_project"),
            models.Index(fields=("project", "verb", "-created_at"), name="audit_by_verb"),
            models.Index(fields=("project", "actor", "-created_at"), name="audit_by_actor"),
            models.Index(fields=("project", "object_type", "object_id"), name="audit_by_object"),
        )

    def __str__(self) -> str:
        return self.verb


class AuditLink(models.Model):
    """The place of an audit row in the chain (core/audit_chain.py): 1, 2, 3 …, without a gap."""

    event = models.OneToOneField(AuditEvent, on_delete=models.PROTECT, primary_key=True, related_name="link")
    position = models.PositiveBigIntegerField(unique=True)
    sha256 = models.CharField(max_length=64)

    def __str__(self) -> str:
        return str(self.position)
