"""Webhooks on the pages of admins: the secret once, the log, sending again, what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from annotation.models import Webhook, WebhookDelivery
from annotation.services import webhooks
from tests.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.django_db
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]+=*")


@pytest.fixture
def receiver(settings: Any) -> Any:
    with WebhookReceiver() as server:
        settings.WEBHOOK_URLS = [f"http://127.0.0.1:{server.port}"]
        yield server


def secrets_in(page: Any) -> set[str]:
    return set(SECRET.findall(page.content.decode()))


def test_secret_is_shown_once_and_what_was_sent_is_told(cast, browse, at, receiver) -> None:
    admin = browse("admin")
    values = {"name": "House", "url": receiver.url, "events": ["run.finished", "release.frozen"]}
    made = admin.post(at("webhook-new", "bench"), values)
    hook = Webhook.objects.get()
    (secret,) = secrets_in(made)
    there = at("webhook", "bench", hook.pk)
    admin.post(at("webhook-act", "bench", hook.pk), {"test": "1"})
    webhooks.deliver(webhook_id=hook.pk)
    assert receiver.taken(secret)[0]["type"] == "webhook.test"

    page = admin.get(there)
    assert "said ok" in page.content.decode() and "delivered" in page.content.decode()
    renewed = admin.post(at("webhook-secret", "bench", hook.pk))
    (second,) = secrets_in(renewed)
    assert second != secret
    everywhere = [there, at("webhooks", "bench"), at("webhook-edit", "bench", hook.pk), at("audit", "bench")]
    api = ["/api/v1/projects/bench/webhooks/", f"/api/v1/projects/bench/webhooks/{hook.pk}/"]
    for place in (*everywhere, f"{there}?as=csv", *api, f"{api[1]}deliveries/"):
        answer = admin.get(place)
        said = b"".join(answer) if answer.streaming else answer.content
        assert answer.status_code == 200 and b"whsec" not in said and hook.seed.encode() not in said, place


def test_event_is_sent_again_from_the_log(cast, browse, at, receiver) -> None:
    admin = browse("admin")
    hook = webhooks.create_webhook(
        actor=cast.admin,
        project=cast.project,
        values={"name": "House", "url": receiver.url, "events": ["run.finished"]},
    )[0]
    webhooks.send_test(actor=cast.admin, webhook=hook)
    webhooks.deliver(webhook_id=hook.pk)
    sent = WebhookDelivery.objects.get()
    again = admin.post(at("delivery-send", "bench", sent.pk), follow=True)
    assert "on its way again" in again.content.decode()
    twice = admin.post(at("delivery-send", "bench", sent.pk), follow=True)
    assert "It is waiting to be sent anyway." in twice.content.decode()
    webhooks.deliver(webhook_id=hook.pk)
    assert len({request.headers["webhook-id"] for request in receiver.seen}) == 1 < len(receiver.seen)


def test_address_of_the_servers_own_network_is_refused_and_a_paused_webhook_says_why(
    cast, browse, at, receiver
) -> None:
    admin = browse("admin")
    values = {"name": "House", "url": "http://169.254.169.254/latest/", "events": ["run.finished"]}
    refused = admin.post(at("webhook-new", "bench"), values)
    assert refused.status_code == 400 and "TRISTEP_WEBHOOK_URLS" in refused.content.decode()
    assert not Webhook.objects.exists()

    receiver.behave("http_410")
    admin.post(at("webhook-new", "bench"), {**values, "url": receiver.url})
    hook = Webhook.objects.get()
    webhooks.send_test(actor=cast.admin, webhook=hook)
    webhooks.deliver(webhook_id=hook.pk)
    assert "wants no more events (410)" in admin.get(at("webhook", "bench", hook.pk)).content.decode()
    told = admin.get(at("notices")).content.decode()
    assert "A webhook is paused" in told
    resumed = admin.post(at("webhook-act", "bench", hook.pk), {"resume": "1"}, follow=True)
    assert "is resumed" in resumed.content.decode()
