"""Three people play a whole dispute, each at a browser of their own: at a desk, and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.core.vocabulary import AssignmentState
from annotation.models import (
    Adjudication,
    Assignment,
    Consensus,
    Label,
    OutcomeConsensus,
    OutcomeLabel,
    Revision,
    Trajectory,
    User,
)
from annotation.models.blindness import BLIND_VALUE, with_blind_values
from tests import people
from tests.browser.workbench import PHONE, mark, press, ready, saved
from tests.callers import Caller
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

STEPS = (2, 4, 6, 8)
SAID = {"ann": ((1, 1, 0, 1), 1), "ben": ((1, -1, -1, 1), -1)}
"""Of four steps the second and the third are disputed, and so is the outcome."""
KEYS = {1: "1", 0: "0", -1: "-"}
SIGNS = {1: "+1", 0: "0", -1: "−1"}
WITH_BLIND_VALUE = ("blind_value", "exposed_at")
"""Written at the first exposure: they keep what was said before it."""
SHOWN = """() => Object.fromEntries([...document.querySelectorAll(".annotator-labels")].map((list) => [
  list.closest("[id]").id,
  Object.fromEntries([...list.children].map((one) => [...one.children].map(
    (part) => part.textContent.replace(/\\s+/g, " ").trim(),
  ))),
]))"""
WHY_ANN = "The second search repeats the first."
WHY_JUDITH = "Nothing new comes of it."


class Hand:
    """How somebody works: with keys at a desk, or with taps on a phone."""

    def __init__(self, page: Page, *, taps: bool) -> None:
        self.page = page
        self.taps = taps

    def use(self, place: Locator) -> None:
        """Click, or tap."""
        if self.taps:
            place.tap()
        else:
            place.click()

    def label(self, values: tuple[int, ...], outcome: int) -> None:
        """Claim the next trajectory, label it whole and submit it."""
        page = self.page
        self.use(page.get_by_role("button", name="Label the next one").first)
        ready(page)
        if self.taps:
            for index, value in zip(STEPS, values, strict=True):
                mark(page, index, SIGNS[value])
            kind = {1: "plus", 0: "zero", -1: "minus"}[outcome]
            page.locator(f"[data-outcome] label.{kind}").tap()
            expect(page.locator(f"[data-outcome] input[value='{outcome}']")).to_be_checked()
            saved(page)
        else:
            press(page, *(KEYS[value] for value in values))
            press(page, {1: "Shift+Digit1", -1: "Shift+Minus"}[outcome])
        if self.taps:
            page.get_by_role("button", name="Submit").tap()
        else:
            press(page, "Control+Enter")
        page.wait_for_url("**/bench/work/**")


def labelled() -> dict[str, list[dict[str, Any]]]:
    """All that was submitted, by annotator, whole rows: it must never change again. What each said blind is
    the value, or what was kept of it when they saw the other's."""
    found = {}
    for name in SAID:
        rows: list[dict[str, Any]] = []
        for model in (Label, OutcomeLabel):
            theirs = with_blind_values(model.objects.filter(assignment__annotator__username=name))
            rows += [
                {column: value for column, value in row.items() if column not in WITH_BLIND_VALUE}
                for row in theirs.order_by("pk").annotate(blind=BLIND_VALUE).values()
            ]
        found[name] = rows
    return found


