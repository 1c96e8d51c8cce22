"""The browser that other tests use, against a page and an answer that need no account."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.workbench import cut_off, until
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


def test_request_to_another_host_is_a_complaint(visit: Callable[..., Visitor]) -> None:
    visitor = visit(bypass_csp=True)
    visitor.go("/")
    visitor.watch.allow(r"ERR_NAME_NOT_RESOLVED \(http://192\.0\.2\.1/")
    visitor.page.evaluate("fetch('http://192.0.2.1/', {mode: 'no-cors'}).catch(() => null)")
    until(visitor.page, lambda: visitor.watch.complaints)
    assert visitor.watch.unexpected() == []


@pytest.mark.parametrize("turn", [1, 2])
def test_watch_finds_a_browser_as_nobody_left_it(visit: Callable[..., Visitor], turn: int) -> None:
    visitor = visit()
    assert visitor.context.cookies() == []
    visitor.go("/")
    kept = "[Object.keys(localStorage), Object.keys(sessionStorage), window.opener, history.length]"
    assert visitor.page.evaluate(kept) == [["tristep:propagation"], [], None, 1]
    visitor.context.add_cookies([{"name": "mine", "value": "1", "url": visitor.home}])
    visitor.page.evaluate("localStorage.mine = sessionStorage.mine = 1")
    visitor.watch.allow("ERR_INTERNET_DISCONNECTED")
    cut_off(visitor.page)
    visitor.context.new_page()


def test_watch_gives_two_people_two_browsers(visit: Callable[..., Visitor]) -> None:
    ann, bob = visit(), visit(viewport={"width": 390, "height": 844})
    ann.go("/")
    ann.context.add_cookies([{"name": "mine", "value": "1", "url": ann.home}])
    bob.go("/")
    assert [cookie["name"] for cookie in bob.context.cookies()] != ["mine"]
    assert bob.page.evaluate("innerWidth") == 390
