"""People of the demo with tokens, on the product as `make run` starts it."""

from __future__ import annotations

import httpx
import pytest

from tests.browser.server import Site


def token_of(url: str, username: str, password: str) -> str:
    """A token that this person makes as the page Profile does: signed in with the password."""
    with httpx.Client(base_url=url, headers={"Referer": url}) as browser:
        browser.get("/sign-in/")
        form = {"username": username, "password": password}
        browser.post("/sign-in/", data={**form, "csrfmiddlewaretoken": browser.cookies["csrftoken"]})
        csrf = {"X-CSRFToken": browser.cookies["csrftoken"]}
        made = browser.post("/api/v1/me/tokens/", json={"name": "client"}, headers=csrf)
        made.raise_for_status()
        return str(made.json()["token"])


@pytest.fixture(scope="module")
def demo_tokens(server: Site) -> dict[str, str]:
    """Tokens of four people of the demo, by user name."""
    passwords = server.accounts()
    return {name: token_of(server.url, name, passwords[name]) for name in ("admin", "maya", "tomas", "ines")}
