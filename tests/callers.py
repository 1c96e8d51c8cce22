"""Clients that ask as one person: a browser that is signed in, and a program with a token."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import auth
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.test import Client
from django.test.client import ClientHandler

from annotation.models import User
from annotation.services import accounts

NO_BODY = object()


def token_of(user: User) -> str:
    """A personal token for the API."""
    return accounts.issue_token(actor=user, user=user, name="test")[1]


def signed_in(user: User | None) -> Client:
    """A browser in which this person is signed in; None: nobody is.

    It holds a session as signing in leaves it. Signing in itself asks several queries more, and has tests of
    its own (tests/frontend/test_sign_in.py).
    """
    client = Client()
    if user is not None:
        session = SessionStore()
        session[auth.SESSION_KEY] = str(user.pk)
        session[auth.BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[auth.HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.save()
        client.cookies[settings.SESSION_COOKIE_NAME] = str(session.session_key)
    return client


class _HandlerFor(ClientHandler):
    """Answers one person's requests without asking the database each time who that is."""

    def __init__(self, user: User | None) -> None:
        super().__init__(enforce_csrf_checks=False)
        self.load_middleware()
        self.user = None if user is None else User.objects.get(pk=user.pk)

    def get_response(self, request: HttpRequest) -> Any:
        """The answer; what the request remembers of the person, the next one does not find."""
        if self.user is not None:
            request._cached_user = copy.copy(self.user)  # type: ignore[attr-defined]
        return super().get_response(request)


class PlainClient(Client):
    """Django's client for thousands of requests of one person, who is signed in (None: nobody is).

    It loads the middleware and the person once and records no templates. What a request changes of the
    person does not reach the next one: for tests that take every request back.
    """

    def __init__(self, user: User | None = None) -> None:
        super().__init__(raise_request_exception=False)
        self.handler = _HandlerFor(user)
        self.cookies = signed_in(user).cookies

    def request(self, **request: Any) -> Any:
        """One request; the answer has no `context`, `templates` or `json()`, and cookies stay as they are."""
        return self.handler(self._base_environ(**request))  # type: ignore[attr-defined]


class Caller:
    """Calls the API as one person, with a token, as a program does: `caller.post("/projects/", {…})`."""

    def __init__(self, user: User | None = None, *, token: str = "") -> None:
        token = token or (token_of(user) if user is not None else "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = Client(headers=headers, raise_request_exception=False)

    def _send(self, method: str, path: str, data: Any = NO_BODY, **extra: Any) -> Any:
        body = "" if data is NO_BODY else json.dumps(data)
        extra = {"data": body, "content_type": "application/json", **extra}
        return getattr(self.client, method)(f"/api/v1{path}", **extra)

    def get(self, path: str, query: Mapping[str, Any] | None = None, **extra: Any) -> Any:
        """GET, with the query as a mapping."""
        return self.client.get(f"/api/v1{path}", query, **extra)

    def post(self, path: str, data: Any = NO_BODY, **extra: Any) -> Any:
        """POST; `data` goes out as JSON."""
        return self._send("post", path, data, **extra)

    def patch(self, path: str, data: Any = NO_BODY, **extra: Any) -> Any:
        """PATCH; `data` goes out as JSON."""
        return self._send("patch", path, data, **extra)

    def put(self, path: str, data: Any = NO_BODY, **extra: Any) -> Any:
        """PUT; `data` goes out as JSON."""
        return self._send("put", path, data, **extra)

    def delete(self, path: str, **extra: Any) -> Any:
        """DELETE."""
        return self._send("delete", path, **extra)
