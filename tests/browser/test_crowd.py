"""Somebody of a crowd service in Chromium: by the link to a place, to the work, and away with the code."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.models import CrowdPlace
from annotation.services import projects
from tests.browser.stored import eventually
from tests.browser.workbench import press, ready, submit
from tests.chromium import Visitor
from tests.people import import_records, make_cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_participant_comes_by_the_link_labels_and_leaves_with_the_code(
    live_server: object, visit: Callable[..., Visitor]
) -> None:
    cast = make_cast()
    import_records(cast.project, 2)
    asked = {"name": "Study", "id_parameter": "PID", "places": 1, "minutes": 60, "trajectories": 1}
    ends = {
        "completed_code": "DONE42",
        "screened_code": "OUT17",
        "return_url": "https://example.org/?c={code}",
    }
    link = projects.create_crowd_link(actor=cast.admin, project=cast.project, values={**asked, **ends})
    visitor = visit()
    visitor.go(f"/join/crowd/{link.token}/?PID=5f3a9c0d")
    page = visitor.page
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("0 of 1 submitted")).to_be_visible()
    page.get_by_role("button", name="Return my place").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("You cannot come back to it.")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Label the next one").click()
    # the guidelines first, once; the button has the focus
    expect(page.get_by_role("heading", level=1)).to_have_text("Before your first label")
    page.keyboard.press("Enter")
    ready(page)
    press(page, "1", "1", "Shift+Digit1")
    submit(page)
    expect(page.get_by_text("1 of 1 submitted")).to_be_visible()
    page.get_by_role("button", name="Finish and get the code").click()
    expect(page.get_by_label("Your code")).to_have_value("DONE42")
    back = page.get_by_role("link", name="Back to the service")
    expect(back).to_have_attribute("href", "https://example.org/?c=DONE42")
    eventually(lambda: CrowdPlace.objects.values_list("state", flat=True).get(), "completed")
