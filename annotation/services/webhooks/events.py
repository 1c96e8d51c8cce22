"""Note an event for the webhooks that want it, in the transaction that it tells of.

Whoever changes a state calls `note` after its guarded UPDATE: what is rolled back was never noted, and what
is committed is delivered, whichever worker dies. Gold, rechecks and training are not noted, so that no event
tells what they are (docs/webhooks.md, "What it reveals").
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.utils import timezone

from annotation import dispatch
from annotation.core.vocabulary import WebhookEvent
from annotation.core.webhooks import events
from annotation.models import Webhook, WebhookDelivery
from annotation.models.prepared import Prepared

JOB = "deliver_webhook"
AT_ONCE = 1_000


def note(
    event: WebhookEvent, *, project: int, objects: Iterable[tuple[Any, Any]], now: datetime | None = None
) -> None:
    """Write a delivery of an event of a project (by its pk) for each webhook that wants it and each object.

    `objects` are (key, key of the object that orders its events), which are mostly the same. One query where
    no webhook wants it.
    """
    wanting = [pk for pk, wanted in _webhooks(project) if event.value in wanted]
    if not wanting:
        return
    at = now or timezone.now()
    rows = [
        WebhookDelivery(
            webhook_id=pk,
            event=event.value,
            object_id=str(key),
            subject=events.subject(event, str(ordered_by)),
            trajectory_id=ordered_by if events.of_trajectory(event) else None,
            created_at=at,
            next_at=at,
        )
        for key, ordered_by in objects
        for pk in wanting
    ]
    WebhookDelivery.objects.bulk_create(rows, batch_size=AT_ONCE)
    for pk in wanting:
        dispatch.send(JOB, pk)


def note_each(event: WebhookEvent, *, project: int, keys: Iterable[Any]) -> None:
    """The same of objects that order their own events."""
    note(event, project=project, objects=[(key, key) for key in keys])


def _webhooks(project: int) -> Iterable[tuple[int, list[str]]]:
    return _events(project=project)


_events = Prepared(
    lambda project: Webhook.objects.filter(project=project).order_by().values_list("pk", "events"), "project"
)
