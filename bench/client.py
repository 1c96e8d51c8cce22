"""An HTTP client with what a browser has: keep-alive, cookies, CSRF."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


class Refused(RuntimeError):
    """The server answered something else than was expected."""


class Client:
    """One person's kept-alive connection. Every answer is (seconds, body); the time is to the last byte.

    `reopens`: what finds that the server has closed the kept connection is sent once more on another, as a
    browser does; else the caller is told.
    """

    def __init__(self, port: int, *, token: str = "", reopens: bool = False) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.token = token
        self.reopens = reopens
        self._cookies: dict[str, str] = {}

    def sign_in(self, username: str, password: str) -> None:
        """Sign in through the form."""
        self.get("/sign-in/")
        self.form("/sign-in/", {"username": username, "password": password})
        if "sessionid" not in self._cookies:
            raise Refused(f"{username} could not sign in")

    def form(self, path: str, fields: Mapping[str, str], *, expected: int = 302) -> tuple[float, bytes]:
        """Fields of a form, with Django's token where the page before gave one."""
        token = {"csrfmiddlewaretoken": self._cookies["csrftoken"]} if "csrftoken" in self._cookies else {}
        kind = "application/x-www-form-urlencoded"
        return self._ask("POST", path, urlencode({**fields, **token}).encode(), kind, expected=expected)

    def get(self, path: str) -> tuple[float, bytes]:
        """A page or a resource."""
        return self._ask("GET", path)

    def post(
        self, path: str, value: Any, *, expected: int = 200, method: str = "POST", **headers: str
    ) -> tuple[float, Any]:
        """JSON there and back."""
        body = json.dumps(value).encode()
        seconds, answer = self._ask(method, path, body, "application/json", expected=expected, **headers)
        return seconds, json.loads(answer)

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "",
        *,
        expected: int = 200,
        **more: str,
    ) -> tuple[float, bytes]:
        headers = {
            **({"Authorization": f"Bearer {self.token}"} if self.token else {}),
            "Accept": "*/*",
            "Cookie": "; ".join(f"{k}={v}" for k, v in self._cookies.items()),
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        if body is not None:
            headers |= {"Content-Type": kind, "X-CSRFToken": self._cookies.get("csrftoken", "")}
        start = time.perf_counter()
        try:
            self._connection.request(method, path, body=body, headers=headers)
            answer = self._connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            if not self.reopens:
                raise
            self._connection.close()
            self._connection.request(method, path, body=body, headers=headers)
            answer = self._connection.getresponse()
        content = answer.read()
        seconds = time.perf_counter() - start
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            name, _, rest = cookie.partition("=")
            self._cookies[name.strip()] = rest.partition(";")[0]
        if answer.status != expected:
            raise Refused(f"{method} {path}: {answer.status}, {content[:300].decode(errors='replace')}")
        return seconds, content

    def close(self) -> None:
        """Hang up."""
        self._connection.close()
