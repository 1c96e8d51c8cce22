"""A newcomer in a real browser: taught, tested, watched without being able to tell, paused, and resumed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, Response, expect

from annotation.core.guidelines import default_guideline
from annotation.models import Assignment, KeyLabel, Project, User
from annotation.models import TestAttempt as Attempt
from annotation.policies import OPERATOR
from annotation.services import label, proficiency, projects, training
from tests.answers import shape
from tests.browser.stored import eventually, key_of, kinds_given
from tests.browser.visitors import join
from tests.browser.workbench import KEYS, OUTCOME_KEYS, home, press, ready, submit
from tests.chromium import Visitor, fits_the_window
from tests.people import Cast, claim
from tests.people import label_all as label_every_step
from tests.services.gold_dealing import deal_next, gold_is_dealt, golden
from tests.services.keyed import keyed_items, make_tutorial

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ITEMS = 10
PLUS = (KEYS[1], KEYS[1], OUTCOME_KEYS[1])
PAUSED = "You are given nothing new at the moment"
# a bound that one gold trajectory without a right label is enough to be below
HIGHEST_BOUND = 99


def set_up(cast: Cast) -> str:
    """A tutorial, a test before the queue, gold in the queue; the link of an invitation."""
    (gold,) = golden(cast, records=6, gold=1, percent=0, key=(-1, -1))
    Project.objects.filter(pk=cast.project.pk).update(gold_bound=HIGHEST_BOUND)
    projects.write_guidelines(actor=cast.admin, project=cast.project, text=default_guideline("en"))
    make_tutorial(cast.project)
    KeyLabel.objects.filter(value=-1).update(reason="misread_tool_output")
    exam = keyed_items(cast.project, [(1,), (-1,)] * (ITEMS // 2), subset="exam")
    test = proficiency.make_test(
        actor=OPERATOR, project=cast.project, trajectories=exam, agreement=0.9, wait_hours=24, attempts=2
    )
    proficiency.require_test(actor=OPERATOR, subset=gold.subset, test=test)
    _row, token = projects.invite(actor=cast.admin, project=cast.project, name="Wren", is_annotator=True)
    return reverse("frontend:invitation", args=[token])


def assignment_on(page: Page) -> int:
    """The assignment (pk) that is open."""
    (number,) = re.findall(r"/assignments/(\d+)/", page.url)
    return int(number)


def turn_page(page: Page) -> None:
    """Submit, and wait for what follows."""
    here = page.url
    submit(page, lambda url: url != here)


# ── The tutorial ──────────────────────────
def be_taught(page: Page) -> None:
    """Both items of the tutorial, with feedback on each label and none before it."""
    expect(page.get_by_text("Tutorial: 1 of 2")).to_be_visible()
    page.get_by_role("button", name="Label the next one").first.click()
    # the guidelines first, once; the button has the focus
    expect(page.get_by_role("heading", level=1)).to_have_text("Before your first label")
    page.keyboard.press("Enter")
    ready(page)
    feedback = page.locator('[data-role="feedback"]')
    expect(page.get_by_text("Tutorial: 1 of 2")).to_be_visible()
    expect(feedback).to_have_count(0)
    press(page, KEYS[1])
    expect(page.locator('#m2 [data-role="feedback"]')).to_contain_text("+1 is right.")
    expect(feedback).to_have_count(1)
    page.reload()  # it is kept
    ready(page)
    expect(page.locator('#m2 [data-role="feedback"]')).to_be_visible()
    press(page, KEYS[1], OUTCOME_KEYS[1])
    turn_page(page)
    ready(page)
    press(page, *PLUS)
    expect(page.locator('#m4 [data-role="feedback"]')).to_contain_text("You said +1; the key says −1.")
    expect(page.locator('[data-outcome] [data-role="feedback"]')).to_be_visible()
    page.locator("#m4").get_by_role("button", name="Read this in the guidelines").click()
    case = page.locator("dialog#guidelines tr.is-meant")
    expect(case).to_contain_text("It misreads or ignores a tool result")
    expect(case).to_be_in_viewport()
    expect(case).to_be_focused()
    page.keyboard.press("Escape")
    fits_the_window(page)
    turn_page(page)


# ── The test ──────────────────────────────
def sit(page: Page, wren: User, *, well: bool) -> None:
    """A whole attempt: all as in the key, or +1 throughout. The first two and the last are labelled on the
    page, those between them beside it. It ends on its result."""
    page.get_by_role("button", name="Begin the test").click()
    for number in (1, 2, ITEMS):
        ready(page)
        expect(page.locator('[data-role="guided"]')).to_contain_text(f"Test 1: {number} of {ITEMS}")
        here = assignment_on(page)
        value = eventually(lambda here=here: key_of(here), bool)[0] if well else 1
        press(page, KEYS[value], OUTCOME_KEYS[value])
        expect(page.locator('[data-role="feedback"]')).to_have_count(0)
        turn_page(page)
        if number == 2:
            ready(page)
            open_last(page, wren, well=well)
    page.wait_for_url("**/attempts/*/")


def open_last(page: Page, wren: User, *, well: bool) -> None:
    """Label the third and what follows up to the last, which the page opens."""
    third = assignment_on(page)
    current = eventually(lambda: Assignment.stored.get(pk=third), bool)
    for _ in range(3, ITEMS):
        value = eventually(lambda here=current.pk: key_of(here), bool)[0] if well else 1
        label_every_step(current, value, outcome=value)
        label.submit(actor=wren, assignment=current)
        current = claim(wren, current.project)
    page.goto(f"{home(page)}/assignments/{current.pk}/")


def fail_wait_and_pass(page: Page, wren: User) -> None:
    """An attempt that fails, the time before the next, and one that passes."""
    page.wait_for_url("**/tests/1/")
    sit(page, wren, well=False)
    expect(page.get_by_text("not reached")).to_be_visible()
    expect(page.get_by_text("the key says")).to_have_count(ITEMS)
    fits_the_window(page)
    page.get_by_role("link", name="Test 1").first.click()
    expect(page.get_by_text("The next attempt is possible from")).to_be_visible()
    expect(page.get_by_role("button", name="Begin the test")).to_have_count(0)
    Attempt.objects.update(ended_at=timezone.now() - timedelta(hours=25))
    page.reload()
    sit(page, wren, well=True)
    expect(page.get_by_text("passed").first).to_be_visible()
    page.get_by_role("link", name="Test 1").first.click()
    expect(page.get_by_text("You have passed this test.")).to_be_visible()


# ── Gold ──────────────────────────────────
class Seen:
    """Everything that a page has been sent, and what it shows; what differs from one trajectory to the next
    taken out."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._answers: list[Response] = []
        page.on("response", lambda answer: self._answers.append(answer))

    def take(self) -> dict[str, object]:
        """All since it was taken last, with the page as it stands."""
        answers, self._answers[:] = self._answers[:], []
        ours = [one for one in answers if "/static/" not in one.url]
        return {
            "answers": {self._answer(one) for one in ours},
            "sent": {shape(one.text()) for one in ours if one.request.resource_type == "document" and one.ok},
            "shown": shape(self.page.content()),
            "addresses": sorted(shape(frame.url) for frame in self.page.frames),
        }

    @staticmethod
    def _answer(one: Response) -> str:
        headers = sorted(f"{name}: {value}" for name, value in one.all_headers().items())
        return shape("\n".join([one.request.method, one.url, str(one.status), *headers]))


