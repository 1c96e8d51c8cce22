"""Handling of a sign-in through the organisation, and of one that fails."""

from __future__ import annotations

import logging
from typing import Any

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.core.errors import Invalid, TristepError
from annotation.core.i18n import translatable
from annotation.language import translated
from annotation.models import User
from annotation.services.sign_in import organisation as services
from frontend.pages.organisation import provider
from frontend.pages.organisation.transport import session
from frontend.pages.shared.errors import page, status_of

log = logging.getLogger(__name__)


def refused(request: HttpRequest, error: TristepError) -> HttpResponse:
    """The page for a sign-in that came to nothing: one sentence. The log has the code alone, for what a
    provider says may hold tokens."""
    log.warning("sign-in through the organisation refused", extra={"code": error.code})
    signed_in = request.user.is_authenticated
    return page(
        request,
        status_of(error),
        translated(error.message),
        title=_("Your account was not linked") if signed_in else _("You are not signed in"),
        sign_in="" if signed_in else reverse("frontend:sign-in"),
        back=reverse("frontend:profile") if signed_in else "",
    )


class OrganisationAdapter(DefaultSocialAccountAdapter):
    """Hands over to our services, and makes a page of each failure."""

    def get_provider(self, request: HttpRequest, provider_id: str = "", **kwargs: Any) -> provider.Provider:
        """The operator's, and no other: none comes from the database."""
        return provider.provider(request)

    def get_requests_session(self) -> requests.Session:
        """Bounded calls."""
        return session()

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Accounts are made by the service, before allauth asks."""
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Sign the person in, or link their account. Raises TristepError."""
        person = provider.identity_of(sociallogin)
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            self._link(request, sociallogin)
        user = services.sign_in(identity=person, organisation=provider.organisation())
        # who is asked for a second factor waits in the session, where no token is to stand
        sociallogin.token = None
        sociallogin.user = user
        sociallogin.account = SocialAccount.objects.get(provider=services.PROVIDER, uid=person.uid)

    def _link(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        user = request.user
        if not isinstance(user, User) or sociallogin.state.get("data") != user.pk:
            raise Invalid(
                translatable("This was begun with another account. Please begin again."),
                code="another_account",
            )
        person = provider.identity_of(sociallogin)
        services.link(actor=user, identity=person, organisation=provider.organisation())
        messages.success(request, _("You can sign in through your organisation from now on."))
        raise ImmediateHttpResponse(redirect("frontend:profile"))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Answer with a page of our own."""
        if "state_id" in (extra_context or {}):
            refusal = Invalid(
                translatable(
                    "This sign-in was begun in another browser, or too long ago, or its answer came before."
                ),
                code="unknown_state",
            )
        elif error == AuthError.CANCELLED:
            refusal = Invalid(translatable("You have cancelled the sign-in."), code="cancelled")
        else:
            refusal = Invalid(
                translatable("Your organisation’s server did not accept the sign-in."), code="not_accepted"
            )
        raise ImmediateHttpResponse(refused(request, refusal))
