"""The baseline in a real browser: an admin adds it, runs it, reads its figures; an annotator reveals it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import SuggestionRun
from annotation.services import assign
from annotation.services.suggest import run_suggestions
from tests.browser.stored import eventually, exposures, labels_of
from tests.browser.workbench import open_as_ann, press
from tests.fixtures.resolved_tasks import make_resolved_tasks
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_baseline_is_added_trained_run_and_revealed(
    cast: Cast, visit: Callable[..., Any], open_as: Callable[..., Any]
) -> None:
    with_error = make_resolved_tasks(cast)[-1]
    page = open_as("admin", "/p/bench/judges/")
    page.get_by_role("link", name="Add the baseline").click()
    page.get_by_label("Name").fill("Steady")
    page.get_by_role("button", name="Create judge").click()
    expect(page.get_by_role("heading", level=1, name="Steady")).to_be_visible()
    expect(page.get_by_role("heading", name="Training data")).to_have_count(0)
    page.get_by_role("link", name="Start a run").click()
    page.get_by_role("button", name="Estimate").click()
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/runs/*/")

    run = eventually(lambda: SuggestionRun.objects.get(), bool)
    run_suggestions(run_id=run.pk)  # as the worker does
    expect(page.locator("[data-role=counted]")).to_have_text("22 of 22")
    expect(page.locator("[data-busy]")).to_have_count(0)
    page.get_by_role("link", name="Steady").first.click()
    figures = page.get_by_role("region", name="Training data")
    accuracy = figures.get_by_role("row", name="StepAcc")
    expect(accuracy).to_contain_text("1.000")
    expect(accuracy).to_contain_text("0.833")  # 50 of 60 labels are +1
    expect(figures.get_by_role("row", name="Brier score")).to_be_visible()

    mine = assign.claim_this(actor=cast.ann, trajectory=with_error)
    desk = open_as_ann(visit, cast, mine)
    press(desk, "1", "s")
    told = desk.locator("#m2 [data-role='suggestions']")
    expect(told.locator("dt")).to_have_text(["Judge 1"])
    expect(told.locator(".mark__sign")).to_have_text("+1")
    assert "Steady" not in desk.content()
    press(desk, "j", "1", "s")
    told = desk.locator("#m4 [data-role='suggestions']")
    expect(told.locator(".mark__sign")).to_have_text("−1")
    expect(told).to_contain_text("The tool result reports an error.")
    eventually(lambda: exposures(cast.ann), 2)
    eventually(lambda: labels_of(mine, "blind_value"), [(1,), (1,)])
