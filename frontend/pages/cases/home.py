"""The home page: what is waiting for me."""

from __future__ import annotations

import secrets

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation import policies
from annotation.reports.cases.home import waiting_for
from annotation.reports.work.crowd import ended_place
from frontend.pages.shared.common import person


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Per project and role: work to continue, work to claim, disputes, imports under way, progress. Who came
    by a crowd link and has no project left gets to the code of their place."""
    user = person(request)
    cards = waiting_for(user)
    if not cards and (place := ended_place(user)) is not None:
        return redirect("frontend:crowd-place", place.pk)
    context = {
        "cards": cards,
        "may_create": policies.allowed(user, "project.create"),
        "claim_key": secrets.token_urlsafe(12),
    }
    return render(request, "frontend/cases/home.html", context)
