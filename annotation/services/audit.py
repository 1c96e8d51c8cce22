"""The audit log: one row an action, in the action's own transaction."""

from typing import Any

from django.db.models import Model
from django.utils import timezone

from annotation.models import AuditEvent, Project
from annotation.policies import Actor, recorded


def record(
    *, actor: Actor, verb: str, project: Project | None = None, obj: Model | None = None, **detail: Any
) -> AuditEvent:
    """Write who did what. `detail` is JSON-ready and holds neither trajectory text nor label values."""
    return AuditEvent.objects.create(
        actor=recorded(actor),
        project=project,
        verb=verb,
        object_type=obj._meta.model_name or "" if obj is not None else "",
        object_id=str(obj.pk) if obj is not None else "",
        detail=detail,
        created_at=timezone.now(),
    )
