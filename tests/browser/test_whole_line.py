"""The whole line in the browser: five people, from an upload to a verified release on disk."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sklearn.metrics import cohen_kappa_score

from annotation.core.releases.record_format import PUBLISHED_KEYS
from tests.browser.server import Site
from tests.browser.visitors import sign_in
from tests.browser.workbench import seen
from tests.chromium import Visitor
from tests.people import jsonl, make_record

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PASSWORD = "gentle-harbour-lantern-7"
SLUG = "tide-pools"
SUBSET = "pools"
KEYS = {1: "1", 0: "0", -1: "-"}
OUTCOME_KEYS = {1: "Shift+Digit1", 0: "Shift+Digit0", -1: "Shift+Minus"}

# What each of the two presses: (steps, outcome) by query index. "E" confirms by Enter what the rule proposes.
Pressed = tuple[tuple[int | str, ...], int]
FIRST: dict[int, Pressed] = {
    0: ((1, 1, 1), 1),
    1: ((1, 0, 1), 1),
    2: ((0, 1, 1), 1),
    3: ((1, -1, "E", "E"), -1),
}
SECOND: dict[int, Pressed] = {
    0: ((1, 1, 1), 1),
    1: ((1, -1, 1), 1),  # one step differs
    2: ((0, 1, 1), -1),  # the outcome alone differs
    3: ((1, -1, -1, -1), -1),
}
DECIDED = {1: -1, 2: 1}  # what the adjudicator makes of the two disputes


def values(pressed: Pressed) -> list[int]:
    """The step labels that come of it: what is confirmed is −1 here."""
    return [-1 if value == "E" else int(value) for value in pressed[0]]


def test_whole_line_goes_from_an_upload_to_a_verified_release(
    server: Site, guest: Callable[..., Visitor], tmp_path: Path
) -> None:
    admin = sign_in(guest(), "admin", server.accounts()["admin"])
    start_project(admin.page)
    wren = guest()
    join_with_a_password_link(admin.page, wren)
    otis, vera = guest(), guest()
    join_by_invitation(admin.page, otis, "otis", "annotator")
    join_by_invitation(admin.page, vera, "vera", "adjudicator")
    upload(admin.page, tmp_path)
    go(admin.page, "Guidelines")
    expect(admin.page.get_by_role("heading", level=1)).to_have_text("Guidelines")
    go(admin.page, "Overview")
    ticked = {"Read the guidelines, and make them yours", "Import trajectories", "Invite annotators"}
    check_first_steps(admin.page, ticked)
    for visitor, pressed in ((wren, FIRST), (otis, SECOND)):
        label_everything(visitor.page, pressed)
    go(admin.page, "Overview")
    expect(admin.page.get_by_role("region", name="First steps")).to_have_count(0)
    check_agreement(admin.page)
    adjudicate(vera.page)
    check_release(admin.page, tmp_path)


def go(page: Page, place: str) -> None:
    """Through the project's navigation."""
    page.get_by_role("navigation", name="Project").get_by_role("link", name=place, exact=True).click()


def start_project(page: Page) -> None:
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Name", exact=True).fill("Tide pools")
    page.get_by_label("Slug").fill(SLUG)
    page.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tide pools")
    expect(page.get_by_text("No trajectories yet")).to_be_visible()
    check_first_steps(page, set())


def check_first_steps(page: Page, ticked: set[str]) -> None:
    """The list ticks itself from the facts, and fits a phone."""
    steps = page.get_by_role("region", name="First steps")
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        expect(steps.get_by_role("listitem")).to_have_count(5)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    done = steps.get_by_role("listitem").filter(has_text="(done)").get_by_role("link")
    assert set(done.all_inner_texts()) == ticked


def join_with_a_password_link(page: Page, guest: Visitor) -> None:
    """An account that the admin makes; its owner chooses the password, and accepts an invitation."""
    page.locator(".menu > summary").click()
    page.get_by_role("link", name="People").click()
    page.get_by_label("User name").fill("wren")
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("button", name="Create password link wren").click()
    link = page.get_by_label("One-time link")
    expect(link).to_be_visible()
    guest.page.goto(link.input_value())
    guest.page.get_by_label("New password", exact=True).fill(PASSWORD)
    guest.page.get_by_label("New password confirmation").fill(PASSWORD)
    guest.page.get_by_role("button", name="Set password").click()
    sign_in(guest, "wren", PASSWORD)
    expect(guest.page.get_by_text("You are not a member of a project yet")).to_be_visible()

    guest.page.goto(invitation(page, "annotator"))
    guest.page.get_by_role("button", name="Accept and join").click()
    expect(guest.page.get_by_role("heading", level=1)).to_have_text("Tide pools")
    page.goto(f"{guest.home}/p/{SLUG}/members/")
    expect(page.get_by_role("row", name="wren").get_by_label("annotator")).to_be_checked()