@pytest.mark.parametrize("device", ["desk", "phone"])
def test_dispute_is_played_by_three_people_to_its_end(cast: Cast, open_as: Callable, device: str) -> None:
    (trajectory,) = people.import_records(cast.project, [people.make_record(steps=4)])
    options = PHONE if device == "phone" else {}
    hands = {
        who: Hand(open_as(who, path, **options), taps=device == "phone")
        for who, path in (
            ("ann", "/p/bench/work/"),
            ("ben", "/p/bench/work/"),
            ("judith", "/p/bench/adjudication/"),
        )
    }
    ann, judith = hands["ann"].page, hands["judith"].page

    expect(judith.get_by_text("No dispute is waiting")).to_be_visible()
    for who, (values, outcome) in SAID.items():
        hands[who].label(values, outcome)
    blind = labelled()
    assert set(Assignment.objects.values_list("state", flat=True)) == {AssignmentState.SUBMITTED}
    for who in SAID:
        hands[who].page.goto(f"{home(ann)}/discussions/")
    expect(ann.get_by_text("No discussions yet")).to_be_visible()

    # the adjudicator takes the case from the queue, and has it talked about
    judith.reload()
    expect(judith.locator("tbody tr")).to_contain_text("2 of 4 steps")
    hands["judith"].use(judith.get_by_role("button", name="Claim next case"))
    expect(judith.locator("html")).to_have_attribute("data-case", "ready")
    expect(judith.locator("#m4")).to_be_focused()
    hands["judith"].use(judith.get_by_role("button", name="Open a discussion"))
    expect(judith.get_by_text("Discussion opened. The annotators are told.")).to_be_visible()

    # both see what the other said, as A and B; one asks, the other thinks again
    letter = {}
    for who in SAID:
        page = hands[who].page
        page.reload()
        hands[who].use(page.get_by_role("link", name=trajectory.record_id))
        letter[who] = page.get_by_text(re.compile("You are [AB] here")).inner_text().split()[2]
    assert set(letter.values()) == {"A", "B"}
    for who in SAID:
        assert shown(hands[who].page) == blind_labels(letter)
        expect(hands[who].page.locator("body")).not_to_contain_text("Ann" if who == "ben" else "Ben")
    question = f"@{letter['ann']} is this not the same search?"
    say(hands["ben"], "#m4", question)
    ann.reload()
    expect(ann.locator("#m4 .thread")).to_contain_text(question)
    expect(ann.locator("#m4 .thread .badge")).to_have_text("1 new")
    change_mind(hands["ann"], "#m4", -1, WHY_ANN)
    expect(ann.locator("#m4 .thread__said")).to_contain_text(WHY_ANN)

    # what is left is decided
    judith.goto(f"{home(judith)}/adjudications/{Adjudication.objects.get().pk}/")
    expect(judith.locator("html")).to_have_attribute("data-case", "ready")
    expect(judith.locator("[data-role=progress]")).to_have_text("1 of 3")
    expect(judith.locator("#m6")).to_be_focused()
    decide(hands["judith"], letter["ben"], WHY_JUDITH)
    hands["judith"].use(judith.get_by_role("button", name="Finish the case"))
    expect(judith.get_by_text("Its labels are now the consensus")).to_be_visible()

    check_stored(cast, trajectory, blind)
    check_pages(hands, letter)
    check_history(cast, trajectory, letter, question)


def home(page: Page) -> str:
    return "/".join(page.url.split("/")[:3])


def say(hand: Hand, card: str, text: str) -> None:
    thread = hand.page.locator(f"{card} .thread")
    thread.get_by_label("Comment").fill(text)
    hand.use(thread.get_by_role("button", name="Comment"))
    expect(thread.locator(".thread__text", has_text=text)).to_be_visible()


def change_mind(hand: Hand, card: str, value: int, why: str) -> None:
    thread = hand.page.locator(f"{card} .thread")
    hand.use(thread.get_by_text("Change my mind", exact=True))
    hand.use(thread.get_by_role("radio", name=SIGNS[value]))
    thread.get_by_label("Why I change my mind").fill(why)
    hand.use(thread.get_by_role("button", name="Change my label"))
    expect(thread.locator(".thread__text", has_text=why)).to_be_visible()


def decide(hand: Hand, letter: str, why: str) -> None:
    """The third step as `letter` says, with a note; then the outcome as 0."""
    page = hand.page
    if hand.taps:
        bar = page.locator(".thumb")
        bar.get_by_role("button", name=f"{letter}’s").tap()
        expect(page.locator("#outcome")).to_be_focused()
        bar.get_by_role("button", name="0").tap()
    else:
        press(page, letter.lower())
        expect(page.locator("#outcome")).to_be_focused()
        press(page, "0")
    expect(page.locator("#m6 [data-said]")).to_have_text("decided")
    expect(page.locator("#outcome [data-said]")).to_have_text("decided")
    page.locator("#m6").get_by_label("Why you decide so").fill(why)
    page.locator("#m6 .msg__role").click()
    expect(page.locator("[data-role=progress]")).to_have_text("3 of 3")


