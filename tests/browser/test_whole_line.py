"""The whole line in the browser, served by an installed wheel: an admin and two invited people, from an empty
instance to a leaderboard."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from sklearn.metrics import cohen_kappa_score

from annotation.core.releases.record_format import PUBLISHED_KEYS
from tests.browser.server import Server
from tests.browser.visitors import join, sign_in
from tests.browser.workbench import seen
from tests.chromium import arrivals, fits_the_window
from tests.fixtures.wheels import demo_is_loaded_and_served, everything_stops
from tests.people import jsonl, make_record

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROJECT = "Tide pools"
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
RECORDS = {query: make_record(query, steps=len(FIRST[query][0]), data_source="pools") for query in FIRST}


def values(pressed: Pressed) -> list[int]:
    """The step labels that come of it: what is confirmed is −1 here."""
    return [-1 if value == "E" else int(value) for value in pressed[0]]


@pytest.fixture
def empty(environment: Path, tmp_path: Path) -> Iterator[Server]:
    """`tristep serve` of the wheel, in a folder that holds nothing: one administrator, and nothing else. Its
    web server is one process: with two, the server that tests share shows that."""
    data = tmp_path / "data"
    program = (str(environment / "bin" / "tristep"), "serve", "--no-demo", "--data", str(data))
    server = Server(data, program=program, cwd=tmp_path, TRISTEP_WEB_PROCESSES="1")
    try:
        yield server.ready()
    finally:
        server.stop()


def test_whole_line_goes_from_an_empty_instance_to_a_leaderboard_without_a_refusal(
    empty: Server, environment: Path, browser: Browser, tmp_path: Path
) -> None:
    """Of what the wheel installs where there is no checkout; then it serves the demo as well."""
    # what a browser is refused (4xx, 5xx) its console complains of, and nobody allows it
    with arrivals(browser, empty.url) as arrive:
        admin, otis, vera = arrive(), arrive(), arrive()
        sign_in(admin, "admin", empty.accounts()["admin"])
        page = admin.page
        join(otis, start_project(page), "Otis", PROJECT)
        join(vera, invite(page, "Vera <vera@example.org>", "adjudicator"), "vera@example.org", PROJECT)
        upload(page, tmp_path)
        go(page, "Guidelines")
        expect(page.get_by_role("heading", level=1)).to_have_text("Guidelines")
        go(page, "Overview")
        check_first_steps(page, {"Read the guidelines, and make them yours", "Import trajectories"})
        import_labels(page, tmp_path)
        label_everything(otis.page, SECOND)
        go(page, "Overview")
        expect(page.get_by_role("region", name="First steps")).to_have_count(0)
        check_agreement(page)
        assign_disputes(page)
        adjudicate(vera.page)
        check_release(page, tmp_path)
        check_leaderboard(page, tmp_path)
    demo_is_loaded_and_served(empty, environment)
    everything_stops(empty)


def go(page: Page, place: str) -> None:
    """Through the project's navigation."""
    page.get_by_role("navigation", name="Project").get_by_role("link", name=place, exact=True).click()


def start_project(page: Page) -> str:
    """A project with one person, whose link it returns."""
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Name", exact=True).fill(PROJECT)
    page.get_by_label("Annotators", exact=False).first.fill("Otis")
    page.get_by_role("button", name="Create project").click()
    link = page.get_by_label("Invitation link Otis")
    expect(link).to_be_visible()
    address = link.input_value()
    go(page, "Overview")
    expect(page.get_by_role("heading", level=1)).to_have_text(PROJECT)
    expect(page.get_by_text("No trajectories yet")).to_be_visible()
    check_first_steps(page, set())
    return address


def check_first_steps(page: Page, ticked: set[str]) -> None:
    """The list ticks itself from the facts, and fits a phone."""
    steps = page.get_by_role("region", name="First steps")
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        expect(steps.get_by_role("listitem")).to_have_count(5)
        fits_the_window(page)
    done = steps.get_by_role("listitem").filter(has_text="(done)").get_by_role("link")
    assert set(done.all_inner_texts()) == ticked


def invite(page: Page, person: str, role: str) -> str:
    """A link that the admin makes on the members' page."""
    go(page, "Members")
    invite = page.get_by_role("region", name="Invite", exact=True)
    invite.get_by_label("Names or e-mail addresses").fill(person)
    for name in ("annotator", "adjudicator"):
        invite.get_by_label(name).set_checked(name == role)
    invite.get_by_role("button", name="Create links").click()
    link = page.get_by_label("Invitation link")
    expect(link).to_be_visible()
    return link.input_value()


