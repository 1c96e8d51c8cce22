"""Webhooks: addresses that are told of a project's events, and what is to be delivered there."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.vocabulary import DeliveryState, WebhookEvent, WebhookPause

from ..data import Trajectory
from ..jobs import JobFields
from ..projects import Project
from ..versioned import Versioned

MAX_WEBHOOKS = 20
MAX_NAME = 80
MAX_URL = 500
KEPT_ANSWER = 500


class Webhook(Versioned, JobFields):
    """An address that gets the `events` of a project, one delivery after the other by one worker at a time.

    The secret that signs stands nowhere: it is derived from the instance's secret key and `seed`, so a copy
    of the database signs nothing (services/webhooks/secrets.py). The one of `old_seed` signs too until
    `old_until`. `failures` counts failed attempts in a row; `rests_until`: nothing is sent before;
    `resend_at`: until then the job is not sent again.
    """

    EDITED = ("name", "url", "events")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    name = models.CharField(_("name"), max_length=MAX_NAME)
    url = models.CharField(_("address"), max_length=MAX_URL)
    events = models.JSONField(_("events"), default=list)
    seed = models.CharField(max_length=64)
    old_seed = models.CharField(max_length=64, blank=True)
    old_until = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    pause_reason = models.CharField(max_length=12, blank=True)
    failures = models.PositiveIntegerField(default=0)
    rests_until = models.DateTimeField(null=True, blank=True)
    resend_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("name", "pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True, pause_reason="")
                | Q(paused_at__isnull=False, pause_reason__in=[reason.value for reason in WebhookPause]),
                name="webhook_paused_for_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(old_seed="", old_until__isnull=True)
                | (~Q(old_seed="") & Q(old_until__isnull=False)),
                name="webhook_old_secret_ends",
            ),
        )

    def __str__(self) -> str:
        return self.name


class WebhookDelivery(models.Model):
    """An event on its way to a webhook, written in the transaction that it tells of.

    `message` is the id that its receiver tells repetitions by. `subject` names the object whose events are
    delivered in the order of their keys (core/webhooks/events.py); `trajectory` is there where the event
    tells of one, so that who is labelling it does not see it in the log. `attempts` are counted since it was
    last sent by hand; `status` and `answer` are of the last one: the beginning of the answer, or why there is
    none.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    message = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    event = models.CharField(max_length=40)
    object_id = models.CharField(max_length=40)
    subject = models.CharField(max_length=60)
    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField()
    state = models.CharField(max_length=12, default=DeliveryState.WAITING.value)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField()
    tried_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    answer = models.TextField(blank=True)

    class Meta:
        ordering = ("-pk",)
        indexes = (
            models.Index(fields=("webhook", "-id"), name="delivery_newest"),
            models.Index(
                fields=("webhook", "subject", "id"),
                condition=Q(state=DeliveryState.WAITING.value),
                name="delivery_waiting",
            ),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in DeliveryState]), name="delivery_state_known"
            ),
            models.CheckConstraint(
                condition=Q(event__in=[event.value for event in WebhookEvent]), name="delivery_event_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}"
