"""A correction in a real browser: a call that does not fit, a lost connection, and the pair it becomes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.models import Correction, ImportFile, Project, Release
from annotation.services import correct, derive
from tests.browser.axe import violations
from tests.browser.stored import eventually
from tests.browser.workbench import cut_off
from tests.chromium import fits_the_window
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PHONE = {"width": 390, "height": 844}


def test_correction_survives_a_lost_connection_and_becomes_a_pair(
    parted: Cast, parted_release: Release, choices: Project, open_as: Callable
) -> None:
    query = correct.take(actor=parted.cleo, project=parted.project).trajectory.query_index
    page = open_as("cleo", "/p/bench/corrections/", "ERR_INTERNET_DISCONNECTED", viewport=PHONE)
    page.get_by_role("link", name=re.compile(f"tiny:{query}:1")).click()
    expect(page.get_by_role("heading", name="Why it was wrong")).to_be_visible()

    # a call with a wrong parameter is shown as one types
    page.get_by_label("an action that I write").check()
    mine = page.locator(".correction__choice--typed", has=page.locator("input[value=written]"))
    mine.get_by_text("Call 1").click()
    mine.get_by_label("Tool").first.fill("search")
    arguments = mine.get_by_label("Arguments, as JSON").first
    arguments.fill('{"query": "trains to Bern", "day": "Monday"}')
    expect(mine.get_by_text("day is not a parameter of this tool")).to_be_visible()
    expect(arguments).to_be_focused()
    fits_the_window(page)
    assert violations(page) == []

    # what was typed outlives the page, and a lost connection
    page.reload()
    expect(page.get_by_text("Not saved yet: what you typed earlier")).to_be_visible()
    expect(arguments).to_have_value('{"query": "trains to Bern", "day": "Monday"}')
    arguments.fill('{"query": "trains to Bern"}')
    expect(mine.get_by_text("The calls fit their schemas.")).to_be_visible()
    cut_off(page)
    arguments.press("Control+Enter")
    expect(page.get_by_text("Not saved: no connection.")).to_be_visible()
    eventually(lambda: Correction.objects.get().version, 0)
    page.context.set_offline(False)
    expect(page.get_by_text("The correction is saved.")).to_be_visible()
    eventually(
        lambda: Correction.objects.values_list("state", "error_class").get(), ("saved", "should_have_called")
    )
    page.get_by_role("link", name=re.compile(f"tiny:{query}:1")).click()
    expect(page.get_by_text("Not saved yet: what you typed earlier")).to_be_hidden()

    # it stands in the decision that is derived
    admin = open_as(
        "admin", "/p/bench/releases/1.0/derive/?into=choices&subset=first&recipe=first-error&seed=1"
    )
    expect(admin.get_by_text("first errors for which somebody wrote a right action")).to_be_visible()
    admin.get_by_role("button", name="Derive").last.click()
    eventually(lambda: ImportFile.objects.filter(project=choices).count(), 1)
    eventually(
        lambda: derive.run_import(source_id=ImportFile.objects.get(project=choices).pk).created_count, 2
    )
    admin.goto(re.sub(r"/p/.*", f"/p/choices/trajectories/?q=Question+{query}", admin.url))
    admin.get_by_role("rowheader").get_by_role("link").click()
    expect(admin.get_by_text("trains to Bern")).to_be_visible()
    expect(admin.get_by_text(f"The answer to {query} is 1.")).to_be_visible()
