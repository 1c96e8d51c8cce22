"""A passkey in a real browser: made on the profile, and used to sign in."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.visitors import session_of
from tests.people import PASSWORD

pytestmark = pytest.mark.browser


def test_passkey_is_made_and_signs_in(cast, visit):
    """With Chromium's own virtual authenticator, by a host's name: an address has no passkeys."""
    visitor = visit()
    visitor.home = visitor.home.replace("127.0.0.1", "localhost")
    page = session_of(visitor, cast.ann).page
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    tools.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "transport": "internal",
                "hasUserVerification": True,
                "isUserVerified": True,
                "automaticPresenceSimulation": True,
            }
        },
    )
    visitor.go("/profile/second-factor/passkey/")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("Name")).to_be_visible()
    found = violations(page)
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    found += violations(page)
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("strong")).to_have_text("Laptop")
    found += violations(page)
    page.get_by_role("link", name="Set up an app").click()
    picture = page.get_by_role("img", name="QR code")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("picture => picture.naturalWidth") > 0
    found += violations(page)
    page.context.clear_cookies()
    visitor.go("/sign-in/")
    page.get_by_label("Name or e-mail address").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Use your passkey")).to_be_visible()
    found += violations(page)
    page.get_by_role("button", name="Use your passkey").click()
    expect(page.get_by_role("button", name="Sign in")).to_have_count(0)
    visitor.go("/profile/second-factor/")
    expect(page.get_by_text("last used")).to_be_visible()
    assert found == []
