"""A person's own time zone and language, and the pages that failures and wrong addresses lead to."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import is_valid_path, resolve
from django.utils import timezone, translation
from django.utils.translation import gettext

from annotation.core.errors import TristepError
from frontend.pages.second_factor.stage import DUE
from frontend.pages.shared.errors import page_above, problem, wrong_method


class Preferences:
    """Shows times in the signed-in person's time zone, and words in their language."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(("/api/v1/", "/static/", "/healthz")):
            return self.get_response(request)
        user = request.user
        timezone.activate(getattr(user, "zone", None) or timezone.get_default_timezone())
        if language := getattr(user, "language", ""):
            translation.activate(language)
            request.LANGUAGE_CODE = translation.get_language()
        return self.get_response(request)


class SecondFactor:
    """Leads admins who need a second factor, and have none, to the page where they set one up; until then
    they see no other. Programs with a token are not asked."""

    FREE = frozenset({"second-factors", "sign-out", "language", "theme", "profile"})

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not settings.SECOND_FACTOR_ADMINS or request.path_info.startswith(("/static/", "/healthz")):
            return self.get_response(request)
        if not request.session.get(DUE) or self._is_free(request.path_info):
            return self.get_response(request)
        if request.path_info.startswith("/api/"):
            sentence = gettext("Set up a second factor on your profile page first.")
            # as every error of the API is written
            problem: dict[str, object] = {
                "code": "second_factor_due",
                "message": sentence,
                "fields": {},
                "details": None,
            }
            return JsonResponse({"error": problem}, status=403)
        messages.warning(request, gettext("Admins of this site need a second factor. Set one up to go on."))
        return redirect("frontend:second-factors")

    def _is_free(self, path: str) -> bool:
        name = resolve(path).url_name or "" if is_valid_path(path) else ""
        return name in self.FREE or name.startswith("second-factor")


class ProblemPages:
    """Answers an expected failure that no page has caught with a proper page and status.

    The API's own views map their errors themselves, before they get here.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return problem(request, exception) if isinstance(exception, TristepError) else None


class Private:
    """Pages are one person's, and of this moment: unless a view says so, nobody on the way keeps them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class FormAddresses:
    """Leads who opens the address of a form's target to the page above it, with a word.

    People come to such an address by signing in again, by reloading and by bookmarks; there is nothing to
    see at it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        match = request.resolver_match
        if response.status_code != 405 or match is None or match.namespace != "frontend":
            return response
        if request.method not in {"GET", "HEAD"}:
            return wrong_method(request)
        messages.warning(
            request,
            gettext("Your request was not received, and nothing was changed. Please try again on this page."),
        )
        return redirect(page_above(request.path_info))