def check_stored(cast: Cast, trajectory: Trajectory, blind: object) -> None:
    assert labelled() == blind
    change = Revision.objects.get()
    assert (change.assignment.annotator, change.step.message_index) == (cast.ann, 4)
    assert (change.previous, change.value, change.root, change.note) == (1, -1, change.step, WHY_ANN)
    rows = Consensus.objects.order_by("step__message_index")
    assert list(
        rows.values_list("step__message_index", "value", "kind", "root__message_index", "resolved_by", "note")
    ) == [
        (2, 1, "unanimous", None, None, ""),
        (4, -1, "discussed", 4, None, ""),
        (6, -1, "adjudicated", 4, cast.judith.pk, WHY_JUDITH),
        (8, 1, "unanimous", None, None, ""),
    ]
    outcome = OutcomeConsensus.objects.get()
    assert (outcome.value, outcome.kind, outcome.resolved_by) == (0, "adjudicated", cast.judith)
    trajectory.refresh_from_db()
    assert trajectory.state == "adjudicated"


def shown(page: Page) -> dict[str, dict[str, str]]:
    """What stands beside each step and the outcome (by the id of its card): who says what, in words."""
    found: dict[str, dict[str, str]] = page.evaluate(SHOWN)
    return found


def blind_labels(letter: dict[str, str]) -> dict[str, dict[str, str]]:
    """What stands there when the discussion begins."""
    a, b = letter["ann"], letter["ben"]
    return {
        "m2": {a: "+1", b: "+1"},
        "m4": {a: "+1", b: "−1 began here"},
        "m6": {a: "0", b: "−1 began at step 2"},
        "m8": {a: "+1", b: "+1"},
        "outcome": {a: "+1", b: "−1"},
    }


def check_pages(hands: dict[str, Hand], letter: dict[str, str]) -> None:
    """The blind labels as they were, what changed beside them, and the consensus with its origin: the same on
    everybody's page."""
    wanted = blind_labels(letter)
    wanted["m4"][letter["ann"]] += " → after discussion −1 began here"
    for card, consensus in {
        "m2": "+1 unanimous",
        "m4": "−1 discussed began here",
        "m6": "−1 adjudicated began at step 2",
        "m8": "+1 unanimous",
        "outcome": "0 adjudicated",
    }.items():
        wanted[card]["Consensus"] = consensus
    case = f"/adjudications/{Adjudication.objects.get().pk}/"
    hands["judith"].page.goto(home(hands["judith"].page) + case)
    for who in SAID:
        hands[who].page.reload()
    for hand in hands.values():
        assert shown(hand.page) == wanted
        expect(hand.page.locator("#m4 .thread__said")).to_contain_text(WHY_ANN)
        expect(hand.page.locator("[data-role=errors]")).to_have_text(
            re.compile(r"^\s*step 2, and from it 3\s*$")
        )
        assert hand.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def check_history(cast: Cast, trajectory: Trajectory, letter: dict[str, str], question: str) -> None:
    """Exactly what happened to each step, in order and under letters; the same for all three."""
    a, b = letter["ann"], letter["ben"]
    talked = {
        4: [("comment", b, None, question), ("revision", a, -1, WHY_ANN)],
        6: [("decision", "", -1, ""), ("decision", "", -1, WHY_JUDITH)],
    }
    resolved = {2: (1, ""), 4: (-1, ""), 6: (-1, WHY_JUDITH), 8: (1, "")}
    for reader in (cast.ann, cast.ben, cast.judith):
        for step, index in enumerate(STEPS):
            entries = history(reader, trajectory, index)
            # who has seen what is each reader's own
            found = [one for one in entries if not one["kind"].startswith("seen.")]
            assert [(one["kind"], one["letter"], one["value"], one["note"]) for one in found] == [
                ("save", a, SAID["ann"][0][step], ""),
                ("assignment.submit", a, None, ""),
                ("save", b, SAID["ben"][0][step], ""),
                ("assignment.submit", b, None, ""),
                ("case.open", "", None, ""),
                ("discussion.open", "", None, ""),
                *talked.get(index, []),
                ("resolved", "", *resolved[index]),
                ("case.close", "", None, ""),
            ]


def history(reader: User, trajectory: Trajectory, index: int) -> list[dict[str, Any]]:
    answer = Caller(reader).get(f"/trajectories/{trajectory.pk}/history/", {"message_index": index})
    assert answer.status_code == 200
    entries: list[dict[str, Any]] = answer.json()["results"]
    return entries
