"""One's own profile and API tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core import keymap
from annotation.core.errors import Invalid
from annotation.language import translated
from annotation.models import ApiToken, User
from annotation.services import accounts
from annotation.services.sign_in import organisation
from frontend.forms import add_errors
from frontend.forms.accounts import SCOPES, ProfileForm, TokenForm
from frontend.pages.accounts.accounts import remember_language, remember_theme
from frontend.pages.work.workbench import words

FIELDS = ("display_name", "email", "time_zone", "language", "theme", "mail_notices")


def _page(
    request: HttpRequest,
    *,
    form: ProfileForm | None = None,
    token_form: TokenForm | None = None,
    secret: str = "",
    keys: Mapping[str, str] | None = None,
    key_errors: Mapping[str, str] | None = None,
) -> HttpResponse:
    user = cast(User, request.user)
    form = form or ProfileForm(initial={name: getattr(user, name) for name in FIELDS})
    token_form = token_form or TokenForm()
    tokens = policies.visible(user, ApiToken.objects.filter(revoked_at=None))
    context = {
        "form": form,
        "token_form": token_form,
        "tokens": [(token, SCOPES[token.scope]) for token in tokens],
        "secret": secret,
        "now": timezone.now(),
        "organisation": settings.ORGANISATION,
        "linked": settings.ORGANISATION is not None and organisation.is_linked(user),
        "keys": _keys(user.keymap if keys is None else keys, key_errors or {}),
    }
    return render(
        request,
        "frontend/accounts/profile.html",
        context,
        status=400 if form.errors or token_form.errors or key_errors else 200,
    )


def _keys(chosen: Mapping[str, str], errors: Mapping[str, str]) -> list[dict[str, str]]:
    """The keys that can be changed: action, what it does, the key now, the usual one, what is wrong, and of
    an action whose key another has taken, the words that say so."""
    phrases = words()
    now = chosen if errors else keymap.settled(chosen)
    taken = {} if errors else {key: action for action, key in now.items()}

    def moved(action: str) -> str:
        if errors or action in chosen or action not in now:
            return ""
        usual = keymap.default_key(action)
        sentence = _("You use its usual key, “%(key)s”, for “%(other)s”.")
        return sentence % {"key": usual, "other": phrases[f"key_{taken[usual]}"]}

    return [
        {
            "action": action,
            "title": phrases[f"key_{action}"],
            "key": now.get(action, keymap.default_key(action)),
            "moved": moved(action),
            "usual": keymap.default_key(action),
            "error": errors.get(action, ""),
        }
        for action in keymap.CHANGEABLE
    ]


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
    response = remember_theme(redirect("frontend:profile"), form.cleaned_data["theme"])
    return remember_language(response, form.cleaned_data["language"])


@require_POST
def keys_change(request: HttpRequest) -> HttpResponse:
    """Change the keys of the workbench, set the values to 1, 2, 3, or take all changes back."""
    user = cast(User, request.user)
    chosen = {action: request.POST.get(action, "").strip() for action in keymap.CHANGEABLE}
    wanted = {} if "usual" in request.POST else {action: key for action, key in chosen.items() if key}
    if "numbers" in request.POST:
        wanted |= keymap.NUMBERS
    try:
        accounts.change_keys(actor=user, user=user, keys=wanted)
    except Invalid as error:
        return _page(
            request, keys=chosen, key_errors={name: translated(why) for name, why in error.fields.items()}
        )
    messages.success(request, _("Your keys are saved."))
    return redirect("frontend:profile")


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
