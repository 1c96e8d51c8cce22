"""Three people play a whole dispute, each at a browser of their own; what it leaves fits a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, OutcomeConsensus, Revision, Trajectory
from tests import people
from tests.browser.stored import consensus, eventually, submitted_labels
from tests.browser.workbench import home, label_next
from tests.chromium import fits_the_window
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

SAID = {"ann": ((1, 1, 0, 1), 1), "ben": ((1, -1, -1, 1), -1)}
"""Of four steps the second and the third are disputed, and so is the outcome."""
SIGNS = {1: "+1", 0: "0", -1: "−1"}
SHOWN = """() => Object.fromEntries([...document.querySelectorAll(".annotator-labels")].map((list) => [
  list.closest("[id]").id,
  Object.fromEntries([...list.children].map((one) => [...one.children].map(
    (part) => part.textContent.replace(/\\s+/g, " ").trim(),
  ))),
]))"""
WHY_ANN = "The second search repeats the first."
WHY_JUDITH = "Nothing new comes of it."


def test_dispute_is_played_by_three_people_to_its_end(cast: Cast, open_as: Callable) -> None:
    (trajectory,) = people.import_records(cast.project, [people.make_record(steps=4)])
    pages = {
        who: open_as(who, path)
        for who, path in (
            ("ann", "/p/bench/work/"),
            ("ben", "/p/bench/work/"),
            ("judith", "/p/bench/adjudication/"),
        )
    }
    ann, judith = pages["ann"], pages["judith"]

    expect(judith.get_by_text("No dispute is waiting")).to_be_visible()
    for who, (values, outcome) in SAID.items():
        label_next(pages[who], (values, outcome))
    submitted = ["submitted", "submitted"]
    eventually(lambda: list(Assignment.objects.values_list("state", flat=True)), submitted)
    blind = eventually(lambda: submitted_labels(*SAID), bool)
    for who in SAID:
        pages[who].goto(f"{home(ann)}/discussions/")
    expect(ann.get_by_text("No discussions yet")).to_be_visible()

    # the adjudicator takes the case from the queue, and has it talked about
    judith.reload()
    expect(judith.locator("tbody tr")).to_contain_text("2 of 4 steps")
    judith.get_by_role("button", name="Claim next case").click()
    expect(judith.locator("html")).to_have_attribute("data-case", "ready")
    expect(judith.locator("#m4")).to_be_focused()
    case = judith.url
    judith.get_by_role("button", name="Open a discussion").click()
    expect(judith.get_by_text("Discussion opened. The annotators are told.")).to_be_visible()

    # both see what the other said, as A and B; one asks, the other thinks again
    letter = {}
    for who in SAID:
        page = pages[who]
        page.reload()
        page.get_by_role("link", name=trajectory.record_id).click()
        page.wait_for_url("**/discussions/*/")
        letter[who] = page.get_by_text(re.compile("You are [AB] here")).inner_text().split()[2]
    assert set(letter.values()) == {"A", "B"}
    for who in SAID:
        assert shown(pages[who]) == blind_labels(letter)
        expect(pages[who].locator("body")).not_to_contain_text("Ann" if who == "ben" else "Ben")
    question = f"@{letter['ann']} is this not the same search?"
    say(pages["ben"], "#m4", question)
    ann.reload()
    expect(ann.locator("#m4 .thread")).to_contain_text(question)
    expect(ann.locator("#m4 .thread .badge")).to_have_text("1 new")
    change_mind(ann, "#m4", -1, WHY_ANN)
    expect(ann.locator("#m4 .thread__said")).to_contain_text(WHY_ANN)

    # what is left is decided
    judith.goto(case)
    expect(judith.locator("html")).to_have_attribute("data-case", "ready")
    expect(judith.locator("[data-role=progress]")).to_have_text("1 of 3")
    expect(judith.locator("#m6")).to_be_focused()
    decide(judith, letter["ben"], WHY_JUDITH)
    judith.get_by_role("button", name="Finish the case").click()
    expect(judith.get_by_text("Its labels are now the consensus")).to_be_visible()
    judith.goto(case)

    check_stored(cast, blind)
    check_pages(pages, letter)


def say(page: Page, card: str, text: str) -> None:
    thread = page.locator(f"{card} .thread")
    thread.get_by_label("Comment").fill(text)
    thread.get_by_role("button", name="Comment").click()
    expect(thread.locator(".thread__text", has_text=text)).to_be_visible()


def change_mind(page: Page, card: str, value: int, why: str) -> None:
    thread = page.locator(f"{card} .thread")
    thread.get_by_text("Change my mind", exact=True).click()
    thread.get_by_role("radio", name=SIGNS[value]).click()
    thread.get_by_label("Why I change my mind").fill(why)
    thread.get_by_role("button", name="Change my label").click()
    expect(thread.locator(".thread__text", has_text=why)).to_be_visible()


def decide(page: Page, letter: str, why: str) -> None:
    """The third step as `letter` says, with a note; then the outcome as 0."""
    page.keyboard.press(letter.lower())
    expect(page.locator("#outcome")).to_be_focused()
    page.keyboard.press("0")
    expect(page.locator("#m6 [data-said]")).to_have_text("decided")
    expect(page.locator("#outcome [data-said]")).to_have_text("decided")
    page.locator("#m6").get_by_label("Why you decide so").fill(why)
    page.locator("#m6 .msg__role").click()
    expect(page.locator("[data-role=progress]")).to_have_text("3 of 3")


def check_stored(cast: Cast, blind: object) -> None:
    eventually(lambda: submitted_labels(*SAID), blind)
    eventually(
        lambda: list(
            Revision.objects.values_list(
                *("assignment__annotator", "step__message_index", "previous", "value"),
                *("root__message_index", "note"),
            )
        ),
        [(cast.ann.pk, 4, 1, -1, 4, WHY_ANN)],
    )
    eventually(
        lambda: consensus(
            "step__message_index", "value", "kind", "root__message_index", "resolved_by", "note"
        ),
        [
            (2, 1, "unanimous", None, None, ""),
            (4, -1, "discussed", 4, None, ""),
            (6, -1, "adjudicated", 4, cast.judith.pk, WHY_JUDITH),
            (8, 1, "unanimous", None, None, ""),
        ],
    )
    eventually(
        lambda: OutcomeConsensus.objects.values_list("value", "kind", "resolved_by").get(),
        (0, "adjudicated", cast.judith.pk),
    )
    eventually(lambda: Trajectory.objects.get().state, "adjudicated")


def shown(page: Page) -> dict[str, dict[str, str]]:
    """The labels beside each step and the outcome (by the id of its card): letter and label, in words."""
    found: dict[str, dict[str, str]] = page.evaluate(SHOWN)
    return found


def blind_labels(letter: dict[str, str]) -> dict[str, dict[str, str]]:
    """The labels at the beginning of the discussion."""
    a, b = letter["ann"], letter["ben"]
    return {
        "m2": {a: "+1", b: "+1"},
        "m4": {a: "+1", b: "−1 began here"},
        "m6": {a: "0", b: "−1 began at step 2"},
        "m8": {a: "+1", b: "+1"},
        "outcome": {a: "+1", b: "−1"},
    }


def check_pages(pages: dict[str, Page], letter: dict[str, str]) -> None:
    """The blind labels as they were, what changed beside them, and the consensus with its origin: the same on
    everybody's page."""
    wanted = blind_labels(letter)
    wanted["m4"][letter["ann"]] += " → after discussion −1 began here"
    for card, agreed in {
        "m2": "+1 unanimous",
        "m4": "−1 discussed began here",
        "m6": "−1 adjudicated began at step 2",
        "m8": "+1 unanimous",
        "outcome": "0 adjudicated",
    }.items():
        wanted[card]["Consensus"] = agreed
    for who in SAID:
        pages[who].reload()
    for page in pages.values():
        assert shown(page) == wanted
        expect(page.locator("#m4 .thread__said")).to_contain_text(WHY_ANN)
        expect(page.locator("[data-role=errors]")).to_have_text(re.compile(r"^\s*step 2, and from it 3\s*$"))
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 844})
            fits_the_window(page)
