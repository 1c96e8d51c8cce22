"""A decision on its way to a release: two people verify it by keys and talk, one decides, it is frozen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.core.decisions.display import display_order
from annotation.models import Freeze, OutcomeLabel, Release, User
from annotation.services import release
from tests.browser.stored import consensus, eventually, submitted_labels
from tests.browser.workbench import AT_WORK, KEYS, PHONE, press, ready
from tests.chromium import fits_the_window
from tests.fixtures.decisions import make_decisions_cast
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SAID = {"ann": {3: 1, 4: -1}, "ben": {3: -1, 4: -1}}
"""Of two options the first is disputed."""


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """A project with one decision."""
    return make_decisions_cast()


def test_decision_is_verified_by_two_discussed_decided_and_frozen(cast: Cast, open_as: Callable) -> None:
    pages = {who: open_as(who, "/p/bench/work/", **options) for who, options in (("ann", {}), ("ben", PHONE))}
    for who, page in pages.items():
        verify(page, cast, cast.everybody[who], SAID[who])
    eventually(lambda: len(submitted_labels("ann")["ann"]), 3)
    eventually(lambda: list(OutcomeLabel.objects.values_list("value", flat=True)), [1, 1])

    judith = open_as("judith", "/p/bench/adjudication/")
    judith.get_by_role("button", name="Claim next case").click()
    expect(judith.locator("html")).to_have_attribute("data-case", "ready")
    expect(judith.get_by_role("heading", name="Option 1")).to_be_visible()
    expect(judith.locator("#m3")).to_be_focused()
    case = judith.url
    judith.get_by_role("button", name="Open a discussion").click()
    expect(judith.get_by_text("Discussion opened. The annotators are told.")).to_be_visible()

    # both name the same option, whatever the order in which they saw it
    ann, ben = pages["ann"], pages["ben"]
    for page in (ann, ben):
        page.goto(f"{page.url.split('/p/')[0]}/notices/")
        page.locator("tbody a").first.click()
        page.wait_for_url("**/discussions/*/**")
    thread = ben.get_by_role("region", name="Discussion of option 1")
    thread.get_by_label("Comment").fill("It answers before it has looked.")
    thread.get_by_role("button", name="Comment").click()
    expect(thread.locator(".thread__text")).to_have_text("It answers before it has looked.")
    ann.goto(f"{ann.url.split('/discussions/')[0]}/notices/")
    expect(ann.locator("tbody")).to_contain_text("commented on option 1.")

    judith.goto(case)
    expect(judith.locator("#m3")).to_be_focused()
    judith.keyboard.press("1")
    expect(judith.locator("#m3 [data-said]")).to_have_text("decided")
    judith.get_by_role("button", name="Finish the case").click()
    expect(judith.get_by_text("Its labels are now the consensus")).to_be_visible()
    eventually(
        lambda: consensus("step__message_index", "value", "kind"),
        [(3, 1, "adjudicated"), (4, -1, "unanimous")],
    )

    admin = open_as("admin", "/p/bench/freeze/")
    admin.get_by_label("Version").fill("1.0")
    admin.get_by_label("Nobody will be able to change").check()
    admin.get_by_label("Subsets whose agreement is below").check()
    admin.get_by_role("button", name="Freeze").click()
    job = eventually(lambda: Freeze.objects.get(), bool)
    release.run_freeze(job_id=job.pk)  # as the worker does
    expect(admin.get_by_role("heading", level=1)).to_have_text("Release 1.0")
    expect(admin.locator("#content")).to_contain_text("fit for use")
    frozen = eventually(lambda: Release.objects.get(), bool)
    assert release.verify(actor=cast.admin, release=frozen).problems == ()


def verify(page: Page, cast: Cast, user: User, said: dict[int, int]) -> None:
    """Label both options by keys in the order in which they stand, think about dropping the item, and submit
    with the outcome that stands there."""
    page.get_by_role("button", name="Label the next one").first.click()
    ready(page)
    item = eventually(lambda: cast.project.trajectories.get(), bool)
    order = display_order([3, 4], seed=cast.project.recheck_seed, item=item.record_id, person=user.pk)
    names = [f"Option {index - 2}" for index in order]
    expect(page.locator(".step .msg__role")).to_have_text(names)
    fits_the_window(page)
    button = page.locator("[data-action=submit]:visible")
    expect(button).to_contain_text("+1")
    expect(page.locator("[data-outcome] input:checked")).to_have_count(0)
    press(page, *(KEYS[said[index]] for index in order), "d")
    expect(button).to_contain_text("−1")
    expect(page.locator("[data-outcome] input:checked")).to_have_value("-1")
    press(page, "u")
    expect(button).to_contain_text("+1")
    expect(page.locator("[data-outcome] input:checked")).to_have_count(0)
    page.keyboard.press("Enter")
    page.wait_for_url(AT_WORK)
