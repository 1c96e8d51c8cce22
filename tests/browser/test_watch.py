"""The browser that other tests use, against a page and an answer that need no account."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chromium import Visitor

pytestmark = pytest.mark.browser


def test_sign_in_page_opens_without_a_complaint(visitor: Visitor) -> None:
    visitor.go("/")
    assert visitor.page.title()
    assert visitor.watch.complaints == []


def test_policy_stops_scripts_and_styles_that_slip_in(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    visitor.go("/")
    visitor.watch.allow("Content Security Policy|Trusted|exception|TrustedHTML")
    slipped = "document.body.append(Object.assign(document.createElement('script'), {src: 'x.js'}))"
    with pytest.raises(Exception, match=r"TrustedScriptURL|TrustedHTML"):
        visitor.page.evaluate(slipped)
    with pytest.raises(Exception, match="TrustedHTML"):
        visitor.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<b>x</b>')")


def test_watch_gives_two_people_two_browsers(visit: Callable[..., Visitor]) -> None:
    ann, bob = visit(), visit(viewport={"width": 390, "height": 844})
    ann.go("/")
    ann.context.add_cookies([{"name": "mine", "value": "1", "url": ann.home}])
    bob.go("/")
    assert [cookie["name"] for cookie in bob.context.cookies()] != ["mine"]
    assert bob.page.evaluate("innerWidth") == 390
