"""axe-core finds nothing on any page of the demo, as the person it is for: light, dark, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.selects import cut_choices
from tests.browser.server import Site
from tests.browser.visitors import sign_in
from tests.chromium import Visitor
from tests.importers.golden import GOLDEN

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NARROW, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}
# Both widths and both themes, in two looks: what depends on one hardly ever depends on the other.
# In the second one only the rules speak again that look at colours, sizes or at what is folded away.
AGAIN = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "region", "aria-hidden-focus"]
LOOKS = ((WIDE, "light", {}), (NARROW, "dark", {"runOnly": {"type": "rule", "values": AGAIN}}))
# Other words have the same colours.
OTHER_WORDS = ((NARROW, "light", {"rules": {"color-contrast": {"enabled": False}}}),)
# Colours turn with the theme; far below the window (content-visibility) only when it comes near.
SETTLED = """async () => {
  for (const message of document.querySelectorAll(".msg")) message.style.contentVisibility = "visible";
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.allSettled(document.getAnimations().map((change) => change.finished));
}"""
# All operations of the API are described alike: some of them say as much as all, in a tenth of the time.
FEW = "() => document.querySelectorAll('main section:nth-of-type(n + 4)').forEach((one) => one.remove())"
P = "/p/demo/"


def findings(page: Page, looks: tuple[tuple[Any, ...], ...] = LOOKS) -> list[str]:
    """What axe-core says of the page in all looks, and whether it can be pushed sideways when narrow."""
    found = []
    page.evaluate(Axe().axe_script)
    for size, theme, options in looks:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.evaluate(SETTLED)
        answer = page.evaluate(
            "(options) => axe.run(document, options)", {"resultTypes": ["violations"], **options}
        )
        for violation in answer["violations"]:
            where = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:4])
            found.append(f"{size['width']} {theme}: {violation['impact']} {violation['id']} at {where}")
        found += [f"{size['width']} cut: {line}" for line in cut_choices(page)]
        if (
            size is NARROW
            and (over := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0
        ):
            found.append(f"{size['width']} {theme}: {over} px too wide")
    page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    return [f"{page.url}: {line}" for line in found]


def look_at(visitor: Visitor, *paths: str, looks: tuple[tuple[Any, ...], ...] = LOOKS) -> list[str]:
    """Open each path and collect what is found there."""
    found = []
    for path in paths:
        visitor.go(path)
        found += findings(visitor.page, looks)
    return found


def as_nobody(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    visitor.watch.allow(r"404 \(Not Found\)|403 \(Forbidden\)")
    yield look_at(visitor, "/sign-in/", "/sign-in/?next=/profile/", "/password/reset/", "/no/such/page/")
    visitor.go("/sign-in/")
    visitor.page.get_by_label("User name").fill("nobody")
    visitor.page.get_by_label("Password").fill("wrong")
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page.locator(".alert--error")).to_be_visible()
    yield findings(visitor.page)
    visitor.page.get_by_role("button", name="简体中文").click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("登录")
    yield findings(visitor.page, OTHER_WORDS)


def as_site_admin(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "admin", server.accounts()["admin"]).page
    visitor.watch.allow(r"400 \(Bad Request\)")
    yield look_at(visitor, "/", "/projects/", "/projects/new/", "/profile/", "/password/", "/people/")
    visitor.go("/api/")
    page.evaluate(FEW)
    yield findings(page)
    page.goto(f"{visitor.home}/people/")
    page.get_by_role("button", name=re.compile("password link maya")).click()
    link = page.get_by_label("One-time link").input_value()
    yield findings(page)
    page.goto(link)
    yield findings(page)
    visitor.go("/profile/")
    page.locator(".menu > summary").click()
    yield findings(page)


def as_project_admin(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "admin", server.accounts()["admin"]).page
    names = (
        "",
        "settings/",
        "guidelines/",
        "guidelines/edit/",
        "audit/",
        "members/",
        "import/",
        "trajectories/",
    )
    yield look_at(visitor, *(P + name for name in names))
    visitor.go(f"{P}members/")
    page.get_by_role("button", name="Remove Maya").click()
    yield findings(page)
    visitor.go(f"{P}members/")
    page.get_by_role("button", name="Create invitation").click()
    link = page.get_by_label("Invitation link").input_value()
    yield findings(page)
    page.goto(link)
    yield findings(page)
    visitor.go(f"{P}import/")
    page.locator("tbody a").first.click()
    yield findings(page)
    visitor.go(f"{P}import/")
    page.set_input_files("#id_file", GOLDEN / "opentelemetry.json")
    page.get_by_role("button", name="Preview first").click()
    expect(page.get_by_role("button", name="Import this file")).to_be_visible()
    yield findings(page)
    page.get_by_role("button", name="Discard the file").click()
    expect(page.get_by_role("button", name="Import this file")).to_have_count(0)
    for state in ("labelling", "disputed", "unanimous", "adjudicated"):
        visitor.go(f"{P}trajectories/?state={state}")
        page.locator("tbody a").first.click()
        expect(page.locator(".run")).to_be_visible()
        yield findings(page)
    page.get_by_role("link", name="History", exact=True).click()
    expect(page.locator("tbody tr").first).to_be_visible()
    yield findings(page)


def in_chinese(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    """What is as long as its words are: the lists of choices; and what two Chinese words may make alike."""
    page = sign_in(visitor, "admin", server.accounts()["admin"]).page
    page.set_extra_http_headers({"Accept-Language": "zh-hans"})
    for path in ("settings/", "import/", "trajectories/", "audit/"):
        visitor.go(P + path)
        expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            yield [f"{page.url} {size['width']}: {line}" for line in cut_choices(page)]
    paths = (P + name for name in ("", "members/", "agreement/", "judges/"))
    yield look_at(visitor, *paths, looks=OTHER_WORDS)
    page.locator(".menu > summary").click()
    expect(page.get_by_role("button", name="简体中文")).to_have_attribute("aria-pressed", "true")
    yield findings(page, OTHER_WORDS)


def as_admin_of_results(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "admin", server.accounts()["admin"]).page
    yield look_at(
        visitor,
        f"{P}agreement/",
        f"{P}agreement/?by=pair&kind=call",
        f"{P}agreement/steps/?differ=1&figure=alpha",
        f"{P}label-quality/",
        f"{P}releases/",
        f"{P}releases/0.2/leaderboard/",
        f"{P}releases/0.2/benchmark/",
        f"{P}releases/0.2/diff/0.1/",
        f"{P}freeze/",
    )
    visitor.go(f"{P}agreement/")
    page.get_by_role("link", name="Maya").click()
    expect(page.get_by_role("heading", name="Drift")).to_be_visible()
    yield findings(page)
    visitor.go(f"{P}releases/0.2/leaderboard/")
    page.get_by_role("link", name="cinder-9b").click()
    page.get_by_role("link", name="demo_service_mobile:1:1").click()
    expect(page.locator(".run")).to_be_visible()
    yield findings(page)
    visitor.go(f"{P}releases/")
    page.locator("tbody a").first.click()
    page.get_by_text("Withdraw this release").click()
    yield findings(page)
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("Verified: all")).to_be_visible()
    yield findings(page)


def as_annotator(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    """The open workbench has a test of its own: tests/browser/test_workbench_axe.py."""
    page = sign_in(visitor, "lin", server.accounts()["lin"]).page
    states = ("open", "submitted", "returned")
    yield look_at(
        visitor, "/", P, "/notices/", f"{P}guidelines/", *(f"{P}work/?state={state}" for state in states)
    )
    visitor.go("/sign-in/")
    maya = page.context.browser.new_context(viewport=WIDE)  # type: ignore[union-attr, arg-type]
    other = sign_in(Visitor(maya, server.url), "maya", server.accounts()["maya"])
    other.go(f"{P}work/?state=submitted")
    other.page.get_by_role("link", name=re.compile("^View ")).first.click()
    expect(other.page.locator("html")).to_have_attribute("data-workbench", "ready")
    yield findings(other.page)
    assert other.watch.unexpected() == []
    maya.close()


def as_adjudicator(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "ines", server.accounts()["ines"]).page
    yield look_at(
        visitor, "/", P, *(f"{P}adjudication/?tab={tab}" for tab in ("waiting", "mine", "others", "decided"))
    )
    visitor.go(f"{P}adjudication/")
    page.get_by_role("button", name="Claim next case").click()
    expect(page.locator("[data-decision]").first).to_be_visible()
    yield findings(page)
    page.keyboard.press("1")
    expect(page.locator("[data-decide] [data-said]").first).to_have_text("decided")
    yield findings(page)
    case = page.url
    page.get_by_role("button", name="Open a discussion").click()
    expect(page.get_by_text("Discussion opened.")).to_be_visible()
    page.evaluate("for (const fold of document.querySelectorAll('main details')) fold.open = true")
    yield findings(page)
    page.goto(case)
    expect(page.locator("html")).to_have_attribute("data-case", "ready")
    page.evaluate("for (const fold of document.querySelectorAll('main details')) fold.open = true")
    yield findings(page)
    page.get_by_role("button", name="Return to queue").click()
    visitor.go(f"{P}adjudication/?tab=decided")
    page.get_by_role("link", name=re.compile("^View ")).first.click()
    expect(page.get_by_text("This case is decided.")).to_be_visible()
    yield findings(page)


@pytest.mark.parametrize(
    "walk",
    [
        as_nobody,
        as_site_admin,
        as_project_admin,
        in_chinese,
        as_admin_of_results,
        as_annotator,
        as_adjudicator,
    ],
    ids=lambda walk: walk.__name__,
)
def test_axe_finds_nothing(
    walk: Callable[[Visitor, Site], Iterator[list[str]]], server: Site, guest: Callable[..., Visitor]
) -> None:
    found = [line for lines in walk(guest(), server) for line in lines]
    assert found == [], "\n".join(found)


def test_keyboard_reaches_the_content_first(guest: Callable[..., Visitor]) -> None:
    visitor = guest()
    visitor.go("/password/reset/")
    visitor.page.keyboard.press("Tab")
    skip = visitor.page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator("#content")).to_be_focused()