def invitation(page: Page, role: str) -> str:
    """A link that the admin makes on the members' page."""
    page.goto(re.sub(r"^(https?://[^/]+).*", rf"\1/p/{SLUG}/members/", page.url))
    invite = page.get_by_role("region", name="Invite", exact=True)
    for name in ("annotator", "adjudicator"):
        invite.get_by_label(name).set_checked(name == role)
    invite.get_by_role("button", name="Create links").click()
    link = page.get_by_label("Invitation link")
    expect(link).to_be_visible()
    return link.input_value()


def join_by_invitation(page: Page, guest: Visitor, username: str, role: str) -> None:
    """A link that the admin hands over; the new person makes an account with it."""
    link = invitation(page, role)
    guest.page.goto(link)
    guest.page.get_by_label("Name or e-mail address to sign in with").fill(username)
    guest.page.get_by_label("Password", exact=True).fill(PASSWORD)
    guest.page.get_by_label("Password again").fill(PASSWORD)
    guest.page.get_by_role("button", name="Create account and join").click()
    expect(guest.page.get_by_role("heading", level=1)).to_have_text("Tide pools")
    guest.watch.allow(r"404.*/invitations/")
    guest.page.goto(link)
    expect(guest.page.get_by_role("heading", level=1)).to_have_text("Page not found")
    guest.go(f"/p/{SLUG}/")


def upload(page: Page, folder: Path) -> None:
    records = [make_record(query, steps=len(FIRST[query][0]), data_source="pools") for query in FIRST]
    file = folder / "pools.jsonl"
    file.write_bytes(jsonl(records))
    go(page, "Import")
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("pools.jsonl")
    published = page.locator(".head").get_by_text("imported", exact=True)
    expect(published).to_be_visible()
    expect(page.locator(".stats div", has_text="New trajectories").locator("dd")).to_have_text("4")
    expect(page.locator(".stats div", has_text="New steps").locator("dd")).to_have_text("13")

    go(page, "Import")
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("nothing has changed")).to_be_visible()


def label_everything(page: Page, pressed: Mapping[int, Pressed]) -> None:
    """Claim and label until nothing is left, with the keyboard alone."""
    page.goto(re.sub(r"^(https?://[^/]+).*", rf"\1/p/{SLUG}/work/", page.url))
    done: set[int] = set()
    page.get_by_role("button", name="Label the next one").first.click()
    # the guidelines first, once; the button has the focus
    expect(page.get_by_role("heading", level=1)).to_have_text("Before your first label")
    page.keyboard.press("Enter")
    for number in range(1, len(pressed) + 1):
        expect(page.locator("html")).to_have_attribute("data-workbench", "ready")
        record = page.locator(".desk__task code").first.inner_text()
        query = int(record.split(":")[1])
        press_all(page, pressed[query])
        done.add(query)
        if number < len(pressed):  # submitting takes the next one
            expect(page.locator(".desk__task code").first).not_to_have_text(record)
    page.wait_for_url(f"**/p/{SLUG}/work/")
    assert done == set(pressed)
    expect(page.get_by_text("Nothing is left for you to label at the moment.")).to_be_visible()
    page.get_by_role("link", name=re.compile("^submitted")).click()
    expect(page.locator("tbody tr")).to_have_count(len(pressed))


def press_all(page: Page, pressed: Pressed) -> None:
    steps = page.locator("[data-step]")
    expect(steps).to_have_count(len(pressed[0]))
    expect(steps.first).to_have_class(re.compile("is-focused"))
    for number, value in enumerate(pressed[0]):
        expect(steps.nth(number)).to_have_class(re.compile("is-focused"))
        if value != "E":
            page.keyboard.press(KEYS[int(value)])
            expect(steps.nth(number)).to_have_class(re.compile("is-labelled"))
        elif "E" not in pressed[0][:number]:
            expect(page.locator(".is-proposed")).to_have_count(pressed[0].count("E"))
            confirm_proposals(page)
    page.keyboard.press(OUTCOME_KEYS[pressed[1]])
    expect(page.locator("[data-role=save]")).to_have_attribute("data-status", "saved")
    page.keyboard.press("Control+Enter")
    if pressed[1] == -1 and -1 not in values(pressed):  # asked once
        expect(page.locator("[data-role=missing]")).to_contain_text("outcome is −1")
        page.keyboard.press("Control+Enter")


def confirm_proposals(page: Page) -> None:
    """Look at each of them, as one must; then one Enter confirms them all."""
    proposals = page.locator(".is-proposed")
    others = proposals.count() - 1
    seen(page)
    for _ in range(others):
        page.keyboard.press("j")
        seen(page)
    for _ in range(others):
        page.keyboard.press("k")
    expect(proposals.first).to_have_class(re.compile("is-focused"))
    page.keyboard.press("Enter")
    expect(proposals).to_have_count(0)


