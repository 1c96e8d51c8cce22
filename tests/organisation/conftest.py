"""Real providers of OpenID Connect, started once, and a browser that goes to them and comes back."""

from __future__ import annotations

import html
import json
import ssl
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from django.test import Client

from annotation.core.organisation.rules import Organisation, read_roles
from tests.callers import signed_in
from tests.people import Cast
from tests.servers import ROOT

# the providers speak plain HTTP: a client of one's own reads all authorities that there are, for 25 ms
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CALLBACK = "http://testserver/sign-in/organisation/callback/"
ROLES = {
    "labellers": ["bench:annotator"],
    "leads": ["bench:annotator", "bench:adjudicator"],
    "managers": ["bench:admin"],
    "it": ["site-admin"],
    "elsewhere": ["no-such-project:annotator"],
}


@dataclass(frozen=True)
class Providers:
    """The providers' addresses, and who is known there."""

    right: str
    wrong: str
    client: str
    secret: str
    tokens: list[str]

    def knows(self, **people: dict[str, Any]) -> None:
        """Make these the people, by subject."""
        httpx.post(f"{self.wrong}/people", json=people, verify=PLAIN).raise_for_status()


@pytest.fixture(scope="session")
def providers() -> Iterator[Providers]:
    """Both of tests/organisation/identity_provider.mjs."""
    node = ROOT / ".venv/bin/node"
    script = ROOT / "tests/organisation/identity_provider.mjs"
    if not (ROOT / "node_modules/oidc-provider").is_dir():
        pytest.skip("oidc-provider is missing: make node_modules/.installed")
    process = subprocess.Popen(
        [node, "--no-warnings", script, CALLBACK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    try:
        yield Providers(**json.loads(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


@pytest.fixture
def organisation(providers: Providers, settings: Any) -> Callable[..., Organisation]:
    """Make one the site's organisation; the right one unless told otherwise."""

    def make(issuer: str = "", **changed: Any) -> Organisation:
        made = Organisation(
            issuer=issuer or providers.right,
            client_id=providers.client,
            client_secret=providers.secret,
            name="Example Corp",
            roles=read_roles(json.dumps(ROLES)),
        )
        settings.ORGANISATION = replace(made, **changed)
        return settings.ORGANISATION

    return make


@pytest.fixture
def text() -> Callable[[Any], str]:
    """The body of an answer as text, its apostrophes as they are typed."""
    return lambda response: html.unescape(response.content.decode())


@pytest.fixture
def browse(cast: Cast) -> Callable[[str], Client]:
    """A signed-in client for one of the cast."""
    return lambda name: signed_in(cast.everybody[name])


@pytest.fixture
def arrive() -> Callable[..., Any]:
    """Go to the provider and come back as a person; the answer of our callback."""

    def go(who: str = "maya", browser: Client | None = None, begin: str = "/sign-in/organisation/") -> Any:
        browser = browser or Client()
        answer = browser.get(begin)
        if answer.status_code != 302:
            return answer
        return browser.get(way_back(answer["Location"], who))

    return go


def way_back(address: str, who: str) -> str:
    """Where the provider sends somebody whom it has signed in."""
    with httpx.Client(headers={"x-person": who} if who else {}, verify=PLAIN) as calls:
        for _ in range(8):
            if address.startswith(CALLBACK):
                return urlsplit(address)._replace(scheme="", netloc="").geturl()
            answer = calls.get(address)
            assert answer.is_redirect, answer.text
            address = str(answer.next_request.url)
    raise AssertionError(address)
