"""Signing in through the organisation, and linking one's account to it (docs/sign-in.md)."""

from __future__ import annotations

import time

from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.errors import Conflict, Invalid, TristepError
from annotation.core.i18n import translatable
from annotation.language import translated
from annotation.services.sign_in import organisation as services
from frontend.forms.accounts import PasswordForm
from frontend.pages.accounts.accounts import remember_choices, safe_next
from frontend.pages.organisation import provider
from frontend.pages.organisation.adapter import refused
from frontend.pages.shared.common import person
from frontend.pages.shared.throttle import by_address

LINKING = "organisation_linking"
LINKING_SECONDS = 300


@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponseBase:
    """To the provider. A link and no form, for our pages' policy lets no form lead to another site; the
    state in the session keeps others from finishing what they have not begun."""
    provider.organisation()
    by_address(request, "sign_in")
    linking = request.session.pop(LINKING, 0) > time.time()
    if request.user.is_authenticated and not linking:
        return redirect(safe_next(request, reverse("frontend:home")))
    process = AuthProcess.CONNECT if request.user.is_authenticated else AuthProcess.LOGIN
    try:
        answer: HttpResponseBase = provider.provider(request).redirect(
            request, process, safe_next(request, reverse("frontend:home")), data=request.user.pk
        )
    except TristepError as error:
        return refused(request, error)
    return answer


@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponseBase:
    """From the provider."""
    organisation = provider.organisation()
    by_address(request, "sign_in")
    try:
        if request.GET.get("iss", organisation.issuer) != organisation.issuer:
            sentence = translatable("The answer does not come from your organisation.")
            raise Invalid(sentence, code="wrong_issuer")
        answer: HttpResponseBase = OAuth2CallbackView.adapter_view(provider.ProviderCalls(request))(request)
    except TristepError as error:
        return refused(request, error)
    return remember_choices(answer, request.user) if isinstance(answer, HttpResponse) else answer


@sensitive_post_parameters("password")
@never_cache
@require_http_methods(["GET", "POST"])
def link(request: HttpRequest) -> HttpResponse:
    """Ask for the password of the account that is to be linked, then lead to the provider: whoever finds a
    browser open must not make the account theirs."""
    context = {"organisation": provider.organisation()}
    person(request)
    form = PasswordForm(request, request.POST if request.method == "POST" else None)
    ready = form.is_valid()
    if ready:
        request.session[LINKING] = time.time() + LINKING_SECONDS
    return render(
        request,
        "frontend/accounts/organisation_link.html",
        {**context, "form": form, "ready": ready},
        status=400 if form.errors else 200,
    )


@require_POST
def unlink(request: HttpRequest) -> HttpResponse:
    """End the link."""
    provider.organisation()
    try:
        services.unlink(actor=person(request))
    except Conflict as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(request, _("Your account is no longer linked to your organisation."))
    return redirect("frontend:profile")
