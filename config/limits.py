"""Limits on requests: their address, their size, and the address of their sender."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _

from api.errors import problem
from config.handlers import bad_request
from frontend.pages.errors import too_large

# Bodies that are, or carry, a file: read in chunks, never whole.
FILES = frozenset({"multipart/form-data", "application/octet-stream", "application/x-ndjson"})


class PlainAddress:
    """Refuses an address with a NUL in its path or query: nothing here has one, and PostgreSQL cannot be
    asked."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if "\x00" not in request.path_info and "%00" not in request.META.get("QUERY_STRING", ""):
            return self.get_response(request)
        return bad_request(request, BadRequest("NUL in the address"))


class BodyLimit:
    """Refuses a body that is too large before anything reads it.

    Django bounds form bodies, but DRF reads JSON straight from the stream. Files go to disk, so they have
    a limit of their own, `MAX_UPLOAD_BYTES`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        upload = request.content_type in FILES
        limit = settings.MAX_UPLOAD_BYTES if upload else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            length = 0
        if length <= limit:
            return self.get_response(request)
        sentence = _("The request is larger than the %(limit)d bytes that are allowed.") % {"limit": limit}
        if request.path_info.startswith("/api/"):
            return problem(request, "too_large", sentence, 413)
        return too_large(request, sentence)


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
