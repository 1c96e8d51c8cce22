"""A receiver that the operator allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from annotation.services.webhooks import sending
from tests.webhook_receiver import WebhookReceiver


@pytest.fixture
def receiver(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebhookReceiver]:
    """A server that receives; whoever hangs is waited for half a second."""
    monkeypatch.setattr(sending, "SECONDS", 0.5)
    with WebhookReceiver() as server:
        settings.WEBHOOK_URLS = [f"http://127.0.0.1:{server.port}"]
        yield server
