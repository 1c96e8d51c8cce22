"""An audit of labels in a real browser: from the draw to "proved", with a correction on the way."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.core.errors import Conflict
from annotation.models import AuditDraw, AuditRuling, LabelAudit, Recheck, User
from annotation.policies import OPERATOR
from annotation.services import assign, label, label_audits, projects
from tests import people
from tests.browser.axe import violations
from tests.browser.stored import consensus, eventually
from tests.browser.workbench import press, ready, submit
from tests.chromium import fits_the_window
from tests.people import Cast
from tests.services import auditing

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PHONE = {"width": 390, "height": 844}


def read_the_rest(user: User, cast: Cast) -> None:
    """Say +1 throughout to what one has open, and to all that still comes."""
    while True:
        try:
            mine = assign.label_next(actor=user, project=cast.project)
        except Conflict:
            return
        people.label_all(mine)
        label.submit(actor=user, assignment=mine)


def test_audit_proves_a_bound_after_a_correction(cast: Cast, open_as: Callable) -> None:
    projects.update_project(actor=OPERATOR, project=cast.project, values={"retest_percent": 0})
    dora = people.make_user("dora")
    people.make_member(cast.project, dora, "annotator")
    people.import_records(cast.project, people.make_records(3, steps=2))
    people.make_unanimous(cast, 3)

    # the page says how many draws a bound takes, and begins the audit
    admin = open_as("admin", "/p/bench/label-quality/")
    admin.get_by_label("Wrong labels, at most (%)").fill("30")
    admin.get_by_role("button", name="How many draws?").click()
    expect(admin.get_by_text(re.compile("draws prove it, if nothing is wrong"))).to_be_visible()
    admin.get_by_label("Draws", exact=True).fill("40")
    admin.get_by_role("button", name="Begin the audit").click()
    expect(admin.get_by_text("audit running")).to_be_visible()
    eventually(lambda: AuditDraw.objects.count(), 40)

    # two readers get it among their work; one in the browser
    cleo = open_as("cleo", "/p/bench/work/")
    cleo.get_by_role("button", name="Label the next one").first.click()
    ready(cleo)
    press(cleo, "-", "1", "Shift+Digit1")
    first = cleo.url
    submit(cleo, lambda url: "/assignments/" in url and url != first)
    eventually(lambda: Recheck.objects.filter(state="done").count(), 1)
    auditing.read(dora, cast.project, [-1, 1])
    for reader in (cast.cleo, dora):
        read_the_rest(reader, cast)
    label_audits.sweep()

    # an adjudicator decides of three unnamed labels
    judith = open_as("judith", "/p/bench/adjudication/", viewport=PHONE)
    judith.get_by_role("button", name="Decide 1 case of an audit").click()
    expect(judith.get_by_role("heading", name="To decide")).to_be_visible()
    fits_the_window(judith)
    assert violations(judith) == []
    for name in ("Ann", "Ben", "Cleo", "Dora"):
        expect(judith.get_by_text(name, exact=True)).to_have_count(0)
    decision = judith.get_by_role("group", name="Decision on step 1")
    expect(decision.get_by_role("radio")).to_have_count(3)
    decision.locator("label.minus").click()
    judith.get_by_label("Why you decide so").fill("It repeats the question.")
    judith.get_by_label("Why you decide so").blur()
    eventually(lambda: AuditRuling.objects.get().note, "It repeats the question.")
    expect(judith.get_by_text("Saved.", exact=True)).to_be_visible()
    judith.reload()
    expect(decision.locator("label.minus input")).to_be_checked()
    judith.get_by_role("button", name="Decide", exact=True).click()
    expect(judith.get_by_text("The case is decided.")).to_be_visible()
    corrected = [(2, -1), (2, 1), (2, 1), (4, 1), (4, 1), (4, 1)]
    eventually(lambda: sorted(consensus("step__message_index", "value")), corrected)

    # which proves it
    admin.reload()
    expect(admin.get_by_text("proved", exact=True)).to_be_visible()
    expect(admin.get_by_role("row", name=re.compile("Step 1.*It repeats the question"))).to_be_visible()
    assert violations(admin) == []
    admin.get_by_role("button", name="End the audit").click()
    expect(admin.get_by_text("The audit has ended.")).to_be_visible()
    expect(admin.get_by_role("heading", name="Begin another audit")).to_be_visible()
    eventually(lambda: LabelAudit.objects.get().state, "ended")
