"""Webhooks: where a project tells of what happens in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .nouns import Items, Noun, Pages, Part

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Delivery(Noun):
    """One event on its way to a webhook."""

    def send(self) -> m.Delivery:
        """Send an event again."""
        return self._post("send/")


class Deliveries(Items[Delivery]):
    """Deliveries of a project's webhooks, by id."""

    _item = Delivery


class Webhook(Noun):
    """One address that is told of what happens."""

    def get(self) -> m.Webhook:
        """Look at a webhook."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedWebhookChangeRequest]) -> m.Webhook:
        """Change, pause or resume a webhook."""
        return self._patch("", fields)

    def delete(self) -> None:
        """Delete a webhook."""
        self._delete()

    def deliveries(self, **query: Unpack[m.ProjectsWebhooksDeliveriesListQuery]) -> Pages[m.Delivery]:
        """List the deliveries of a webhook."""
        return self._list("deliveries/", query)

    def new_secret(self) -> m.IssuedSecret:
        """Make a new secret for a webhook."""
        return self._post("secret/")

    def test(self) -> m.Delivery:
        """Send a test to a webhook."""
        return self._post("test/")


class Webhooks(Items[Webhook]):
    """The webhooks of a project."""

    _item = Webhook
    deliveries = Part(Deliveries, "deliveries/")

    def list(self) -> Pages[m.Webhook]:
        """List webhooks."""
        return self._list()

    def create(self, **fields: Unpack[m.NewWebhookRequest]) -> m.IssuedWebhook:
        """Make a webhook."""
        return self._post("", fields)
