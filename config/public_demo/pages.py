"""The way in: one click, as one of the demo's people, in a copy of the demo of one's own."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.contrib.auth import login
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.core.errors import Invalid, TooMany
from annotation.core.i18n import translatable
from annotation.models import Membership
from config.public_demo import visits
from config.public_demo.middleware import COOKIE
from config.sign_in import origin_of
from frontend.pages.accounts.accounts import BACKEND, safe_next

PROJECT = "demo"
BEGUN, BEGUN_SECONDS = 20, 10 * 60
"""So many visits may begin at one address in that time."""


@never_cache
@require_http_methods(["GET", "POST"])
def enter(request: HttpRequest) -> HttpResponse:
    """The demo's people, to go on as one of them; `again` begins a new visit. Raises Invalid, TooMany."""
    if request.method != "POST":
        people = [_described(one) for one in _members()]
        shown = {"people": people, "next": request.GET.get("next", ""), "hours": visits.IDLE_HOURS}
        return render(request, "frontend/accounts/public_demo.html", shown)
    member = next((one for one in _members() if one.user.username == request.POST.get("username")), None)
    if member is None:
        raise Invalid(translatable("The demo has no such person."))
    visit, again = visits.current(), "again" in request.POST
    if visit is None or again:
        _count(origin_of(request))
        if visit is not None:
            visits.end(visit)
        visit = visits.begin(origin_of(request))
        visits.use(visit)
    login(request, member.user, backend=BACKEND)
    response = redirect(safe_next(request, reverse("frontend:project", args=[PROJECT])))
    response.set_cookie(
        COOKIE,
        visit.key,
        max_age=timedelta(days=1),
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
    )
    return response


def _members() -> list[Membership]:
    rows = Membership.objects.filter(project__slug=PROJECT, user__is_active=True)
    return list(rows.select_related("user").order_by("is_admin", "is_adjudicator", "pk"))


def _described(member: Membership) -> dict[str, str]:
    if member.is_admin:
        role, task = _("admin"), _("See progress, agreement and releases, and how a project is set up.")
    elif member.is_adjudicator:
        role, task = _("adjudicator"), _("Decide where two annotators disagree, with both side by side.")
    else:
        role, task = (
            _("annotator"),
            _("Label a trajectory step by step; what follows from an error is proposed."),
        )
    user = member.user
    return {"username": user.username, "name": str(user), "role": role, "task": task}


def _count(origin: str) -> None:
    key = f"visits:{origin}"
    outside = visits.current()
    visits.use(None)
    cache.add(key, 0, BEGUN_SECONDS)
    many = cache.incr(key) > BEGUN
    visits.use(outside)
    if many:
        sentence = translatable("Too many visits began at your address. Try again in ten minutes.")
        raise TooMany(sentence, seconds=BEGUN_SECONDS)
