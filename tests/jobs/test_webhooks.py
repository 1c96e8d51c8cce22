"""Webhooks with a real worker, broker and receiver, and each of them away at a bad moment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.vocabulary import WebhookEvent
from annotation.models import Webhook, WebhookDelivery
from annotation.services import webhooks
from annotation.services.webhooks.events import note_each
from config.broker import Broker
from tests.people import Cast
from tests.servers import Worker, wait_for
from tests.webhook_receiver import WebhookReceiver

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PATIENCE = 90.0
MANY = 30


@pytest.fixture
def receiver(process_environment: dict[str, str], settings: Any) -> Iterator[WebhookReceiver]:
    """Workers may send there, and reap every second."""
    with WebhookReceiver() as server:
        settings.WEBHOOK_URLS = [f"http://127.0.0.1:{server.port}"]
        process_environment |= {
            "TRISTEP_WEBHOOK_URLS": settings.WEBHOOK_URLS[0],
            "TRISTEP_REAP_SECONDS": "1",
        }
        yield server


@pytest.mark.once
def test_killed_worker_loses_no_event_and_no_order(
    celery_broker: Broker,
    process_environment: dict[str, str],
    receiver: WebhookReceiver,
    cast: Cast,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    values = {"name": "House", "url": receiver.url, "events": [WebhookEvent.RUN_FINISHED.value]}
    hook, secret = webhooks.create_webhook(actor=cast.admin, project=cast.project, values=values)
    for number in range(MANY):
        note_each(WebhookEvent.RUN_FINISHED, project=cast.project.pk, keys=[number % 3])
    # what hangs is under way when the worker dies: its server may have taken it
    receiver.behave(*["ok"] * 10, "hang", "ok", "http_500", "ok")
    first = Worker(process_environment, tmp_path / "first.log")
    wait_for(lambda: len(receiver.seen) == 11, "ten events and one that hangs", seconds=PATIENCE)
    first.kill()
    assert WebhookDelivery.objects.filter(state="delivered").count() == 10
    Webhook.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    # what the next worker does, whose start would cost more than all of it
    assert webhooks.sweep() >= 1
    webhooks.deliver(webhook_id=hook.pk)
    # what was refused is due again
    waiting = WebhookDelivery.objects.filter(state="waiting")
    assert waiting.update(next_at=timezone.now())
    webhooks.deliver(webhook_id=hook.pk)
    assert not waiting.exists()

    got = receiver.taken(secret)
    assert len(got) == MANY
    ids = [request.headers["webhook-id"] for request in receiver.seen]
    assert ids[10] in ids[11:], "what nobody wrote down is sent again under its id"
    assert len(ids) == MANY + 2, "and nothing that was"
    for key in range(3):
        rows = WebhookDelivery.objects.filter(object_id=str(key)).order_by("pk")
        order = [f"msg_{message.hex}" for message in rows.values_list("message", flat=True)]
        taken = [
            request.headers["webhook-id"]
            for request in receiver.seen
            if request.answered == "ok" and request.headers["webhook-id"] in order
        ]
        assert taken == order
    hook.refresh_from_db()
    assert hook.lease_until is None and hook.attempt >= 2
    said = first.words() + caplog.text
    assert secret not in said and secret.removeprefix("whsec_") not in said
