"""The adapter by which allauth signs people in: without pages, messages and mails of its own."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth import login
from django.http import HttpRequest

from annotation.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


class AccountAdapter(DefaultAccountAdapter):
    """Accounts come by services, and their sessions are the site's."""

    def get_login_stages(self) -> list[str]:
        """The second factor, and nothing that asks for addresses."""
        return ["frontend.pages.second_factor.stage.SecondFactorStage"]

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody makes an account by a form of allauth."""
        return False

    def login(self, request: HttpRequest, user: User) -> None:
        """Begin the session."""
        login(request, user, backend=BACKEND)

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Our pages say themselves what has happened."""
