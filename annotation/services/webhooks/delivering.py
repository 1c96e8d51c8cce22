"""Deliver what was noted: at least once, in the order of each object, by one worker a webhook at a time.

A worker leases the webhook's row, sends what is due, and writes down each answer before it sends the next.
When it dies in between, the lease runs out, and another sends again what nobody wrote down: a receiver tells
repetitions by their id. No transaction is open while a server is asked.
"""

import logging
import random
import time
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation import dispatch
from annotation.core import workflow
from annotation.core.errors import StaleState
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.core.vocabulary import DeliveryState, NoticeKind, WebhookEvent, WebhookPause
from annotation.core.webhooks import events, schedule
from annotation.models import Membership, Webhook, WebhookDelivery
from annotation.models.connections.webhooks import KEPT_ANSWER
from annotation.policies import OPERATOR, Actor, require

from .. import audit, job_lease, notices
from ..transitions import advance
from .events import JOB
from .secrets import valid_secrets
from .sending import GONE, Answer, allows, headers, send

log = logging.getLogger(__name__)

TURN_SECONDS = 30.0
"""After so long a worker lets others do something; what is left is sent for anew."""
KEPT = timedelta(days=30)
"""So long the log keeps what was delivered or given up."""
DELETED_AT_ONCE = 1_000
_RNG = random.SystemRandom()


def deliver(*, webhook_id: int, rng: random.Random = _RNG) -> int:
    """Send what is due to a webhook, as far as a turn allows; how many attempts were made.

    Idempotent: nothing happens while another worker holds the webhook, it is paused or it rests.
    """
    now = timezone.now()
    waiting = _open(now).filter(job_lease.passed("lease_until", now), pk=webhook_id)
    if not job_lease.take(waiting, resend_at=None):
        return 0
    held = job_lease.mine(Webhook.objects.get(pk=webhook_id))
    attempts, begun = 0, time.monotonic()
    try:
        while time.monotonic() - begun < TURN_SECONDS and _next(held, rng):
            attempts += 1
    finally:
        held.update(lease_until=None)
    if due(Webhook.objects.filter(pk=webhook_id), timezone.now()).exists():
        dispatch.send(JOB, webhook_id)
    return attempts


def _open(now: datetime) -> QuerySet[Webhook]:
    """The webhooks to which something may be sent."""
    return Webhook.objects.filter(
        Q(rests_until__isnull=True) | Q(rests_until__lte=now), paused_at__isnull=True
    )


def _first_due(webhook: Any, now: datetime) -> QuerySet[WebhookDelivery]:
    """The deliveries that may be sent to a webhook now: none while an earlier event of the same object
    waits."""
    waiting = WebhookDelivery.objects.filter(webhook=webhook, state=DeliveryState.WAITING)
    earlier = WebhookDelivery.objects.filter(
        webhook=OuterRef("webhook"),
        subject=OuterRef("subject"),
        state=DeliveryState.WAITING,
        pk__lt=OuterRef("pk"),
    )
    return waiting.filter(~Exists(earlier), next_at__lte=now).order_by("pk")


def due(webhooks: QuerySet[Webhook], now: datetime) -> QuerySet[Webhook]:
    """Those of these webhooks to which something can be sent now."""
    return webhooks.filter(Exists(_first_due(OuterRef("pk"), now)), pk__in=_open(now).order_by().values("pk"))


def _next(held: QuerySet[Webhook], rng: random.Random) -> bool:
    """Make one attempt; False when there is none to be made (any more)."""
    now = timezone.now()
    if not job_lease.renew(held.filter(pk__in=_open(now).order_by().values("pk"))):
        return False
    webhook = held.select_related("project").first()
    delivery = _first_due(webhook.pk, now).first() if webhook is not None else None
    if webhook is None or delivery is None:
        return False
    if not allows(webhook.url):
        _pause(webhook, WebhookPause.FORBIDDEN, now)
        return False
    body = events.payload(
        WebhookEvent(delivery.event),
        project=webhook.project.slug,
        object_id=delivery.object_id,
        subject=delivery.subject,
        at=delivery.created_at,
        address=settings.PUBLIC_ADDRESS,
    )
    head = headers(f"msg_{delivery.message.hex}", body, valid_secrets(webhook, now), now)
    return _note_answer(held, delivery, send(webhook.url, body, head), rng)


