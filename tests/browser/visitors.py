"""How people come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from tests.chromium import Visitor

if TYPE_CHECKING:
    # at run time the pictures of the documentation sign in too, without a Django of their own
    from annotation.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


def sign_in(visitor: Visitor, username: str, password: str) -> Visitor:
    """Through the page, as people do."""
    visitor.go("/sign-in/")
    visitor.page.get_by_label("User name").fill(username)
    visitor.page.get_by_label("Password").fill(password)
    visitor.page.get_by_role("button", name="Sign in").click()
    visitor.page.wait_for_url(lambda url: "/sign-in/" not in url)
    return visitor


def session_of(visitor: Visitor, user: User) -> Visitor:
    """Signed in without the page, on a server that shares this test's database."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    cookie = {"name": "sessionid", "value": session.session_key or "", "url": visitor.home}
    visitor.context.add_cookies([cookie])  # type: ignore[list-item]
    return visitor
