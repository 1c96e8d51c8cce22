"""An HTTP client with what a browser has: keep-alive, cookies, CSRF."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlencode


class Refused(RuntimeError):
    """The server answered something else than was expected."""


class Client:
    """One person's kept-alive connection. Every answer is (seconds, body); the time is to the last byte."""

    def __init__(self, port: int, *, token: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.token = token
        self._cookies: dict[str, str] = {}

    def sign_in(self, username: str, password: str) -> None:
        """Sign in through the form."""
        self.get("/sign-in/")
        form = {
            "username": username,
            "password": password,
            "csrfmiddlewaretoken": self._cookies.get("csrftoken", ""),
        }
        kind = "application/x-www-form-urlencoded"
        self._ask("POST", "/sign-in/", urlencode(form).encode(), kind, expected=302)
        if "sessionid" not in self._cookies:
            raise Refused(f"{username} could not sign in")

    def get(self, path: str) -> tuple[float, bytes]:
        """A page or a resource."""
        return self._ask("GET", path)

    def post(self, path: str, value: Any, *, expected: int = 200) -> tuple[float, Any]:
        """JSON there and back."""
        seconds, body = self._ask(
            "POST", path, json.dumps(value).encode(), "application/json", expected=expected
        )
        return seconds, json.loads(body)

    def _ask(
        self, method: str, path: str, body: bytes | None = None, kind: str = "", *, expected: int = 200
    ) -> tuple[float, bytes]:
        headers = {
            **({"Authorization": f"Bearer {self.token}"} if self.token else {}),
            "Accept": "*/*",
            "Cookie": "; ".join(f"{k}={v}" for k, v in self._cookies.items()),
        }
        if body is not None:
            headers |= {"Content-Type": kind, "X-CSRFToken": self._cookies.get("csrftoken", "")}
        start = time.perf_counter()
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
