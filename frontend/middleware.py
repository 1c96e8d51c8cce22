"""A person's own time zone and language, and the pages that expected failures become."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone, translation

from annotation.core.errors import TristepError
from frontend.pages.errors import problem


class Preferences:
    """Shows times in the signed-in person's time zone, and words in their language."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(("/api/v1/", "/static/", "/healthz")):
            return self.get_response(request)
        user = request.user
        # not by the list of all zones: that reads some six hundred files
        try:
            timezone.activate(getattr(user, "time_zone", "") or timezone.get_default_timezone())
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            timezone.deactivate()
        if language := getattr(user, "language", ""):
            translation.activate(language)
            request.LANGUAGE_CODE = translation.get_language()
        return self.get_response(request)


class Problems:
    """Answers an expected failure that no page has caught with a proper page and status.

    The API's own views map their errors themselves, before they get here.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return problem(request, exception) if isinstance(exception, TristepError) else None
