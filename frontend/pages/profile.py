"""One's own profile and API tokens."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Invalid
from annotation.models import ApiToken, User
from annotation.services import accounts
from frontend.forms import add_errors
from frontend.forms.accounts import ProfileForm, TokenForm
from frontend.pages.accounts import remember_theme

FIELDS = ("display_name", "email", "time_zone", "language", "theme")


def _page(
    request: HttpRequest,
    *,
    form: ProfileForm | None = None,
    token_form: TokenForm | None = None,
    secret: str = "",
) -> HttpResponse:
    user = cast(User, request.user)
    form = form or ProfileForm(initial={name: getattr(user, name) for name in FIELDS})
    token_form = token_form or TokenForm()
    context = {
        "form": form,
        "token_form": token_form,
        "tokens": policies.visible(user, ApiToken.objects.filter(revoked_at=None)),
        "secret": secret,
        "now": timezone.now(),
    }
    return render(
        request,
        "frontend/accounts/profile.html",
        context,
        status=400 if form.errors or token_form.errors else 200,
    )


@require_http_methods(["GET", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    """Name, address, time zone, language, theme."""
    user = cast(User, request.user)
    if request.method == "GET":
        return _page(request)
    form = ProfileForm(request.POST)
    if not form.is_valid():
        return _page(request, form=form)
    try:
        accounts.update_profile(actor=user, user=user, values=form.cleaned_data)
    except Invalid as error:
        add_errors(form, error)
        return _page(request, form=form)
    messages.success(request, _("Your profile is saved."))
    return remember_theme(redirect("frontend:profile"), form.cleaned_data["theme"])


@never_cache
@require_POST
def token_create(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, once."""
    user = cast(User, request.user)
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, token_form=form)
    try:
        _token, secret = accounts.issue_token(actor=user, user=user, **form.cleaned_data)
    except Invalid as error:
        add_errors(form, error)
        return _page(request, token_form=form)
    return _page(request, secret=secret)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """End a token at once."""
    token = get_object_or_404(
        policies.visible(cast(User, request.user), ApiToken.objects.select_related("user")), pk=pk
    )
    accounts.revoke_token(actor=cast(User, request.user), token=token)
    messages.success(request, _("The token “%(name)s” is revoked.") % {"name": token.name})
    return redirect("frontend:profile")