def label_all(page: Page) -> None:
    """+1 throughout, each stored before the next."""
    ready(page)
    for key in PLUS:
        press(page, key)


def test_newcomer_is_taught_tested_watched_paused_and_resumed(
    cast: Cast, visit: Callable[..., Visitor], open_as: Callable[..., Page]
) -> None:
    link = set_up(cast)
    visitor = visit()
    page = join(visitor, visitor.home + link, "Wren", cast.project.name).page
    wren = eventually(lambda: User.objects.get(username="Wren"), bool)
    be_taught(page)
    fail_wait_and_pass(page, wren)

    # with gold in the project answers take longer
    gold_is_dealt(cast.project, 30)
    # of four trajectories the third is gold; each page and all that was sent for it is like the others
    seen = Seen(page)
    taken = []
    page.get_by_role("button", name="Label the next one").click()
    for gold_follows in (False, True, False):
        label_all(page)
        taken.append(seen.take())
        deal_next(wren.pk, cast.project, assignment_on(page), gold=gold_follows)
        turn_page(page)
    label_all(page)
    taken.append(seen.take())
    _first, ordinary, gold, after = taken
    eventually(lambda: kinds_given(wren.pk)[-4:], [None, None, "gold", None])
    assert gold["sent"] and gold["answers"]
    assert gold == ordinary and gold == after

    # the sweep of two days later
    assert training.sweep(now=timezone.now() + timedelta(days=2)) == 1
    submit(page)
    expect(page.get_by_role("main")).to_contain_text(PAUSED)
    for path in ("/", f"/p/{cast.project.slug}/", f"/p/{cast.project.slug}/work/"):
        visitor.go(path)
        expect(page.get_by_role("main")).to_contain_text(PAUSED)
        expect(page.get_by_role("main")).not_to_contain_text("Nothing is left")
        expect(page.get_by_role("button", name="Label")).to_have_count(0)

    admin = open_as("admin", "/notices/")
    admin.get_by_role("link", name="An annotator is paused").click()
    expect(admin.get_by_role("row", name="Wren")).to_contain_text("paused by gold")
    fits_the_window(admin)
    admin.get_by_role("button", name="Resume Wren").click()
    expect(admin.get_by_text("Wren is given trajectories again.")).to_be_visible()

    visitor.go("/notices/")
    page.get_by_role("link", name="You are given trajectories to label again.").click()
    page.get_by_role("button", name="Label the next one").first.click()
    label_all(page)
    turn_page(page)
    ready(page)
    eventually(lambda: kinds_given(wren.pk)[-1], None)
