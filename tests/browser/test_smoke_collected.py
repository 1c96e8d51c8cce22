"""The collected static files behind the production server: every name hashed, kept for ever, and there."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Response, expect

from tests.browser.server import Site
from tests.browser.visitors import sign_in
from tests.chromium import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HASHED = re.compile(r"/static/.+\.[0-9a-f]{12}\.(css|js|svg)$")


def test_workbench_runs_on_hashed_files_alone(server: Site, guest: Callable[..., Visitor]) -> None:
    visitor = guest()
    answers: list[Response] = []
    visitor.page.on("response", lambda answer: answers.append(answer))
    page = sign_in(visitor, "lin", server.accounts()["lin"]).page
    visitor.go("/p/demo/work/")
    page.get_by_role("link", name="Continue").first.click()
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
    static = [answer for answer in answers if "/static/" in answer.url]
    modules = {
        re.sub(r".*/|\.[0-9a-f]{12}\.js$", "", answer.url) for answer in static if answer.url.endswith(".js")
    }
    assert modules == {"site", "main"}
    for answer in static:
        assert HASHED.search(answer.url), answer.url
        assert answer.status == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"
