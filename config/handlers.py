"""Error handlers for requests that no view answers: JSON below /api/, a page everywhere else."""

from __future__ import annotations

import errno
import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from api.errors import problem
from frontend.pages.shared import errors as pages


def _for_programs(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: a request that Django itself refuses."""
    if _for_programs(request):
        return problem(request, "unreadable", _("The request cannot be read."), 400)
    return pages.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403."""
    if _for_programs(request):
        return problem(request, "denied", _("You are not allowed to do this."), 403)
    return pages.forbidden(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404."""
    if _for_programs(request):
        return problem(request, "not_found", _("There is nothing at this address."), 404)
    return pages.not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """500; or 503, with the time after which to try again, when the database is busy or away, or the disk is
    full."""
    if isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)) or _disk_is_full():
        return _unavailable(request)
    if _for_programs(request):
        return problem(request, "server_error", _("Something went wrong on the server."), 500)
    return pages.server_error(request)


def _disk_is_full() -> bool:
    """Whether a file could not be written for want of room, or the database says so in the words of SQLite
    or of the system below PostgreSQL."""
    failure = sys.exc_info()[1]
    if isinstance(failure, OSError):
        return failure.errno in (errno.ENOSPC, errno.EDQUOT)
    return isinstance(failure, OperationalError) and any(
        words in str(failure) for words in ("disk is full", "No space left on device")
    )


def _unavailable(request: HttpRequest) -> HttpResponse:
    """503: SQLite's queue was too long, the database does not answer, or the disk is full. What was asked for
    was not done."""
    if "locked" in str(sys.exc_info()[1]):
        code, seconds = "busy", "2"
        sentence = _("Too many people are saving right now. Nothing was changed; try again.")
    elif _disk_is_full():
        code, seconds = "disk_full", "30"
        sentence = _("The server’s disk is full. Nothing was changed; tell whoever runs the server.")
    else:
        code, seconds = "unavailable", "30"
        sentence = _("The database is not responding. Nothing was changed; try again in a minute.")
    if _for_programs(request):
        answer: HttpResponse = problem(request, code, sentence, 503)
    else:
        answer = pages.unavailable(request, sentence)
    answer["Retry-After"] = seconds
    return answer