def check_agreement(page: Page) -> None:
    go(page, "Agreement")
    first = [value for query in sorted(FIRST) for value in values(FIRST[query])]
    second = [value for query in sorted(SECOND) for value in values(SECOND[query])]
    alike = sum(a == b for a, b in zip(first, second, strict=True)) / len(first)
    shown = page.locator("[aria-labelledby=figures] tbody tr")
    expected: dict[str, str] = {
        "Percent agreement": f"{100 * alike:.1f}\u00a0%",
        "Cohen’s κ": f"{cohen_kappa_score(first, second):.3f}",
        "κ, linear weights": f"{cohen_kappa_score(first, second, weights='linear'):.3f}",
        "κ, quadratic weights": f"{cohen_kappa_score(first, second, weights='quadratic'):.3f}",
    }
    for title, figure in expected.items():
        row = shown.filter(has=page.get_by_role("rowheader", name=title))
        expect(row.locator("td").first).to_contain_text(figure)
        expect(row.locator("td").first.get_by_role("link")).to_have_text("13")
    confusion = page.locator("[aria-labelledby=confusion]").first
    confusion.get_by_text("As a table").click()
    cells = confusion.locator("tbody td:not(.sum)")
    expect(cells.first).to_be_visible()
    counts = [int(cell) for cell in cells.all_inner_texts()]
    wanted = [
        sum(pair == (a, b) for pair in zip(first, second, strict=True))
        for a in (-1, 0, 1)
        for b in (-1, 0, 1)
    ]
    assert counts in (wanted, [wanted[3 * b + a] for a in range(3) for b in range(3)])


def adjudicate(page: Page) -> None:
    page.goto(re.sub(r"^(https?://[^/]+).*", rf"\1/p/{SLUG}/adjudication/", page.url))
    for _ in DECIDED:
        page.get_by_role("button", name="Claim next case").click()
        expect(page.locator("html")).to_have_attribute("data-case", "ready")
        query = int(page.get_by_role("heading", level=1).inner_text().split(":")[1])
        cards = page.locator("[data-decision]")
        expect(cards).to_have_count(1)
        expect(cards.get_by_role("heading", level=3)).to_have_text("Step 2" if query == 1 else "Outcome")
        expect(cards.locator(".annotator-labels")).not_to_contain_text(re.compile("wren|otis"))
        page.get_by_role("button", name="Finish the case").click()
        expect(page.locator("li.alert--error")).to_contain_text("undecided")
        expect(page.locator("html")).to_have_attribute("data-case", "ready")
        page.keyboard.press(KEYS[DECIDED[query]])
        expect(cards.locator("[data-said]")).to_have_text("decided")
        page.get_by_role("button", name="Finish the case").click()
        expect(page.get_by_text("Case decided")).to_be_visible()
    expect(page.get_by_text("No dispute is waiting")).to_be_visible()


def check_release(page: Page, folder: Path) -> None:
    go(page, "Releases")
    page.get_by_role("link", name="Freeze the first release").click()
    expect(page.get_by_text("4 trajectories with 13 step labels.")).to_be_visible()
    wide, sure = page.viewport_size, page.get_by_label("Subsets whose agreement is below")
    assert wide is not None
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_label("Agreement (Krippendorff").fill("1")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("below the threshold", exact=True)).to_be_visible()
    expect(page.get_by_label(f"Leave out {SUBSET}")).not_to_be_checked()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_label("Version").fill("1.0")
    page.get_by_label("Nobody will be able to change").check()
    sure.check()
    page.set_viewport_size(wide)
    page.get_by_label("Licence (optional)").select_option("CC-BY-4.0")
    page.get_by_role("button", name="Freeze").click()
    # a worker freezes it, and the page goes there when it has
    expect(page.get_by_role("heading", level=1)).to_have_text("Release 1.0")
    page.get_by_role("button", name="Verify").click()
    expect(
        page.get_by_text("Verified: all 4 records and 13 labels are unchanged since they were frozen.")
    ).to_be_visible()

    lines = download(page, "pools.jsonl", folder)
    manifest = json.loads(download(page, "manifest.json", folder))
    assert manifest["files"]["pools.jsonl"]["sha256"] == hashlib.sha256(lines).hexdigest()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines.splitlines()]
    assert [tuple(record) for record in records] == [PUBLISHED_KEYS] * 4
    for record in records:
        query = record["query_index"]
        steps = values(FIRST[query])
        outcome = FIRST[query][1]
        if query == 1:
            steps[1] = DECIDED[1]
        if query == 2:
            outcome = DECIDED[2]
        indexes = [i for i, message in enumerate(record["messages"]) if message["role"] == "assistant"]
        assert record["step_labels"] == {str(i): value for i, value in zip(indexes, steps, strict=True)}
        assert record["final_label"] == outcome


def download(page: Page, name: str, folder: Path) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name, exact=True).click()
    waiting.value.save_as(folder / f"out-{name}")
    return (folder / f"out-{name}").read_bytes()
