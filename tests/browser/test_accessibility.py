"""axe-core finds nothing on any template, opened in the demo by the person it is for, or on what the demo has
nothing of in a project of its own; nor is any too wide.

The open workbench has a test of its own: tests/browser/test_workbench_axe.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.browser.axe import NARROW, WHEN_NARROW, WIDE, violations
from tests.browser.selects import cut_choices
from tests.browser.server import Site
from tests.browser.visitors import sign_in
from tests.browser.workbench import home
from tests.chromium import Visitor
from tests.frontend import every_page
from tests.importers.golden import GOLDEN
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# All operations of the API are described alike: some of them say as much as all, in a tenth of the time.
FEW = "() => document.querySelectorAll('main section:nth-of-type(n + 4)').forEach((one) => one.remove())"
OPEN_FOLDS = "for (const fold of document.querySelectorAll('main details')) fold.open = true"
P = "/p/demo/"


def look(page: Page) -> list[str]:
    """The faults of the page, wide and narrow."""
    found = violations(page)
    cut = cut_choices(page)
    page.set_viewport_size(NARROW)
    found += violations(page, rules=WHEN_NARROW)
    cut += cut_choices(page)
    page.set_viewport_size(WIDE)
    return [*found, *(f"{page.url} cut: {line}" for line in cut)]


def look_at(visitor: Visitor, *paths: str) -> Iterator[list[str]]:
    """The faults of the page at each path."""
    for path in paths:
        visitor.go(path)
        yield look(visitor.page)


def as_nobody(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    visitor.watch.allow(r"404 \(Not Found\)|403 \(Forbidden\)")
    yield from look_at(visitor, "/password/reset/", "/no/such/page/")
    visitor.go("/sign-in/")
    visitor.page.get_by_label("Name or e-mail address").fill("nobody")
    visitor.page.get_by_label("Password").fill("wrong")
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page.locator(".alert--error")).to_be_visible()
    yield look(visitor.page)


def as_admin(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "admin", server.accounts()["admin"]).page
    visitor.watch.allow(r"400 \(Bad Request\)")
    yield from look_at(visitor, "/", "/projects/", "/projects/new/", "/password/")
    names = ("", "settings/", "guidelines/edit/", "audit/", "import/", "trajectories/", "judges/")
    yield from look_at(visitor, *(P + name for name in names))
    visitor.go("/api/")
    page.evaluate(FEW)
    yield look(page)
    page.goto(f"{visitor.home}/people/")
    page.get_by_role("button", name=re.compile("password link maya")).click()
    shown = page.get_by_label("One-time link")
    expect(shown).to_be_visible()
    link = shown.input_value()
    yield look(page)
    page.goto(link)
    yield look(page)
    visitor.go("/profile/")
    page.locator(".menu > summary").click()
    expect(page.get_by_role("button", name="Dark")).to_be_visible()
    yield look(page)
    visitor.go(f"{P}members/")
    page.get_by_role("button", name="Remove Maya").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    yield look(page)
    visitor.go(f"{P}members/")
    page.get_by_role("button", name="Create links").click()
    shown = page.get_by_label("Invitation link")
    expect(shown).to_be_visible()
    link = shown.input_value()
    yield look(page)
    page.goto(link)
    yield look(page)
    visitor.go(f"{P}import/")
    page.locator("tbody a").first.click()
    page.wait_for_url(re.compile(r"/import/\d+/$"))
    yield look(page)
    visitor.go(f"{P}import/")
    page.set_input_files("#id_file", GOLDEN / "opentelemetry.json")
    page.get_by_role("button", name="Preview first").click()
    expect(page.get_by_role("button", name="Import this file")).to_be_visible()
    yield look(page)
    page.get_by_role("button", name="Discard the file").click()
    expect(page.get_by_role("button", name="Import this file")).to_have_count(0)
    visitor.go(f"{P}trajectories/?state=adjudicated")
    page.locator("tbody a").first.click()
    expect(page.locator(".run")).to_be_visible()
    yield look(page)
    page.get_by_role("link", name="History", exact=True).click()
    expect(page.locator("tbody tr").first).to_be_visible()
    yield look(page)


def in_chinese(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    """The faults of pages in Chinese, where lists of choices have other lengths, and two words may be
    alike."""
    page = sign_in(visitor, "admin", server.accounts()["admin"]).page
    page.set_extra_http_headers({"Accept-Language": "zh-hans"})
    for path in ("settings/", "import/", "trajectories/", "audit/"):
        visitor.go(P + path)
        expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            yield [f"{page.url} {size['width']}: {line}" for line in cut_choices(page)]
    for path in ("", "members/"):
        visitor.go(P + path)
        page.locator(".menu > summary").click()
        expect(page.get_by_role("button", name="简体中文")).to_have_attribute("aria-pressed", "true")
        yield violations(page)


def as_admin_of_results(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "admin", server.accounts()["admin"]).page
    yield from look_at(
        visitor,
        f"{P}agreement/?by=pair&kind=call",
        f"{P}agreement/steps/?differ=1&figure=alpha",
        f"{P}label-quality/",
        f"{P}influence/",
        f"{P}releases/",
        f"{P}releases/0.2/leaderboard/",
        f"{P}releases/0.2/benchmark/",
        f"{P}releases/0.2/diff/0.1/",
        f"{P}freeze/",
    )
    visitor.go(f"{P}agreement/")
    page.get_by_role("link", name="Maya").click()
    expect(page.get_by_role("heading", name="Drift")).to_be_visible()
    yield look(page)
    visitor.go(f"{P}releases/0.2/leaderboard/")
    page.get_by_role("link", name="With judges’ labels").click()
    expect(page.get_by_role("heading", name="Differences of neighbours")).to_be_visible()
    yield look(page)
    page.get_by_role("link", name="As they are").click()
    page.get_by_role("link", name="cinder-9b").click()
    page.get_by_role("link", name="demo_service_mobile:1:1").click()
    expect(page.locator(".run")).to_be_visible()
    yield look(page)
    visitor.go(f"{P}releases/")
    page.locator("tbody a").first.click()
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("Verified: all")).to_be_visible()
    page.get_by_text("Withdraw this release").click()
    expect(page.get_by_text("a withdrawal cannot be undone")).to_be_visible()
    yield look(page)


def as_annotator(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "maya", server.accounts()["maya"]).page
    yield from look_at(visitor, "/", P, "/notices/", f"{P}guidelines/", "/discussions/", f"{P}work/")
    visitor.go(f"{P}work/?state=submitted")
    yield look(page)
    page.get_by_role("link", name=re.compile("^View ")).first.click()
    expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
    yield look(page)


def as_adjudicator(visitor: Visitor, server: Site) -> Iterator[list[str]]:
    page = sign_in(visitor, "ines", server.accounts()["ines"]).page
    yield from look_at(visitor, "/", P, f"{P}adjudication/", f"{P}adjudication/?tab=decided")
    visitor.go(f"{P}adjudication/")
    page.get_by_role("button", name="Claim next case").click()
    expect(page.locator("html")).to_have_attribute("data-case", "ready")
    page.keyboard.press("1")
    expect(page.locator("[data-decide] [data-said]").first).to_have_text("decided")
    case = page.url
    page.get_by_role("button", name="Open a discussion").click()
    expect(page.get_by_text("Discussion opened.")).to_be_visible()
    page.evaluate(OPEN_FOLDS)
    yield look(page)
    page.goto(case)
    expect(page.locator("html")).to_have_attribute("data-case", "ready")
    page.evaluate(OPEN_FOLDS)
    yield look(page)
    page.get_by_role("button", name="Return to queue").click()
    expect(page.get_by_text("Case returned to the queue.")).to_be_visible()
    visitor.go(f"{P}adjudication/?tab=decided")
    page.get_by_role("link", name=re.compile("^View ")).first.click()
    expect(page.get_by_text("This case is decided.")).to_be_visible()
    yield look(page)


@pytest.mark.parametrize(
    "walk",
    [as_nobody, as_admin, in_chinese, as_admin_of_results, as_annotator, as_adjudicator],
    ids=lambda walk: walk.__name__,
)
def test_axe_finds_nothing(
    walk: Callable[[Visitor, Site], Iterator[list[str]]], server: Site, guest: Callable[..., Visitor]
) -> None:
    found = [line for lines in walk(guest(), server) for line in lines]
    assert found == [], "\n".join(found)


# of training and a crowd the demo has nothing
WITH_PEOPLE = (
    *("training", "training items", "training item", "tutorial", "tests", "new test", "test", "attempt"),
    *("gold", "pilot", "limits", "crowd links", "crowd link", "board", "hours", "own test", "own attempt"),
    *("own hours",),
)


@pytest.mark.django_db(transaction=True)
def test_axe_finds_nothing_on_pages_of_training_hours_and_a_crowd(
    cast: Cast, open_as: Callable[..., Page]
) -> None:
    every_page.bring(cast.project, 0)
    every_page.train(cast, 0)
    every_page.examine(cast, 1)
    every_page.teach(cast, 1)
    every_page.hire(cast.project, 1)
    found, pages = [], {who: open_as(who, "/") for who in ("admin", "ann")}
    for title in WITH_PEOPLE:
        who, name, _queries = every_page.PAGES[title]
        address = reverse(f"frontend:{name}", args=every_page.arguments(title, cast))
        pages[who].goto(home(pages[who]) + address)
        found += look(pages[who])
    assert found == [], "\n".join(found)
