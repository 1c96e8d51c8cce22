"""Webhooks and their deliveries."""

from __future__ import annotations

from rest_framework import serializers

from annotation import models
from annotation.core.vocabulary import DeliveryState, WebhookEvent, WebhookPause
from annotation.core.webhooks.events import CHOSEN
from annotation.models.connections.webhooks import MAX_NAME, MAX_URL

from ..base import Input, Output, Query, Sentence, StoredText, Version, words

EVENTS = [event.value for event in CHOSEN]


class Webhook(Output):
    """An address that is told of the project's events."""

    id = serializers.IntegerField()
    name = StoredText()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENTS))
    paused = serializers.SerializerMethodField()
    pause_reason = serializers.ChoiceField(
        choices=["", *words(WebhookPause)], help_text="Why it is paused; empty while it is not."
    )
    failures = serializers.IntegerField(help_text="Failed attempts since the last that succeeded.")
    old_secret_until = serializers.DateTimeField(
        source="old_until", allow_null=True, help_text="Until then the secret before signs, too."
    )
    version = serializers.CharField(help_text="Names the webhook as it is.")
    created_at = serializers.DateTimeField()

    def get_paused(self, webhook: models.Webhook) -> bool:
        """Whether nothing is sent until it is resumed."""
        return webhook.paused_at is not None


class NewWebhook(Input):
    """A webhook to be made."""

    name = serializers.CharField(max_length=MAX_NAME)
    url = serializers.CharField(
        max_length=MAX_URL, help_text="One that the operator allows (TRISTEP_WEBHOOK_URLS)."
    )
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=EVENTS), min_length=1, max_length=len(EVENTS)
    )


class WebhookChange(Input):
    """Changes to a webhook; what is left out stays."""

    name = serializers.CharField(max_length=MAX_NAME, required=False)
    url = serializers.CharField(max_length=MAX_URL, required=False)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=EVENTS), min_length=1, max_length=len(EVENTS), required=False
    )
    paused = serializers.BooleanField(
        required=False, help_text="True: nothing is sent until it is false again; events are kept."
    )
    version = Version()


class IssuedWebhook(Webhook):
    """A webhook just made: the only answer that contains its secret."""

    secret = serializers.CharField(help_text="The secret that signs; it is not shown again.")


class IssuedSecret(Output):
    """A secret just made; no other answer contains it."""

    secret = serializers.CharField(help_text="The secret that signs from now on; it is not shown again.")
    old_secret_until = serializers.DateTimeField(help_text="Until then the secret before signs, too.")


class Delivery(Output):
    """An event on its way to a webhook, or there."""

    id = serializers.IntegerField()
    message = serializers.SerializerMethodField(help_text="The id by which its receiver tells repetitions.")
    event = serializers.ChoiceField(choices=words(WebhookEvent))
    object_id = serializers.CharField(help_text="The id of the object that it tells of.")
    state = serializers.ChoiceField(choices=words(DeliveryState))
    attempts = serializers.IntegerField()
    status = serializers.IntegerField(allow_null=True, help_text="The HTTP status of the last answer.")
    answer = Sentence(help_text="The beginning of the last answer, or why there was none.")
    created_at = serializers.DateTimeField(help_text="When it happened.")
    tried_at = serializers.DateTimeField(allow_null=True)
    next_at = serializers.SerializerMethodField(help_text="Of what waits: no attempt is made before.")

    def get_message(self, delivery: models.WebhookDelivery) -> str:
        """The id as it is sent."""
        return f"msg_{delivery.message.hex}"

    def get_next_at(self, delivery: models.WebhookDelivery) -> str | None:
        """The earliest moment of the next attempt."""
        waits = delivery.state == DeliveryState.WAITING
        return delivery.next_at.isoformat().replace("+00:00", "Z") if waits else None


class DeliveryQuery(Query):
    """Filters of the list of deliveries."""

    state = serializers.ChoiceField(choices=words(DeliveryState), required=False)
