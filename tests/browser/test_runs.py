"""The page of a run in a real browser: it follows the run, says when the server is away, ends with it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from annotation.models import SuggestionItem, SuggestionRun
from annotation.services import suggest
from tests import people
from tests.browser.stored import eventually
from tests.browser.workbench import intercept
from tests.fixtures.judges import make_judge, start

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_page_of_a_run_follows_it_to_the_end(cast, open_as: Callable[..., Page], judge_urls: None) -> None:
    first = people.import_records(cast.project, 4)[0]
    run = start(make_judge(cast), budget=Decimal(1))
    SuggestionRun.objects.filter(pk=run.pk).update(state="running")
    page = open_as("admin", f"/p/bench/runs/{run.pk}/", expected="503")
    expect(page.locator("[data-role=counted]")).to_have_text("0 of 4")

    SuggestionItem.objects.filter(run=run, trajectory=first).update(
        state="failed", failure="not_json", message="<b>No</b> JSON."
    )
    SuggestionRun.objects.filter(pk=run.pk).update(progress_done=2, progress_failed=1, cost=Decimal("0.25"))
    expect(page.locator("[data-role=counted]")).to_have_text("3 of 4")
    expect(page.locator("[data-role=cost]")).to_have_text("$0.25")
    expect(page.get_by_text("<b>No</b> JSON.")).to_be_visible()
    assert page.locator("progress").evaluate("bar => bar.value") == 3

    intercept(page, "**/status/", lambda route: route.fulfill(status=503, body="away"))
    expect(page.get_by_text("The server is not responding")).to_be_visible()
    page.unroute("**/status/")
    expect(page.locator("[data-role=note]")).to_be_hidden()

    suggest.pause_run(actor=cast.admin, run=run)
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_label("Total budget").fill("2")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    eventually(lambda: SuggestionRun.objects.get().budget, 2)
    SuggestionRun.objects.filter(pk=run.pk).update(state="finished", progress_done=3, progress_failed=1)
    expect(page.get_by_role("button", name="Retry 1 failed")).to_be_visible()
    expect(page.locator("[data-busy]")).to_have_count(0)
