"""Send an event to a webhook once, signed as Standard Webhooks says, by the room for outside servers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from standardwebhooks.webhooks import Webhook as Signer

from annotation.core.i18n import translatable
from annotation.outside import FailureKind, OperatorRules

SECONDS = 15.0
"""The time of an attempt; the specification recommends 15 to 30 s."""
READ_BYTES = 2_000
GONE = 410


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one attempt. `status`: None without one; `text`: the beginning of the answer, or why
    there is none; `retry_after`: the seconds that the server wants to be left alone. `forbidden`: its name
    leads into a private network that the operator does not allow."""

    status: int | None
    text: str
    retry_after: float | None = None
    forbidden: bool = False

    @property
    def taken(self) -> bool:
        """Whether the server has taken the event: it says so by any 2xx."""
        return self.status is not None and 200 <= self.status < 300


def operator() -> OperatorRules:
    """The rules of this server's operator for webhooks."""
    return OperatorRules(addresses=settings.WEBHOOK_URLS, networks=settings.PRIVATE_NETWORKS)


def allows(url: str) -> bool:
    """Whether the operator allows an address."""
    return not operator().problems(url, "")


def headers(message: str, body: bytes, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """The headers that identify, time and sign a body, with one signature for each secret."""
    at = now.astimezone(UTC)
    signatures = (Signer(secret).sign(message, at, body.decode()) for secret in secrets)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def send(url: str, body: bytes, head: dict[str, str]) -> Answer:
    """POST a body with these headers. Raises nothing: what goes wrong is said by the answer.

    Redirects are not followed, and of the answer only its beginning is read: one that never ends, or comes
    byte by byte, counts by its status and costs no more than the time of an attempt.
    """
    # loads httpx, which no page needs
    from annotation.outside.server import OutsideServer, Patience
    from annotation.outside.waiting import retry_after

    server = OutsideServer(url, networks=operator().networks, patience=Patience(seconds=SECONDS))
    try:
        reply = server.send("POST", "", body, headers=head, max_bytes=READ_BYTES)
    finally:
        server.close()
    if reply.status is None:
        assert reply.failure is not None
        return Answer(None, reply.failure.message, forbidden=reply.failure.kind is FailureKind.FORBIDDEN_URL)
    wait = retry_after(reply.headers, time.time())
    if 300 <= reply.status < 400:
        redirects = translatable("The server redirects to another address, which is not followed.")
        return Answer(reply.status, redirects, wait)
    return Answer(reply.status, reply.body.decode("utf-8", "replace"), wait)
