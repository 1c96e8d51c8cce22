"""Visitors, and their ways in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.chromium import Visitor

if TYPE_CHECKING:
    # at run time the pictures of the documentation sign in too, without a Django of their own
    from annotation.models import User

NEW_PASSWORD = "gentle-harbour-lantern-7"


def sign_in(visitor: Visitor, username: str, password: str) -> Visitor:
    """Through the page, as people do."""
    visitor.go("/sign-in/")
    visitor.page.get_by_label("Name or e-mail address").fill(username)
    visitor.page.get_by_label("Password").fill(password)
    visitor.page.get_by_role("button", name="Sign in").click()
    visitor.page.wait_for_url(lambda url: "/sign-in/" not in url)
    return visitor


def session_of(visitor: Visitor, user: User) -> Visitor:
    """Signed in without the page, on a server that shares this test's database."""
    from django.conf import settings

    from tests.callers import signed_in

    name = settings.SESSION_COOKIE_NAME
    cookie = {"name": name, "value": signed_in(user).cookies[name].value, "url": visitor.home}
    visitor.context.add_cookies([cookie])  # type: ignore[list-item]
    return visitor


def join(visitor: Visitor, link: str, proposed: str, project: str) -> Visitor:
    """With an invitation's link, under the name that it proposes, into the project of that name."""
    page = visitor.page
    page.goto(link)
    expect(page.get_by_label("Name or e-mail address to sign in with")).to_have_value(proposed)
    page.get_by_label("Password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("Password again").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Create account and join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(project)
    return visitor
