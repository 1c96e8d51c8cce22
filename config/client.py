"""The address of a request's sender."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def client_ip(request: HttpRequest) -> str:
    """The visitor's address: the peer's, or behind `PROXY_HOPS` trusted proxies what the outermost one saw.

    Entries further left in X-Forwarded-For are the visitor's own claim, and are not believed.
    """
    peer = str(request.META.get("REMOTE_ADDR", ""))
    hops = settings.PROXY_HOPS
    if not hops:
        return peer
    seen = [item.strip() for item in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if item.strip()]
    return seen[-hops] if len(seen) >= hops else peer
