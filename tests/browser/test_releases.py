"""Changes between two releases, and one that everybody may read for a while, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests import people
from tests.chromium import Visitor, fits_the_window
from tests.people import Cast
from tests.services.publishing import decide_anew, freeze

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SIZES = ({"width": 1440, "height": 900}, {"width": 390, "height": 844})


def test_releases_are_compared_and_one_is_public_until_it_is_not(
    cast: Cast, open_as: Callable[..., Page], visit: Callable[..., Visitor]
) -> None:
    _, disputed, _ = people.import_records(cast.project, 3)
    people.make_unanimous(cast)
    people.make_disputed(cast)
    people.make_adjudicated(cast, disputed, value=0)
    decide_anew(cast, freeze(cast.project, "1.0"), -1)
    people.make_unanimous(cast)
    freeze(cast.project, "1.1")

    page = open_as("admin", "/p/bench/releases/")
    page.get_by_role("link", name="since 1.0").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1.1 compared with 1.0")
    for size in SIZES:
        page.set_viewport_size(size)  # type: ignore[arg-type]
        fits_the_window(page)
    page.get_by_role("link", name="Labels changed").click()
    row = page.get_by_role("row", name="tiny:1:0")
    expect(row.locator("li").first).to_contain_text("Step 1")
    expect(row.locator(".move").first).to_contain_text("−1")
    expect(page.get_by_role("row", name="tiny:2:0")).to_have_count(0)
    row.get_by_role("link", name="Step 1").click()
    expect(page.locator("#m2")).to_be_in_viewport()

    page.goto(f"{page.url.partition('/releases/')[0]}/releases/1.1/")
    fits_the_window(page)
    page.get_by_label("Everybody may read this release").check()
    page.get_by_role("button", name="Save").click()
    address = page.locator("#public-address")
    expect(address).to_have_value(f"{page.url.partition('/p/')[0]}/public/bench/1.1/")

    guest = visit(viewport=SIZES[1])
    guest.page.goto(address.input_value())
    expect(guest.page.get_by_role("heading", name="How to load")).to_be_visible()
    for size in SIZES:
        guest.page.set_viewport_size(size)  # type: ignore[arg-type]
        fits_the_window(guest.page)
    with guest.page.expect_download() as download:
        guest.page.get_by_role("link", name="tiny.jsonl").click()
    assert download.value.path().read_bytes().count(b"\n") == 3

    page.get_by_label("Everybody may read this release").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The public address is off.")).to_be_visible()
    guest.watch.allow("404")
    assert (gone := guest.page.reload()) is not None and gone.status == 404
