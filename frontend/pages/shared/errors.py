"""Error pages: statuses, expected failures, CSRF, lockout."""

from __future__ import annotations

import contextlib
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.templatetags.static import static
from django.urls import is_valid_path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.csrf import requires_csrf_token

from annotation.core import errors
from annotation.language import translated

STATUS = (
    (errors.Denied, 403),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.TooLarge, 413),
    (errors.TooMany, 429),
    (errors.Unavailable, 503),
    (errors.Invalid, 400),
)

TITLES = {
    400: gettext_lazy("Invalid request"),
    403: gettext_lazy("Access denied"),
    404: gettext_lazy("Page not found"),
    405: gettext_lazy("This page cannot be opened this way"),
    409: gettext_lazy("This has changed in the meantime"),
    411: gettext_lazy("Invalid request"),
    413: gettext_lazy("The request is too large"),
    429: gettext_lazy("Too many attempts"),
    503: gettext_lazy("Please try again"),
    500: gettext_lazy("Something went wrong on the server"),
}


def status_of(error: errors.TristepError) -> int:
    """The HTTP status that an expected failure becomes."""
    return next((status for kind, status in STATUS if isinstance(error, kind)), 400)


@requires_csrf_token
def page(request: HttpRequest, status: int, sentence: str, **context: Any) -> HttpResponse:
    """One calm page with a status, one sentence and a way on."""
    shown = {"status": status, "title": TITLES.get(status, TITLES[400]), "sentence": sentence, **context}
    return HttpResponse(
        loader.render_to_string("frontend/errors/problem.html", shown, request), status=status
    )


def problem(request: HttpRequest, error: errors.TristepError) -> HttpResponse:
    """The page for an expected failure raised by a service or a report."""
    fields = error.fields if isinstance(error, errors.Invalid) else {}
    reasons = {name: translated(why) for name, why in fields.items()}
    answer = page(request, status_of(error), translated(error.message), fields=reasons)
    if isinstance(error, (errors.TooMany, errors.Unavailable)):
        answer["Retry-After"] = str(error.seconds)
    return answer


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, for requests Django itself refuses."""
    return page(request, 400, gettext("The browser sent something that the server could not understand."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403, for PermissionDenied; the sentence of a failed sign-in check stands in the page."""
    return page(request, 403, gettext("Your account may not open this page."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404; the same whether a thing does not exist or is not for this person to see."""
    return page(
        request,
        404,
        gettext("The address is wrong, the page no longer exists, or your account may not see it."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500, rendered without the request, so that whatever broke cannot break it again."""
    return _plain({"status": 500})


def unavailable(request: HttpRequest, sentence: str) -> HttpResponse:
    """503, rendered without the request: what a page knows of a person stands in the database."""
    return _plain({"status": 503, "title": gettext("Please try again"), "sentence": sentence})


def _plain(known: dict[str, Any]) -> HttpResponse:
    """A page that asks nothing of request or database, and does without a style sheet if there is none."""
    # without collected files the storage knows no name for them
    with contextlib.suppress(ValueError, OSError):
        known |= {"icon": static("frontend/img/favicon.svg"), "styles": static("frontend/css/site.css")}
    return HttpResponse(loader.render_to_string("frontend/errors/500.html", known), status=known["status"])


def wrong_method(request: HttpRequest) -> HttpResponse:
    """405, for something that was sent to a page which only shows."""
    return page(request, 405, gettext("Nothing was changed. Go back, and use the buttons of the page."))


def page_above(path: str) -> str:
    """The nearest address above `path` that there is."""
    while path := path.rstrip("/").rpartition("/")[0]:
        path += "/"
        if is_valid_path(path):
            return path
    return "/"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 with advice: the session is gone, the form was old, or cookies are off."""
    sign_in = reverse("frontend:sign-in")
    if request.user.is_anonymous and request.path_info != sign_in:
        return page(
            request,
            403,
            gettext("Your session has ended, so nothing was changed."),
            title=gettext("You are signed out"),
            advice=gettext("Sign in, and send the form again."),
            sign_in=f"{sign_in}?{urlencode({'next': page_above(request.path_info)})}",
        )
    return page(
        request,
        403,
        gettext("The form you sent was too old, or your browser does not keep cookies for this site."),
        title=gettext("Please send the form again"),
        advice=gettext("Go back, reload the page, and try once more. Nothing was changed."),
    )


def locked_out(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """429, after repeated failed sign-ins with one name from one address."""
    return page(
        request,
        429,
        gettext("Signing in with this name is blocked for 15 minutes, because of repeated wrong passwords."),
        advice=gettext("If you have forgotten your password, ask an admin for a reset link."),
    )
