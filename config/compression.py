"""Compression of what pages and programs read; style sheets and scripts are stored compressed
(config/static.py)."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS: Final = ("text/html", "application/json")


class Compression(GZipMiddleware):
    """Compresses pages and JSON that are only read.

    Django adds some random bytes to each, so that its length does not tell of a secret beside what a visitor
    put in (BREACH; decision 72). What is streamed goes out as it is, and so do the answers to saves: they are
    small, and somebody waits for them.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response, compressed where the browser takes it so."""
        read = request.method in ("GET", "HEAD") and not response.streaming
        if read and response.get("Content-Type", "").startswith(TEXTS):
            return super().process_response(request, response)
        return response
