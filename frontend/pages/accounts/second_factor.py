"""A person's second factors, and being asked for one (docs/sign-in.md, "Second factor")."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.stages import LoginStageController
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY
from allauth.mfa.webauthn.internal.auth import begin_authentication, begin_registration
from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.errors import Conflict
from annotation.language import translated
from annotation.models import User
from annotation.services.sign_in import second_factor as services
from frontend.forms.accounts import AppForm, CodeForm, PasskeyForm, PasswordForm, UsedPasskeyForm
from frontend.pages.accounts.accounts import remember_choices, safe_next
from frontend.pages.second_factor.stage import DUE, SecondFactorStage
from frontend.pages.shared.common import person

CONFIRMED = "second_factor_confirmed"
CONFIRMED_SECONDS = 600
Page = Callable[..., HttpResponseBase]


# ── Signing in ────────────────────────────
@sensitive_post_parameters("code", "credential")
@never_cache
@require_http_methods(["GET", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    """Ask who has given a right password for the second factor."""
    stage = LoginStageController.enter(request, SecondFactorStage.key)
    if request.user.is_authenticated or stage is None:
        return redirect("frontend:home" if request.user.is_authenticated else "frontend:sign-in")
    user: User = stage.login.user
    form = CodeForm(request, user, request.POST if "code" in request.POST else None)
    key = UsedPasskeyForm(user=user, data=request.POST if "credential" in request.POST else None)
    if key.is_bound and key.is_valid():
        key.save()
    if form.is_valid() or key.is_valid():
        answer: HttpResponse = stage.exit()
        return remember_choices(answer, request.user)
    passkeys = bool(services.factors(user).passkeys)
    context = {
        "form": form,
        "key": key,
        "options": begin_authentication(user) if passkeys else None,
    }
    status = 400 if form.errors or key.errors else 200
    return render(request, "frontend/accounts/second_factor_ask.html", context, status=status)


# ── One's own ─────────────────────────────
def confirmed(view: Page) -> Page:
    """A page for whoever has just shown that they are the person who is signed in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.session.get(CONFIRMED, 0) < time.time() and _can_confirm(person(request)):
            way = reverse("frontend:second-factor-confirm")
            back = request.path if request.method == "GET" else reverse("frontend:second-factors")
            return redirect(f"{way}?{urlencode({'next': back})}")
        return view(request, *args, **kwargs)

    return guarded


def _can_confirm(user: User) -> bool:
    """Whoever comes through the organisation, without a password, has nothing to show before the first
    factor."""
    return user.has_usable_password() or bool(services.factors(user))


@sensitive_post_parameters("code", "password")
@never_cache
@require_http_methods(["GET", "POST"])
def confirm(request: HttpRequest) -> HttpResponse:
    """Ask for the password, or for a code where there is none."""
    user = person(request)
    data = request.POST if request.method == "POST" else None
    form: Form = PasswordForm(request, data) if user.has_usable_password() else CodeForm(request, user, data)
    back = safe_next(request, reverse("frontend:second-factors"))
    if form.is_valid():
        request.session[CONFIRMED] = time.time() + CONFIRMED_SECONDS
        return redirect(back)
    context = {"form": form, "next": back}
    return render(
        request, "frontend/accounts/second_factor_confirm.html", context, status=400 if form.errors else 200
    )


@never_cache
@require_GET
def overview(request: HttpRequest) -> HttpResponse:
    """The second factors that there are, and those that can be added."""
    user = person(request)
    context = {"has": services.factors(user), "required": services.is_required(user)}
    return render(request, "frontend/accounts/second_factors.html", context)


@confirmed
@sensitive_post_parameters("code")
@never_cache
@require_http_methods(["GET", "POST"])
def app(request: HttpRequest) -> HttpResponse:
    """Show the secret of an app, and ask for its first code."""
    user = person(request)
    bound = request.method == "POST"
    form = AppForm(data=request.POST if bound else None, user=user)
    if bound and form.is_valid():
        return _changed(request, lambda: services.turn_on_app(actor=user, secret=form.secret))
    context = {
        "form": form,
        "secret": " ".join(form.secret[i : i + 4] for i in range(0, len(form.secret), 4)),
    }
    return render(
        request, "frontend/accounts/second_factor_app.html", context, status=400 if form.errors else 200
    )


@confirmed
@never_cache
@require_GET
def picture(request: HttpRequest) -> HttpResponse:
    """The secret that the page of the app shows, as a QR code."""
    secret = request.session.get(SECRET_SESSION_KEY)
    if not secret:
        raise Http404
    adapter = get_adapter()
    svg = adapter.build_totp_svg(adapter.build_totp_url(person(request), secret))
    return HttpResponse(svg, content_type="image/svg+xml")


@confirmed
@sensitive_post_parameters("credential")
@never_cache
@require_http_methods(["GET", "POST"])
def passkey(request: HttpRequest) -> HttpResponse:
    """Have the browser make a passkey."""
    user = person(request)
    form = PasskeyForm(data=request.POST if request.method == "POST" else None, user=user)
    if form.is_bound and form.is_valid():
        name, credential = form.cleaned_data["name"], form.cleaned_data["credential"]
        return _changed(request, lambda: services.add_passkey(actor=user, name=name, credential=credential))
    context = {"form": form, "options": begin_registration(user, False)}
    return render(
        request, "frontend/accounts/second_factor_passkey.html", context, status=400 if form.errors else 200
    )


@confirmed
@require_POST
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove an app or a passkey."""
    user = person(request)
    rows = Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES)
    row = get_object_or_404(rows.select_related("user"), pk=pk)
    try:
        services.remove(actor=user, row=row)
    except Conflict as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(request, _("The second factor is removed."))
    return redirect("frontend:second-factors")


@confirmed
@never_cache
@require_http_methods(["GET", "POST"])
def codes(request: HttpRequest) -> HttpResponse:
    """Show the recovery codes that are left, or make new ones."""
    user = person(request)
    if request.method == "POST":
        return _changed(request, lambda: services.new_codes(actor=user))
    has = services.factors(user)
    if not has:
        return redirect("frontend:second-factors")
    return render(request, "frontend/accounts/second_factor_codes.html", {"codes": "\n".join(has.codes)})


def _changed(request: HttpRequest, change: Callable[[], None]) -> HttpResponse:
    """Make a change, and show the recovery codes that go with it."""
    try:
        change()
    except Conflict as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:second-factors")
    request.session.pop(DUE, None)
    request.session.pop(SECRET_SESSION_KEY, None)
    messages.success(request, _("Keep these recovery codes where you find them without your device."))
    return redirect("frontend:second-factor-codes")
