"""Error handlers for requests that no view answers: JSON below /api/, a page everywhere else."""

from __future__ import annotations

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
    """500; or 503, with the time after which to try again, when the database is busy or away."""
    if isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)):
        return _unavailable(request)
    if _for_programs(request):
        return problem(request, "server_error", _("Something went wrong on the server."), 500)
    return pages.server_error(request)


def _unavailable(request: HttpRequest) -> HttpResponse:
    """503: SQLite's queue was too long, or the database does not answer. What was asked for was not done."""
    busy = "locked" in str(sys.exc_info()[1])
    sentence = (
        _("Too many people are saving right now. Nothing was changed; try again.")
        if busy
        else _("The database is not responding. Nothing was changed; try again in a minute.")
    )
    if _for_programs(request):
        answer: HttpResponse = problem(request, "busy" if busy else "unavailable", sentence, 503)
    else:
        answer = pages.unavailable(request, sentence)
    answer["Retry-After"] = "2" if busy else "30"
    return answer