def import_labels(page: Page, folder: Path) -> None:
    """What Wren has labelled elsewhere: a preview first, then all of it."""
    lines = [
        {
            **RECORDS[query],
            "step_labels": labels_of(RECORDS[query], values(FIRST[query])),
            "final_label": FIRST[query][1],
        }
        for query in FIRST
    ]
    file = folder / "wren.jsonl"
    file.write_bytes(jsonl(lines))
    go(page, "Import")
    page.get_by_role("navigation", name="Kind of import").get_by_role("link", name="Labels").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Import labels")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_label("Name of somebody new").fill("Wren")
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("wren.jsonl")
    expect(page.get_by_text("Nothing is imported yet.")).to_be_visible()
    page.get_by_role("button", name="Import these labels").click()
    expect(page.locator(".head").get_by_text("imported", exact=True)).to_be_visible()
    expect(page.locator(".stats div", has_text="Labelled trajectories").locator("dd")).to_have_text("4")
    expect(page.locator(".stats div", has_text="Step labels").locator("dd")).to_have_text("13")


def labels_of(record: Mapping[str, Any], steps: list[int]) -> dict[str, int]:
    """Values by the indexes of the assistant's messages."""
    indexes = [i for i, message in enumerate(record["messages"]) if message["role"] == "assistant"]
    return {str(i): value for i, value in zip(indexes, steps, strict=True)}


def upload(page: Page, folder: Path) -> None:
    file = folder / "pools.jsonl"
    file.write_bytes(jsonl(RECORDS.values()))
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
    go(page, "My work")
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
        expect(row.locator("td[data-label=Value]")).to_contain_text(figure)
        expect(row.locator("td[data-label=n]").get_by_role("link")).to_have_text("13")
    confusion = page.locator("[aria-labelledby=confusion]").first
    confusion.get_by_text("As a table").click()
    cells = confusion.locator("tbody td:last-child")
    expect(cells.first).to_be_visible()
    counts = [int(cell) for cell in cells.all_inner_texts()]
    wanted = [
        sum(pair == (a, b) for pair in zip(first, second, strict=True))
        for a in (-1, 0, 1)
        for b in (-1, 0, 1)
    ]
    assert counts in (wanted, [wanted[3 * b + a] for a in range(3) for b in range(3)])


def assign_disputes(page: Page) -> None:
    """All disputes at once, by the admin."""
    go(page, "Adjudication")
    page.get_by_role("checkbox", name="Choose all on this page").check()
    expect(page.get_by_text("Chosen: 2")).to_be_visible()
    page.get_by_role("button", name="Assign").click()
    expect(page.get_by_text("2 cases are assigned: Vera 2.")).to_be_visible()


def adjudicate(page: Page) -> None:
    """The assigned cases; deciding one opens the next."""
    go(page, "Adjudication")
    page.get_by_role("navigation", name="Cases").get_by_role("link", name="Mine, open").click()
    page.wait_for_url("**/adjudication/?tab=mine")
    expect(page.locator("tbody tr")).to_have_count(len(DECIDED))
    page.locator("tbody").get_by_role("link", name=re.compile("^Continue")).first.click()
    for number in range(len(DECIDED)):
        expect(page.locator("html")).to_have_attribute("data-case", "ready")
        query = int(page.get_by_role("heading", level=1).inner_text().split(":")[1])
        cards = page.locator("[data-decision]")
        expect(cards).to_have_count(1)
        expect(cards.get_by_role("heading", level=3)).to_have_text("Step 2" if query == 1 else "Outcome")
        expect(cards.locator(".annotator-labels")).not_to_contain_text(re.compile("wren|otis", re.I))
        page.keyboard.press(KEYS[DECIDED[query]])
        expect(cards.locator("[data-said]")).to_have_text("decided")
        page.get_by_role("button", name="Finish, and open the next").click()
        if number + 1 < len(DECIDED):
            expect(page.get_by_role("heading", level=1)).not_to_contain_text(f":{query}:")
        expect(page.get_by_text("Case decided")).to_be_visible()
    go(page, "Adjudication")
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
    fits_the_window(page)
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
        assert record["step_labels"] == labels_of(record, steps)
        assert record["final_label"] == outcome


def check_leaderboard(page: Page, folder: Path) -> None:
    """A model that says what Wren said: right but for one step."""
    page.get_by_role("link", name="Leaderboard").click()
    page.locator("summary", has_text="Upload predictions").click()
    page.get_by_label("Model", exact=True).fill("Sage")
    page.get_by_label("Files").set_input_files(folder / "wren.jsonl")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Sage: imported records: 4")).to_be_visible()
    row = page.locator(".table tbody tr").filter(has=page.get_by_role("link", name="Sage", exact=True))
    expect(row.first).to_contain_text(f"{100 * 12 / 13:.1f}\u00a0%")


def download(page: Page, name: str, folder: Path) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name, exact=True).click()
    waiting.value.save_as(folder / f"out-{name}")
    return (folder / f"out-{name}").read_bytes()
