"""Scoring models on a release in a real browser: upload, sort, open a worst case; wide and on a phone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.models import PredictionSet
from annotation.policies import OPERATOR
from annotation.services import release
from tests import people
from tests.browser.stored import eventually
from tests.chromium import fits_the_window
from tests.services.predicting import bring, content, line

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


def test_predictions_are_uploaded_compared_and_a_worst_case_is_read(cast, open_as, tmp_path: Path):
    people.import_records(cast.project, people.make_records(3, steps=3))
    people.make_unanimous(cast, 3)
    frozen = release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
    bring(cast, frozen, *(line(at, {"2": 1, "4": 1, "6": 1}) for at in range(3)), model="Bold")
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    reasons = {"steps": {"4": "It repeats itself.", "6": "It gives up."}}
    good.write_bytes(content(line(0, {"2": 1, "4": -1, "6": -1}, explanations=reasons), line(1)))
    bad.write_bytes(content(line(9)))

    page = open_as("admin", "/p/bench/releases/1.0/leaderboard/", "status of 400", viewport=PHONE)
    page.locator("summary", has_text="Upload predictions").click()
    page.get_by_label("Model", exact=True).fill("Sage")
    page.get_by_label("Files").set_input_files([good, bad])
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("Sage: imported records: 2")).to_be_visible()
    expect(page.get_by_role("heading", name="bad.jsonl: 1 error")).to_be_visible()
    eventually(lambda: PredictionSet.objects.get(model="Sage").record_count, 2)
    fits_the_window(page)

    page.goto(page.url.replace("predictions/", "leaderboard/"))
    names = page.locator(".table tbody th a:not(.badge)")
    page.get_by_label("Order").select_option(label="Cohen’s κ")
    expect(page.locator("#picture")).to_have_text("Cohen’s κ")
    page.set_viewport_size(WIDE)
    page.emulate_media(media="print")
    expect(page.locator(".table-frame")).to_have_css("break-inside", "auto")
    expect(page.locator(".tabs li:visible")).to_have_text(["Leaderboard", "As they are"])
    page.emulate_media(media="screen")
    page.locator(".table").get_by_role("link", name="StepAcc", exact=True).click()
    expect(names).to_have_text(["Bold", "Sage"])
    page.locator(".table").get_by_role("link", name="StepAcc", exact=True).click()
    expect(names).to_have_text(["Sage", "Bold"])
    expect(page.get_by_role("columnheader", name="StepAcc").last).to_have_attribute("aria-sort", "ascending")

    names.first.click()
    page.get_by_role("link", name=re.compile(r"^\+1 in the release, −1 by the model: ")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Steps labelled +1 in the release")
    page.get_by_role("link", name="tiny:0:0").click()
    expect(page.get_by_text("Sage differs from the release on 2 of 3 steps.")).to_be_visible()
    expect(page.get_by_text("It gives up.")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-differences", "ready")
    for key, there in (("n", "#m4"), ("n", "#m6"), ("n", "#m4"), ("p", "#m6")):
        page.keyboard.press(key)
        expect(page.locator(there)).to_be_focused()
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Next difference").click()
    expect(page.locator("#m4")).to_be_focused()
    page.locator("#m4").get_by_role("button", name="More for message 4").click()
    page.get_by_role("button", name="Raw").click()
    expect(page.locator("#m4 .source__text").first).to_contain_text(json.dumps("assistant"))
    fits_the_window(page)
    page.goto(page.url.split("models/")[0] + "benchmark/")
    expect(page.get_by_text("Pearson’s r is undefined over 2 models").first).to_be_visible()
    fits_the_window(page)
