"""A case in a real browser: moving, deciding with one key, what a choice does to the errors; and by thumb."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Adjudication, Comment, Decision
from annotation.services import discuss, projects
from tests import people
from tests.browser.stored import consensus, decisions, eventually
from tests.browser.workbench import PHONE, intercept, until
from tests.chromium import fits_the_window
from tests.people import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def case(cast: Cast) -> Adjudication:
    """A case of five steps, of which the second, the third and the last are disputed, and so is the outcome;
    judith has it."""
    (trajectory,) = people.import_records(cast.project, [people.make_record(steps=5)])
    people.label_next(cast.ann, cast.project, [1, 1, 0, -1, 1], outcome=1)
    people.label_next(cast.ben, cast.project, [1, -1, -1, -1, -1], outcome=-1)
    return people.open_case(cast.judith, trajectory)


def opened(open_as, case: Adjudication, **options: object) -> Page:
    page = open_as("judith", f"/adjudications/{case.pk}/", **options)
    if options.get("java_script_enabled", True):
        expect(page.locator("html")).to_have_attribute("data-case", "ready")
    return page


def letter_of(page: Page, card: str, sign: str) -> str:
    """The letter of the annotator who gave a step this value: the letters of a case are drawn."""
    label = page.locator(f"{card} .annotator-labels__one", has_text=sign)
    return label.locator("dt").inner_text().strip().lower()


def test_case_is_decided_with_keys_alone(case, cast, open_as):
    page = opened(open_as, case)
    # it opens at the first disagreement, with the step in sight; what is agreed is folded
    expect(page.locator("#m4")).to_be_focused()
    expect(page.locator("#m4")).to_be_in_viewport()
    assert page.locator("details.step--agreed").evaluate_all("all => all.map(one => [one.id, one.open])") == [
        ["m2", False],
        ["m8", False],
    ]
    effects = page.locator("#m4 [data-role=effects] dd")
    expect(effects).to_have_text(
        [
            "no error here · Errors after this decision: step 4 (−1 would be proposed for 5)",
            "no error here · Errors after this decision: step 4 (−1 would be proposed for 5)",
            "begins an error · Errors after this decision: step 2 with 4 (−1 would be proposed for 3, 5)",
        ]
    )
    for key, here in (
        ("d", "m6"),
        ("d", "m10"),
        ("d", "outcome"),
        ("d", "m4"),
        ("Shift+d", "outcome"),
        ("Shift+d", "m10"),
    ):
        page.keyboard.press(key)
        expect(page.locator(f"#{here}")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("#m8")).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator("#m8 .msg__body")).to_be_visible()
    for key, opens in (("?", "Take A’s label"), ("g", "Judge each step.")):
        page.keyboard.press(key)
        expect(page.locator("dialog[open]")).to_contain_text(opens)
        page.keyboard.press("Escape")

    page.get_by_role("button", name="Finish the case").click()
    expect(page.get_by_text("Steps 2, 3, 5 and the outcome are undecided.")).to_be_visible()
    expect(page.locator("#m4")).to_be_focused()
    page.keyboard.press(letter_of(page, "#m4", "−1"))
    expect(page.locator("#m6")).to_be_focused()
    expect(page.locator("#m6 [data-role=effects] dd").first).to_contain_text("ends the error of step 2")
    page.keyboard.press("-")
    page.keyboard.press("m")
    page.keyboard.type("10-d")  # while one writes, keys are letters
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    page.keyboard.press("-")
    expect(page.locator("[data-decide] [data-said]")).to_have_text(["decided"] * 4)
    expect(page.locator("[data-role=progress]")).to_have_text("4 of 4")
    eventually(decisions, {4: -1, 6: -1, 10: 0, None: -1})
    eventually(lambda: Decision.objects.get(step__message_index=10).note, "10-d")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Its labels are now the consensus")).to_be_visible()
    eventually(lambda: consensus("value"), [(1,), (-1,), (-1,), (-1,), (0,)])


def all_decided(case: Adjudication, cast: Cast) -> None:
    for index in (4, 6, 10, None):
        people.adjudicate.decide(actor=cast.judith, adjudication=case, message_index=index, value=1)


def test_case_is_finished_with_the_note_being_written_and_not_with_what_a_refused_save_left(
    case, cast, open_as
):
    all_decided(case, cast)
    page = opened(open_as, case, expected="Failed to load resource")
    held: list[Route] = []
    intercept(page, "**/decide/", lambda route: held.append(route))
    page.keyboard.press("-")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#m4 [data-said]")).to_have_text("saving…")
    until(page, lambda: held)
    held[0].abort()
    expect(page.locator("#m4 [data-role=problem]")).to_contain_text("Not saved")
    expect(page.locator("#m4")).to_be_focused()
    page.unroute("**/decide/")
    page.keyboard.press("-")
    expect(page.locator("#m4 [data-said]")).to_have_text("decided")
    page.locator("#m4 textarea[name=note]").click()
    page.keyboard.type("Seen twice.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Its labels are now the consensus")).to_be_visible()
    eventually(lambda: consensus("value", "note")[1], (-1, "Seen twice."))


def test_comment_that_is_being_written_is_sent_and_does_not_finish_the_case(case, cast, open_as):
    all_decided(case, cast)
    discuss.open_discussion(actor=cast.judith, trajectory=case.trajectory)
    page = opened(open_as, case)
    page.locator("#m4 textarea[name=text]").fill("Is this so?")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Is this so?")).to_be_visible()
    eventually(lambda: Comment.objects.get().text, "Is this so?")
    eventually(lambda: Adjudication.objects.get().state, "open")


def test_comment_not_sent_is_asked_about_kept_in_the_browser_and_gone_once_it_is_sent(case, cast, open_as):
    talk = discuss.open_discussion(actor=cast.judith, trajectory=case.trajectory)
    page = open_as("ann", f"/discussions/{talk.pk}/")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    own, reason = page.locator("#m4 textarea[name=text]"), page.locator("#m6 textarea[name=note]")
    page.locator("#m6 summary", has_text="Change my mind").click()
    reason.fill("It was no use.")
    own.fill("I read it otherwise")
    expect(own).to_have_value("I read it otherwise")
    page.get_by_role("link", name="Tristep, home").click()
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()
    assert asked == ["beforeunload"]

    page.go_back()
    expect(own).to_have_value("I read it otherwise")
    expect(page.locator("#m4 [data-draft-hint]").first).to_be_visible()
    expect(reason).to_be_visible()
    expect(reason).to_have_value("It was no use.")
    page.locator("#m4").get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator("#m4 .thread__text")).to_have_text("I read it otherwise")
    expect(own).to_have_value("")
    expect(reason).to_have_value("It was no use.")
    assert asked == ["beforeunload"]
    eventually(lambda: Comment.objects.get().text, "I read it otherwise")


def test_decision_made_elsewhere_is_not_overwritten_and_a_typed_note_stays(case, cast, open_as):
    page = opened(open_as, case, expected="status of 409")
    for index in (4, 6, 10, None):
        people.adjudicate.decide(actor=cast.judith, adjudication=case, message_index=index, value=-1)
    note = page.locator("#m4 textarea")
    note.fill("Typed here")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    problem = page.locator("#m4 [data-role=problem]")
    expect(problem).to_contain_text("changed elsewhere, and yours is not saved. It is −1 now")
    expect(page.locator("#m4")).to_be_focused()
    expect(note).to_have_value("Typed here")
    eventually(decisions, {4: -1, 6: -1, 10: -1, None: -1})
    page.keyboard.press("1")
    expect(page.locator("#m4 [data-said]")).to_have_text("decided")
    eventually(decisions, {4: 1, 6: -1, 10: -1, None: -1})


def test_majority_stands_is_taken_back_and_errors_get_their_roots_at_once(cast: Cast, open_as) -> None:
    projects.update_project(actor=cast.admin, project=cast.project, values={"annotators_per_trajectory": 3})
    (trajectory,) = people.import_records(cast.project, [people.make_record(steps=3)])
    for user, values in ((cast.ann, [1, -1, -1]), (cast.ben, [1, -1, -1]), (cast.cleo, [-1, 1, -1])):
        people.label_next(user, cast.project, values, outcome=1)
    page = opened(open_as, people.open_case(cast.judith, trajectory))
    first, second, last = (page.locator(f"#m{index}") for index in (2, 4, 6))
    errors = page.locator("[data-role=errors] li")
    expect(errors).to_have_text(["step 3: beginning open"])

    first.get_by_role("button", name="Majority stands: +1").click()
    expect(first.locator("[data-said]")).to_have_text("decided by majority")
    first.get_by_label("Why you decide so").fill("Two of three.")
    page.keyboard.press("Escape")
    expect(first.locator("[name=version]")).to_have_value("2")
    expect(first.locator("[data-said]")).to_have_text("decided by majority")
    # what one decides oneself is no majority's
    page.keyboard.press("0")
    expect(first.locator("[name=version]")).to_have_value("3")
    expect(first.locator("[data-said]")).to_have_text("decided")
    expect(second).to_be_focused()
    page.keyboard.press(letter_of(page, "#m4", "+1"))
    expect(second.locator("[data-said]")).to_have_text("decided")
    page.keyboard.press("d")
    page.keyboard.press("d")
    page.keyboard.press("Backspace")
    expect(second.locator("[data-said]")).to_have_text("taken back")
    expect(second.get_by_role("radio", checked=True)).to_have_count(0)
    expect(page.locator("[data-role=progress]")).to_have_text("1 of 2")
    page.keyboard.press("-")
    expect(errors).to_have_text(["step 2", "step 3: beginning open"])
    # on what all agree is an error, where it began and why
    last.locator("summary").click()
    last.get_by_label("Where the error began").select_option("Began at step 2")
    expect(errors).to_have_text(["step 2, and from it 3"])
    second.get_by_label("Kind of error").select_option("Wrong tool for what is needed")
    expect(errors).to_have_text(["step 2 · Wrong tool for what is needed, and from it 3"])
    page.get_by_role("button", name="Finish the case").click()
    expect(page.get_by_text("Its labels are now the consensus")).to_be_visible()
    eventually(
        lambda: consensus("value", "kind", "root__message_index", "reason", "note"),
        [
            (0, "adjudicated", None, "", "Two of three."),
            (-1, "adjudicated", 4, "wrong_tool", ""),
            (-1, "unanimous", 4, "", ""),
        ],
    )


def test_case_is_decided_without_scripts(case, open_as):
    page = opened(open_as, case, java_script_enabled=False)
    for number in range(4):
        card = page.locator("[data-decision]").nth(number)
        # by keys: without scripts Playwright cannot see that what it clicks on has moved away
        card.get_by_role("radio", name="+1").press("Space")
        with page.expect_navigation():
            card.get_by_role("button", name="Save").press("Enter")
    page.get_by_role("button", name="Finish the case").press("Enter")
    expect(page.get_by_text("Its labels are now the consensus")).to_be_visible()


def test_case_is_decided_under_a_thumb(case, open_as):
    page = opened(open_as, case, **PHONE)
    bar = page.locator(".thumb")
    expect(page.locator("#m4")).to_be_in_viewport()
    bar.get_by_role("button", name=f"{letter_of(page, '#m4', '−1').upper()}’s").tap()
    expect(page.locator("#m6")).to_be_focused()
    bar.get_by_role("button", name="Next disagreement").tap()
    expect(page.locator("#m10")).to_be_focused()
    bar.get_by_role("button", name="+1").tap()
    expect(page.locator("#outcome")).to_be_focused()
    bar.get_by_role("button", name="−1").tap()
    expect(page.locator("#m6")).to_be_focused()
    expect(page.locator("[data-decide] [data-said]")).to_have_text(["decided", "", "decided", "decided"])
    eventually(decisions, {4: -1, 10: 1, None: -1})
    fits_the_window(page)
