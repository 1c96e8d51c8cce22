"""The step of a sign-in that asks for the second factor, and the checking of codes."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.stages import AuthenticateStage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotation.models import User

DUE = "second_factor_due"


class SecondFactorStage(AuthenticateStage):
    """Asks on our own page."""

    urlname = "frontend:second-factor"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Go there, if the person has a second factor."""
        if not self._should_handle(self.request):
            return None, True
        self.state["authentication_required"] = True
        return redirect(self.urlname), True


class CodeBackend:
    """Checks a code of somebody whose password has been checked, or who is signed in. Among Django's
    backends, because the throttles stand before and behind these: a wrong code counts like a wrong
    password."""

    def authenticate(
        self, request: HttpRequest | None, username: str = "", second_factor_token: str = ""
    ) -> User | None:
        """The person, if the code is one of theirs now."""
        rows = Authenticator.objects.filter(user__username=username, user__is_active=True)
        for row in rows.exclude(type=Authenticator.Type.WEBAUTHN).select_related("user"):
            if row.wrap().validate_code(second_factor_token):
                row.record_usage()
                user: User = row.user
                return user
        return None

    def get_user(self, user_id: int) -> None:
        """Sessions are not its business."""


def through_organisation(request: HttpRequest) -> bool:
    """Whether the session began at the organisation, which asks for second factors itself."""
    records: list[dict[str, Any]] = request.session.get("account_authentication_methods", [])
    return any(record.get("method") == "socialaccount" for record in records)
