"""Pages with scripts in a real browser: upload progress, menus, dialogs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.models import ImportFile, Membership, Trajectory
from annotation.services import accounts, ingest
from tests import people
from tests.browser.stored import eventually
from tests.chromium import fits_the_window
from tests.importers.golden import GOLDEN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_upload_that_is_refused_is_sent_again_and_the_import_page_follows_it(cast, open_as, tmp_path: Path):
    file = tmp_path / "tiny.jsonl"
    file.write_bytes(b"")
    page = open_as("admin", "/p/bench/import/", expected="status of 400")
    page.set_input_files("#id_file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator(".field:has(#id_file) .errorlist")).to_contain_text("is empty")
    expect(page.locator("#id_file")).to_be_focused()
    expect(page.locator("[data-upload-problem]")).to_be_hidden()
    file.write_bytes(people.jsonl(people.make_records(2)))
    page.set_input_files("#id_file", file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tiny.jsonl")
    expect(page.locator("[data-state]")).to_have_text("waiting")
    ingest.run_import(source_id=eventually(lambda: ImportFile.objects.get(), bool).pk)
    expect(page.get_by_text("New trajectories")).to_be_visible()


def test_form_in_use_is_not_emptied_when_an_import_ends(cast, open_as):
    record = people.jsonl(people.make_records(1))
    waiting = people.receive(cast.project, record, actor=cast.admin, enqueue=True)
    page = open_as("admin", "/p/bench/import/")
    page.set_input_files("#id_file", GOLDEN / "inspect-zstd.eval")
    ingest.run_import(source_id=waiting.pk)
    expect(page.locator("[data-state]")).to_have_text("imported")
    with page.expect_response("**/import/status/*"):
        pass  # a page loaded anew would not ask: nothing is under way
    assert page.locator("#id_file").evaluate("field => field.files.length") == 1
    page.set_input_files("#id_file", [])
    expect(page.locator("[data-job]")).to_have_count(0)


def test_upload_with_a_preview_shows_the_first_trajectory_before_anything_is_imported(cast, open_as):
    page = open_as("admin", "/p/bench/import/")
    page.set_input_files("#id_file", GOLDEN / "inspect-zstd.eval")
    page.get_by_role("button", name="Preview first").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("inspect-zstd.eval")
    expect(page.get_by_role("heading", name="Inspect log (.json or .eval)")).to_be_visible()
    picture = page.locator("#m5 img").first
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 2)
    page.get_by_label("Path of the task’s id").fill("/metadata/level")
    page.get_by_role("button", name="Update the preview").click()
    expect(page.get_by_text("there is nothing at /metadata/level in this record")).to_be_visible()
    eventually(lambda: Trajectory.objects.count(), 0)
    page.get_by_label("Path of the task’s id").fill("")
    page.get_by_role("button", name="Update the preview").click()
    expect(page.get_by_role("heading", name="Errors in the file")).to_have_count(0)
    page.get_by_role("button", name="Import this file").click()
    expect(page.locator("[data-state]")).to_have_text("waiting")


def test_member_is_removed_after_a_question(cast, open_as):
    page = open_as("admin", "/p/bench/members/")
    row = page.get_by_role("row", name="Ann")
    row.get_by_role("button", name="Remove Ann").click()
    dialog = page.get_by_role("dialog", name="Remove Ann?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    row.get_by_role("button", name="Remove Ann").click()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("Ann is no longer a member.")).to_be_visible()
    eventually(lambda: Membership.objects.filter(user=cast.ann).count(), 0)


def test_keyboard_skips_to_the_content_and_the_menu_changes_the_theme_and_closes(cast, open_as):
    page = open_as("ann", "/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    summary = page.locator("details.menu > summary")
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("details.menu")).not_to_have_attribute("open", "")
    expect(summary).to_be_focused()
    summary.click()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_cell_of_agreement_opens_its_steps_and_a_step_its_trajectory(cast, open_as):
    people.import_records(cast.project, 2)
    people.make_disputed(cast, 2)
    page = open_as("admin", "/p/bench/agreement/")
    # on paper a picture stays with its heading, and only a long table is cut
    page.emulate_media(media="print")
    for region, cut in (("Confusion matrix", "avoid"), ("Every figure, of steps", "auto")):
        expect(page.get_by_role("region", name=region)).to_have_css("break-inside", cut)
    page.emulate_media(media="screen")
    page.get_by_role("link", name="+1, −1: 4").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("4 pairs of labels")
    page.get_by_role("link", name="step 2").first.click()
    expect(page).to_have_url(re.compile(r"/trajectories/\d+/\?at=4#m4$"))
    expect(page.locator("#m4")).to_be_in_viewport()


def test_error_of_a_long_form_is_at_its_field_with_the_focus(cast, open_as):
    page = open_as("admin", "/p/bench/settings/", "status of 400", viewport={"width": 390, "height": 420})
    field = page.locator("#id_claim_limit")
    page.locator("details:has(#id_claim_limit) summary").click()
    page.locator("form:has(#id_claim_limit)").evaluate("form => form.noValidate = true")
    field.fill("0")
    field.press("Enter")
    said = page.locator(".field:has(#id_claim_limit) .errorlist")
    expect(said).to_be_in_viewport(ratio=1)
    expect(field).to_be_focused()
    expect(page.locator("#id_name")).not_to_be_in_viewport()


def test_api_page_finds_an_operation_and_sends_it_with_a_token_that_nothing_keeps(cast, open_as):
    _row, token = accounts.issue_token(actor=cast.ann, user=cast.ann, name="try")
    page = open_as("ann", "/api/", "status of 404|400")
    sent = []
    page.on("request", lambda request: sent.append(request) if "/api/v1/" in request.url else None)
    page.get_by_label("Search the operations").fill("projects slug members")
    expect(page.locator("[data-role=count]")).to_contain_text("of")
    assert 0 < page.locator(".operation:visible").count() < 20
    page.get_by_label("Search the operations").fill("no such thing at all")
    expect(page.get_by_text("No operation fits.")).to_be_visible()
    page.get_by_label("Search the operations").fill("")

    one = page.locator("#projects_retrieve")
    page.evaluate("location.hash = 'projects_retrieve'")
    expect(one).to_have_attribute("open", "")
    one.get_by_role("button", name="Try it").click()
    one.get_by_role("button", name="Send GET").click()
    expect(one.get_by_role("alert")).to_have_text("slug is missing.")
    one.get_by_label("slug required").fill("bench")
    one.get_by_role("button", name="Send GET").click()
    expect(one.get_by_role("alert")).to_contain_text("Enter a token first")
    expect(page.locator("#api-token")).to_be_focused()
    page.locator("#api-token").fill(token)
    one.get_by_role("button", name="Send GET").click()
    expect(one.get_by_role("heading", name="Response")).to_contain_text(re.compile(r"200 OK in \d+ ms"))
    expect(one.locator(".trial pre")).to_contain_text('"slug": "bench"')
    (request,) = sent
    assert request.header_value("authorization") == f"Bearer {token}"
    assert request.header_value("cookie") is None
    one.get_by_text("As curl").click()
    expect(one.get_by_label("As curl")).to_have_value(re.compile("/api/v1/projects/bench/'"))
    assert token not in page.content() and token not in one.get_by_label("As curl").input_value()
    one.get_by_label("slug required").fill("nowhere")
    one.get_by_role("button", name="Send GET").click()
    expect(one.get_by_role("heading", name="Response")).to_contain_text("404")

    page.set_viewport_size({"width": 390, "height": 844})
    fits_the_window(page)
    post = page.locator("#assignments_labels_create")
    post.locator("summary").first.click()
    post.get_by_role("button", name="Try it").click()
    body = post.get_by_label("Body", exact=True)
    expect(body).to_be_visible()
    assert json.loads(body.input_value())["op_id"]
    body.fill("{")
    post.get_by_label("id required").fill("1")
    post.get_by_role("button", name="Send POST").click()
    expect(post.get_by_role("alert")).to_contain_text("not JSON")
    kept = "JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])"
    assert token not in page.evaluate(kept)
    page.goto(page.url.split("/api/")[0] + "/profile/")
    page.go_back()
    expect(page.locator("#api-token")).to_have_value("")


def test_rows_of_a_list_are_chosen_and_acted_on_by_keyboard_wide_and_narrow(cast, open_as):
    people.import_records(cast.project, 3)
    people.make_disputed(cast, 3)
    page = open_as("admin", "/p/bench/adjudication/?sort=newest")
    assign = page.get_by_role("button", name="Assign")
    expect(assign).to_be_disabled()
    everything = page.get_by_role("checkbox", name="Choose all on this page")
    first = page.locator("input[name=chosen]").first
    first.focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("Chosen: 1")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    expect(everything).to_have_js_property("indeterminate", True)
    everything.focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("Chosen: 3")).to_be_visible()
    first.focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("Chosen: 2")).to_be_visible()
    page.get_by_label("Assign to").select_option("Judith")
    assign.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 cases are assigned: Judith 2.")).to_be_visible()
    expect(page.locator("input[name=chosen]")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/adjudication/\?sort=newest$"))
