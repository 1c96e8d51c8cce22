"""Limits on requests: their address and their size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from annotation.core.errors import TristepError
from api.authentication import user_of
from api.errors import problem, refused
from config.handlers import bad_request
from frontend.pages.shared.errors import page
from frontend.pages.shared.errors import problem as problem_page

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
    """Decides, before anything reads a body, whether it may come in: `process_view` runs first of all.

    An anonymous visitor may send `ANONYMOUS_BODY_BYTES`, a person `DATA_UPLOAD_MAX_MEMORY_SIZE`. Files are
    received only by views that have a function `receives_files(user, **kwargs)`: it answers with the largest
    size, in bytes, or raises what the view would raise. Elsewhere a file in a form is skipped, unwritten.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """The refusal, or None to go on."""
        if "HTTP_TRANSFER_ENCODING" in request.META:
            return _refuse(request, "length_required", _("Send the body with a Content-Length."), 411)
        length = _length(request)
        request.upload_handlers = [NoFiles(request)]
        files = request.content_type in FILES
        small = min(settings.ANONYMOUS_BODY_BYTES, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        if length <= small and not files:
            return None
        person = user_of(request)
        if person is None:
            return self._too_large(request, length, small)
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        gate = getattr(view, "receives_files", None) or getattr(
            getattr(view, "cls", None), "receives_files", None
        )
        if files and gate is not None and request.method == "POST":
            try:
                limit = gate(person, **kwargs)
            except TristepError as error:
                return refused(error) if _for_programs(request) else problem_page(request, error)
            request.upload_handlers = [TemporaryFileUploadHandler(request)]
        return self._too_large(request, length, limit)

    def _too_large(self, request: HttpRequest, length: int, limit: int) -> HttpResponseBase | None:
        if length <= limit:
            return None
        sentence = _("The request is larger than the %(limit)d bytes that are allowed.") % {"limit": limit}
        return _refuse(request, "too_large", sentence, 413)


class NoFiles(FileUploadHandler):
    """Skips the files of a form, where nobody asked for any."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Keep nothing of the file."""
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        """Never asked."""
        return None

    def file_complete(self, file_size: int) -> None:
        """Never there."""


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _for_programs(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _refuse(request: HttpRequest, code: str, sentence: str, status: int) -> HttpResponse:
    if _for_programs(request):
        return problem(request, code, sentence, status)
    return page(request, status, sentence)
