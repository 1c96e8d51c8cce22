"""Calls of allauth to the provider, through the room for outside servers: one limit of time and of bytes for
a whole answer, no redirects, and private networks only where the operator allows them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from requests.adapters import BaseAdapter

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.organisation.rules import safe_address
from annotation.outside.failures import OutsideError, redirected

SECONDS = 10.0
MAX_BYTES = 1024 * 1024
SENT = frozenset({"authorization", "content-type", "accept"})


class BoundedCalls(BaseAdapter):
    """One call, answered in full or not at all. Raises OutsideError, and Invalid for an address that secrets
    must not be sent to."""

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """The answer, read."""
        from annotation.outside.server import OutsideServer, Patience  # loads httpx

        url = request.url or ""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if not safe_address(origin):
            raise Invalid(
                translatable("Your organisation names an address that is not safe to send anything to."),
                code="unsafe_address",
            )
        body = request.body.encode() if isinstance(request.body, str) else request.body
        assert body is None or isinstance(body, bytes)
        headers = {name: str(value) for name, value in request.headers.items() if name.lower() in SENT}
        server = OutsideServer(
            origin, networks=settings.PRIVATE_NETWORKS, patience=Patience(attempts=1, seconds=SECONDS)
        )
        try:
            received = server.send(
                request.method or "GET",
                url[len(origin) :],
                body or None,
                headers=headers,
                max_bytes=MAX_BYTES,
            )
        finally:
            server.close()
        if received.failure is not None:
            raise OutsideError(received.failure)
        if received.status is None or 300 <= received.status < 400:
            raise OutsideError(redirected(received.status))
        answer = requests.Response()
        answer.status_code = received.status
        answer.headers.update(received.headers)
        answer.headers.setdefault("content-type", "")
        answer._content = received.body
        answer.url, answer.request, answer.encoding = url, request, "utf-8"
        return answer

    def close(self) -> None:
        """Nothing is kept open."""


def session() -> requests.Session:
    """A session whose calls are bounded, and which reads neither proxies nor passwords from the
    environment."""
    made = requests.Session()
    made.trust_env = False
    for scheme in ("https://", "http://"):
        made.mount(scheme, BoundedCalls())
    return made