@transaction.atomic
def _note_answer(
    held: QuerySet[Webhook], delivery: WebhookDelivery, answer: Answer, rng: random.Random
) -> bool:
    """Write down how an attempt ended; False when the webhook is another worker's or gone by now."""
    webhook = held.select_for_update(no_key=True).first()
    now = timezone.now()
    seen = {
        "attempts": F("attempts") + 1,
        "tried_at": now,
        "status": answer.status,
        "answer": escape(answer.text[:KEPT_ANSWER]),
    }
    row = WebhookDelivery.objects.filter(pk=delivery.pk, state=DeliveryState.WAITING)
    if webhook is None:
        # whoever has it now sends it once more
        return False
    if answer.taken:
        workflow.check(DeliveryState.WAITING, DeliveryState.DELIVERED)
        row.update(state=DeliveryState.DELIVERED, **seen)
        held.update(failures=0, rests_until=None)
        return True
    attempts, failures = delivery.attempts + 1, webhook.failures + 1
    held.update(failures=failures, rests_until=now + schedule.rest(failures))
    wait = schedule.next_wait(attempts, rng, answer.retry_after)
    dead = wait is None and failures >= attempts
    if wait is None and not dead:
        workflow.check(DeliveryState.WAITING, DeliveryState.GIVEN_UP)
        row.update(state=DeliveryState.GIVEN_UP, **seen)
        return True
    row.update(next_at=now + (wait or timedelta(0)), **seen)
    if answer.forbidden:
        _pause(webhook, WebhookPause.FORBIDDEN, now)
    elif answer.status == GONE:
        _pause(webhook, WebhookPause.GONE, now)
    elif dead or failures >= schedule.MAX_FAILURES:
        _pause(webhook, WebhookPause.FAILING, now)
    return True


@transaction.atomic
def _pause(webhook: Webhook, reason: WebhookPause, now: datetime) -> None:
    """Send nothing more until an admin resumes it, and tell them. What waits goes on waiting."""
    rows = Webhook.objects.filter(pk=webhook.pk, paused_at__isnull=True)
    if not rows.update(paused_at=now, pause_reason=reason.value):
        return
    admins = Membership.objects.filter(project=webhook.project_id, is_admin=True, user__is_active=True)
    for admin in admins.order_by("user").values_list("user", flat=True):
        notices.tell_one(user=admin, kind=NoticeKind.WEBHOOK, now=now, webhook=webhook)
    audit.record(
        actor=OPERATOR, verb="webhook.pause", project=webhook.project, obj=webhook, reason=reason.value
    )


@transaction.atomic
def send_again(*, actor: Actor, delivery: WebhookDelivery) -> WebhookDelivery:
    """Deliver an event once more under its id, whatever became of it. Raises StaleState while it waits."""
    webhook = delivery.webhook
    require(actor, "project.change", webhook)
    if delivery.state == DeliveryState.WAITING:
        raise StaleState(translatable("It is waiting to be sent anyway."), code="waiting")
    now = timezone.now()
    ended = (DeliveryState.DELIVERED, DeliveryState.GIVEN_UP)
    advance(WebhookDelivery, delivery.pk, ended, DeliveryState.WAITING, attempts=0, next_at=now)
    audit.record(
        actor=actor,
        verb="webhook.send_again",
        project=webhook.project,
        obj=webhook,
        message=delivery.message.hex,
    )
    dispatch.send(JOB, webhook.pk)
    delivery.refresh_from_db()
    return delivery


def sweep(*, now: datetime | None = None) -> int:
    """Every worker calls this now and then: send for what is due and nobody delivers, and delete what is in
    the log for long; how many webhooks were sent for."""
    now = now or timezone.now()
    ended = (DeliveryState.DELIVERED, DeliveryState.GIVEN_UP)
    old = WebhookDelivery.objects.filter(state__in=ended, created_at__lt=now - KEPT).order_by("pk")
    if pks := list(old.values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        WebhookDelivery.objects.filter(pk__in=pks, state__in=ended).delete()
    waiting = due(Webhook.objects.filter(job_lease.passed("lease_until", now)), now)
    return job_lease.send_again(waiting, JOB, not_until="resend_at", now=now)
