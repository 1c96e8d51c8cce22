"""Webhooks: where a project's events go, and what became of them."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Webhook, WebhookDelivery
from annotation.policies import require, visible
from annotation.services import webhooks

from ...serializers.connections import webhooks as shapes
from ..base import ProjectView, fetch


class WebhookView(ProjectView):
    """A view of webhooks, for the project's admins."""

    noun = "webhooks"

    def found(self, pk: int) -> Webhook:
        """One webhook of the project. Raises Denied to whoever is no admin, NotFound."""
        project = self.project()
        require(self.user, "project.change", project)
        return fetch(self.user, Webhook.objects.filter(project=project).select_related("project"), pk=pk)


class Webhooks(WebhookView):
    """`/projects/<slug>/webhooks/`"""

    @extend_schema(summary="List webhooks", responses=shapes.Webhook(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The webhooks of a project, without their secrets. For admins."""
        project = self.project()
        require(self.user, "project.change", project)
        return self.page(visible(self.user, Webhook.objects.filter(project=project)), shapes.Webhook)

    @extend_schema(summary="Make a webhook", request=shapes.NewWebhook, responses={201: shapes.IssuedWebhook})
    def post(self, request: Request, slug: str) -> Response:
        """Make a webhook; from now on its events are sent there. The answer is the only place where its
        secret is ever shown. For admins."""
        made, secret = webhooks.create_webhook(
            actor=self.user, project=self.project(), values=self.parsed(shapes.NewWebhook)
        )
        data = {**shapes.Webhook(made).data, "secret": secret}
        return Response(data, status=status.HTTP_201_CREATED)


class OneWebhook(WebhookView):
    """`/projects/<slug>/webhooks/<id>/`"""

    @extend_schema(summary="Look at a webhook", responses=shapes.Webhook)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One webhook, without its secret. For admins."""
        return Response(shapes.Webhook(self.found(pk)).data)

    @extend_schema(
        summary="Change, pause or resume a webhook", request=shapes.WebhookChange, responses=shapes.Webhook
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change a webhook; what waits goes to the new address. While it is paused events wait; resuming
        sends them. For admins."""
        row, values = self.found(pk), self.parsed(shapes.WebhookChange)
        version, paused = values.pop("version", None), values.pop("paused", None)
        if values:
            row = webhooks.change_webhook(actor=self.user, webhook=row, values=values, version=version)
        if paused:
            row = webhooks.pause_webhook(actor=self.user, webhook=row)
        elif paused is not None and row.paused_at is not None:
            row = webhooks.resume_webhook(actor=self.user, webhook=row)
        return Response(shapes.Webhook(row).data)

    @extend_schema(summary="Delete a webhook", request=None, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Delete a webhook with its log; what waits is not delivered. For admins."""
        webhooks.delete_webhook(actor=self.user, webhook=self.found(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class NewSecret(WebhookView):
    """`/projects/<slug>/webhooks/<id>/secret/`"""

    @extend_schema(
        summary="Make a new secret for a webhook", request=None, responses={201: shapes.IssuedSecret}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """For a day both secrets sign, then the new one alone; one from before these two ends at once. The
        answer is the only place where it is ever shown. For admins."""
        row = self.found(pk)
        secret = webhooks.new_secret(actor=self.user, webhook=row)
        row.refresh_from_db()
        shown = {"secret": secret, "old_secret_until": row.old_until}
        return Response(shapes.IssuedSecret(shown).data, status=status.HTTP_201_CREATED)


class Test(WebhookView):
    """`/projects/<slug>/webhooks/<id>/test/`"""

    @extend_schema(summary="Send a test to a webhook", request=None, responses={201: shapes.Delivery})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Send an event of the type `webhook.test`. For admins; 409 while one waits, or the webhook is
        paused."""
        made = webhooks.send_test(actor=self.user, webhook=self.found(pk))
        return Response(shapes.Delivery(made).data, status=status.HTTP_201_CREATED)


class Deliveries(WebhookView):
    """`/projects/<slug>/webhooks/<id>/deliveries/`"""

    @extend_schema(
        summary="List the deliveries of a webhook",
        parameters=[shapes.DeliveryQuery],
        responses=shapes.Delivery(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The newest first: what waits, and of the last 30 days what was delivered or given up. Events of a
        trajectory that one is labelling are left out. For admins."""
        rows = WebhookDelivery.objects.filter(webhook=self.found(pk))
        asked = self.query(shapes.DeliveryQuery)
        return self.page(visible(self.user, rows.filter(**asked)), shapes.Delivery)


class SendAgain(WebhookView):
    """`/projects/<slug>/webhooks/deliveries/<id>/send/`"""

    @extend_schema(summary="Send an event again", request=None, responses=shapes.Delivery)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Deliver an event once more under its id, whatever became of it. For admins; 409 while it waits."""
        project = self.project()
        require(self.user, "project.change", project)
        rows = WebhookDelivery.objects.filter(webhook__project=project).select_related("webhook__project")
        delivery = fetch(self.user, rows, pk=pk)
        return Response(shapes.Delivery(webhooks.send_again(actor=self.user, delivery=delivery)).data)
