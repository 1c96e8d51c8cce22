"""The payload of an event: a thin one, which says what happened to which object and nothing of its contents.

It has the shape that the Standard Webhooks specification 1.0.0 recommends ("Payload structure").
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from annotation.core.vocabulary import WebhookEvent


@dataclass(frozen=True, slots=True)
class EventKind:
    """The object that events of a type are about, and its page: an address below the project's, in which {id}
    stands for the object that orders the events. `ordered_by`: the kind of that object, if it is another."""

    kind: str
    page: str
    ordered_by: str = ""


KINDS: Final = {
    WebhookEvent.SUBMITTED: EventKind("assignment", "trajectories/{id}/", "trajectory"),
    WebhookEvent.DISPUTED: EventKind("trajectory", "trajectories/{id}/"),
    WebhookEvent.RESOLVED: EventKind("trajectory", "trajectories/{id}/"),
    WebhookEvent.MEMBER_PAUSED: EventKind("member", "members/"),
    WebhookEvent.RUN_FINISHED: EventKind("run", "runs/{id}/"),
    WebhookEvent.RELEASE_FROZEN: EventKind("release", "releases/"),
    WebhookEvent.TEST: EventKind("webhook", "webhooks/{id}/"),
}
CHOSEN: Final = tuple(event for event in WebhookEvent if event is not WebhookEvent.TEST)
"""The events that an admin chooses among."""


def subject(event: WebhookEvent, key: str) -> str:
    """The name of the object whose events are delivered one after the other: of what is submitted its
    trajectory (`key`), so that it comes before the dispute that it leads to."""
    return f"{_orders(event)}:{key}"


def of_trajectory(event: WebhookEvent) -> bool:
    """Whether an event tells of a trajectory, whose key is then that of its subject."""
    return _orders(event) == "trajectory"


def _orders(event: WebhookEvent) -> str:
    return KINDS[event].ordered_by or KINDS[event].kind


def payload(
    event: WebhookEvent, *, project: str, object_id: str, subject: str, at: datetime, address: str
) -> bytes:
    """The body of a delivery as JSON; the same whenever it is made.

    `project` is the slug, `subject` as made by `subject`, `address` where people reach this Tristep, such as
    https://tristep.example.org ("": the link is a path).
    """
    about = KINDS[event]
    page = about.page.format(id=subject.partition(":")[2])
    event_json = {
        "type": event.value,
        "timestamp": at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "data": {
            "id": object_id,
            "kind": about.kind,
            "project": project,
            "link": f"{address.rstrip('/')}/p/{project}/{page}",
        },
    }
    return json.dumps(event_json, ensure_ascii=False, separators=(",", ":")).encode()
