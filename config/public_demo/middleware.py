"""Each request in its visit, and no request that leads out of it or changes what is not meant to be tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from api.errors import problem
from config.public_demo import visits
from frontend.pages.shared.errors import page

COOKIE = "tristep_visit"
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})

_PAGES = """
    sign-out theme language notices-read first-steps-close
    claim resume assignment-reopen assignment-look-again workbench-guidelines remark-write remark
    adjudication-take adjudicate-decide adjudicate-majority adjudicate-withdraw adjudicate-reveal
    adjudicate-close adjudicate-release adjudicate-reopen example-mark example-remove
    audit-case-take audit-case
    discussion-start discussion-comment discussion-revise comment-retract
    correction-take correction correction-check correction-withdraw correction-restore correction-reveal
"""
_OPERATIONS = """
    my-notices claim labels submit return resume assignment-reopen assignment-look-again marks activity
    reveals feedback own-remarks remark-close cases decisions case-close case-release case-reopen case-reveals
    case-majority case-withdraw audit-cases audit-case discussion-open discussion-read comments revisions
    comment-retract corrections correction correction-check correction-withdraw correction-restore
    correction-proposals
"""
MAY_CHANGE = frozenset(
    (
        "public-demo",
        *(f"frontend:{name}" for name in _PAGES.split()),
        *(f"api:{name}" for name in _OPERATIONS.split()),
    )
)
"""The views that take more than reading requests: labelling, deciding, discussing. A new one is refused until
somebody puts it here, who has seen that it keeps no file, calls no other server and needs no worker."""


class Visits:
    """Comes before the session, which lies in the visit's database, and before anything reads a body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # until the next request of this thread, so that what is streamed comes from the same database
        visits.use(visits.known(request.COOKIES.get(COOKIE, "")))
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: Callable[..., Any], _args: Any, _kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """The refusal, or None to go on."""
        match = request.resolver_match
        name = match.view_name if match else ""
        if name.startswith("admin:"):
            return _refused(request)
        return None if request.method in SAFE or name in MAY_CHANGE else _refused(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A visit that has grown to its limit, was thrown away just now, or was never begun."""
        return _refused(request) if isinstance(exception, OperationalError) else None


def _refused(request: HttpRequest) -> HttpResponse:
    sentence = _("This is a public demo, in which this is switched off. Nothing was changed.")
    if request.path_info.startswith("/api/"):
        return problem(request, "public_demo", sentence, 403)
    advice = _("Labelling, deciding and discussing can be tried. A Tristep of your own can do everything.")
    return page(request, 403, sentence, title=_("Not in the public demo"), advice=advice)
