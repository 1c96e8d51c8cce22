"""Error handlers for requests that no view answers: JSON below /api/, a page everywhere else."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from api.errors import problem
from frontend.pages import errors as pages


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
    """500."""
    if _for_programs(request):
        return problem(request, "server_error", _("Something went wrong on our side."), 500)
    return pages.server_error(request)
