"""People of a crowd service: opening a link, and leaving with a code (docs/crowd.md)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import CrowdState
from annotation.language import translated
from annotation.models import CrowdLink, CrowdPlace, User
from annotation.reports.work.crowd import progress_of
from annotation.services import projects
from frontend.pages.accounts.accounts import BACKEND
from frontend.pages.shared.common import person
from frontend.pages.shared.errors import status_of
from frontend.pages.shared.throttle import by_address

OUTSIDE_ID = "participant"


@sensitive_post_parameters(OUTSIDE_ID)
@never_cache
@require_http_methods(["GET", "POST"])
def arrival(request: HttpRequest, token: str) -> HttpResponse:
    """The task, and a button that takes the place; who has it already and is signed in goes on.

    The service hands over the id in the address; from there it goes into the form, and into no address of
    ours. GET changes nothing, so that nothing is taken by a program that looks links up.
    """
    # each may make an account, or try an id
    by_address(request, "crowd")
    link = projects.crowd_link_of(token=token)
    user = request.user if isinstance(request.user, User) else None
    asked = (
        request.POST.get(OUTSIDE_ID, "")
        if request.method == "POST"
        else request.GET.get(link.id_parameter, "")
    )
    try:
        if request.method == "POST":
            place = projects.enter(link=link, outside_id=asked, user=user)
            login(request, place.user, backend=BACKEND)
            return _go_on(place)
        known = projects.arrival(link=link, outside_id=asked, user=user)
    except (Conflict, Denied, Invalid) as error:
        return _page(
            request, link, status=status_of(error), refusal=translated(error.message), code=error.code
        )
    if known is not None and known.user == user:
        return _go_on(known)
    return _page(request, link, outside_id=asked)


def _go_on(place: CrowdPlace) -> HttpResponse:
    """To the work, or to how it ended."""
    if place.state == CrowdState.ACTIVE:
        return redirect("frontend:project", place.link.project.slug)
    return redirect("frontend:crowd-place", place.pk)


def _page(request: HttpRequest, link: CrowdLink, status: int = 200, **context: Any) -> HttpResponse:
    shown = {"link": link, "mail": settings.MAIL_ENABLED, **context}
    return render(request, "frontend/accounts/crowd_arrival.html", shown, status=status)


@never_cache
@require_http_methods(["GET", "POST"])
def own_place(request: HttpRequest, pk: int) -> HttpResponse:
    """My place: how far I am, and a way to finish or return it; when it has ended, its code and the way back
    to the service."""
    user = person(request)
    rows = CrowdPlace.objects.filter(user=user).select_related("link__project", "user")
    place = get_object_or_404(policies.visible(user, rows), pk=pk)
    refusal = ""
    if request.method == "POST":
        leave = projects.return_place if "return" in request.POST else projects.finish_place
        try:
            leave(actor=user, place=place)
            return redirect("frontend:crowd-place", pk)
        except Conflict as error:
            refusal = translated(error.message)
            place.refresh_from_db()
    context = {
        "place": place,
        "link": place.link,
        "progress": progress_of(place),
        "back": projects.way_back(place),
        "refusal": refusal,
    }
    status = 409 if refusal else 200
    return render(request, "frontend/accounts/crowd_place.html", context, status=status)
