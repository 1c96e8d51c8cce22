"""The organisation's provider, asked by allauth: its addresses, its answer, and who that names.

allauth leaves three things to us. It asks for no nonce. It does not check the signature of an ID token that
came over TLS, which the standard permits; here it is checked. And it believes whatever issuer the provider's
own document names; here it is the operator's."""

from __future__ import annotations

import hashlib
from typing import Any

from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.cache import cache
from django.http import Http404, HttpRequest
from django.urls import reverse

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.organisation.identity import Identity, Refused, identity, verified_claims
from annotation.core.organisation.rules import Organisation
from annotation.services.sign_in.organisation import PROVIDER
from frontend.pages.organisation.transport import session

KEPT_SECONDS = 300
NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


def unreadable() -> Refused:
    """The refusal of an answer that is not what the standard asks for."""
    return Refused(translatable("The answer of your organisation cannot be read."), code="bad_answer")


def nonce_of(verifier: str) -> str:
    """The nonce of a sign-in, from the secret of PKCE, which nobody can tell from it."""
    return hashlib.sha256(f"nonce:{verifier}".encode()).hexdigest() if verifier else ""


class Provider(OpenIDConnectProvider):
    """The organisation, with a nonce in each request beside PKCE's challenge."""

    def get_oauth2_adapter(self, request: HttpRequest) -> ProviderCalls:
        """The calls to it."""
        return ProviderCalls(request)

    def get_callback_url(self) -> str:
        """The address to which it sends people back."""
        return reverse("frontend:organisation-callback")

    def get_pkce_params(self) -> dict[str, str]:
        """PKCE's, and the nonce."""
        given: dict[str, str] = super().get_pkce_params()
        return {**given, "nonce": nonce_of(given["code_verifier"])}


class ProviderCalls(OpenIDConnectOAuth2Adapter):
    """The calls of one sign-in."""

    nonce = ""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, PROVIDER)
        self._organisation = organisation()
        self._document: dict[str, Any] | None = None

    def get_provider(self) -> Provider:
        """The organisation, from the operator's variables."""
        return provider(self.request)

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's own document, kept for some minutes. Raises Invalid."""
        if self._document is None:
            key = f"organisation:{self._organisation.issuer}"
            self._document = cache.get(key) or _document(self._organisation.issuer)
            cache.set(key, self._document, KEPT_SECONDS)
        return self._document

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """The address to which the provider sends people back, as it was told."""
        return request.build_absolute_uri(reverse("frontend:organisation-callback"))

    def get_access_token_data(
        self,
        request: HttpRequest,
        app: SocialApp,
        client: OAuth2Client,
        pkce_code_verifier: str | None = None,
    ) -> dict[str, Any]:
        """The provider's answer to the code, its nonce still to be checked. Raises Refused for one that
        cannot be read, and OAuth2Error for a refusal."""
        self.nonce = nonce_of(pkce_code_verifier or "")
        try:
            answer = super().get_access_token_data(request, app, client, pkce_code_verifier)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise unreadable() from None
        if not isinstance(answer, dict):
            raise unreadable()
        return answer

    def parse_token(self, data: dict[str, Any]) -> SocialToken:
        """The token for the page of the person; it is kept nowhere."""
        return SocialToken(token=str(data["access_token"]))

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """The person that the provider names. Raises Refused."""
        id_token = kwargs["response"].get("id_token")
        if not isinstance(id_token, str):
            raise unreadable()
        claims = verified_claims(
            id_token,
            _read(self.openid_config["jwks_uri"]),
            issuer=self._organisation.issuer,
            client_id=app.client_id,
            nonce=self.nonce,
        )
        more = {}
        if page := self.openid_config.get("userinfo_endpoint"):
            more = _read(page, {"Authorization": f"Bearer {token.token}"})
        person = identity(claims, more, groups_claim=self._organisation.groups_claim)
        login = SocialLogin(
            provider=self.get_provider(), account=SocialAccount(provider=PROVIDER, uid=person.uid)
        )
        login.identity = person
        return login


def organisation() -> Organisation:
    """The operator's organisation. Raises Http404 without one."""
    if settings.ORGANISATION is None:
        raise Http404
    return settings.ORGANISATION


def provider(request: HttpRequest) -> Provider:
    """The organisation as allauth knows it. Nothing of it is in the database."""
    known = organisation()
    app = SocialApp(
        provider=OpenIDConnectProvider.id,
        provider_id=PROVIDER,
        name=known.name,
        client_id=known.client_id,
        secret=known.client_secret,
        settings={
            "server_url": known.issuer,
            "scope": list(known.scopes),
            "oauth_pkce_enabled": True,
        },
    )
    return Provider(request, app=app)


def identity_of(login: SocialLogin) -> Identity:
    """The identity in a finished sign-in."""
    identity: Identity = login.identity
    return identity


def _document(issuer: str) -> dict[str, Any]:
    document = _read(issuer.rstrip("/") + "/.well-known/openid-configuration")
    if not all(isinstance(document.get(name), str) for name in NEEDED):
        raise unreadable()
    if document.get("issuer") != issuer:
        raise Invalid(
            translatable("Your organisation’s server calls itself by another name than this site knows."),
            code="wrong_issuer",
        )
    return document


def _read(url: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """The JSON object at an address. Raises Invalid."""
    with session() as calls:
        answer = calls.get(url, headers=headers)
    if answer.status_code != 200:
        raise Invalid(
            translatable("Your organisation’s server answered {status}.", status=answer.status_code),
            code="server_error",
        )
    try:
        read = answer.json()
    except ValueError:
        raise unreadable() from None
    if not isinstance(read, dict):
        raise unreadable()
    return read
