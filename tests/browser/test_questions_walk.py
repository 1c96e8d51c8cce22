"""Questions from a release to a board: derived, checked by two people, decided, frozen, and answered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from string import ascii_uppercase

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Freeze, ImportFile, OutcomeLabel, PredictionSet, Project, Release, Trajectory
from annotation.services import derive, release
from tests import people
from tests.browser.stored import eventually
from tests.browser.workbench import KEYS, PHONE, press, ready
from tests.chromium import fits_the_window
from tests.people import Cast
from tests.services.publishing import freeze

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
WORK = "**/p/questions/work/**"


@pytest.fixture
def questions(cast: Cast, transactional_db: None) -> Project:
    """A project of decisions that cleo and oscar label and judith decides in, beside a release of one clean
    run of four steps."""
    people.import_records(cast.project, [people.make_record(steps=4)])
    people.make_unanimous(cast)
    freeze(cast.project)
    project = people.make_project("questions", kind="decisions")
    people.make_member(project, cast.admin, "admin")
    people.make_member(project, cast.judith, "adjudicator")
    for user in (cast.cleo, cast.oscar):
        people.make_member(project, user, "annotator")
    return project


def test_question_is_derived_checked_decided_frozen_and_answered(
    cast: Cast, questions: Project, open_as: Callable, tmp_path: Path
) -> None:
    admin = open_as("admin", "/p/bench/releases/1.0/derive/")
    admin.get_by_label("Project of decisions").select_option("questions")
    admin.get_by_label("Set", exact=True).fill("next")
    admin.get_by_label("Next step, a question").check()
    admin.get_by_role("button", name="Preview").click()
    expect(admin.get_by_role("heading", name="1 decision")).to_be_visible()
    admin.get_by_role("button", name="Derive").last.click()
    job = eventually(lambda: ImportFile.objects.get(project=questions), bool)
    derive.run_import(source_id=job.pk)  # as the worker does
    item = eventually(lambda: Trajectory.objects.get(project=questions), bool)
    key, *others = options_of(item)

    # cleo labels the key alone as right, oscar a distractor too
    label_options(open_as("cleo", "/p/questions/work/"), item, {key})
    label_options(open_as("oscar", "/p/questions/work/", **PHONE), item, {key, others[0]})
    eventually(lambda: OutcomeLabel.objects.filter(assignment__project=questions).count(), 2)

    judith = open_as("judith", "/p/questions/adjudication/")
    judith.get_by_role("button", name="Claim next case").click()
    expect(judith.locator("html")).to_have_attribute("data-case", "ready")
    expect(judith.locator(f"#m{others[0]}")).to_be_focused()
    judith.keyboard.press(KEYS[-1])
    expect(judith.locator(f"#m{others[0]} [data-said]")).to_have_text("decided")
    judith.get_by_role("button", name="Finish the case").click()
    expect(judith.get_by_text("Its labels are now the consensus")).to_be_visible()

    admin.goto(re.sub(r"/p/.*", "/p/questions/freeze/", admin.url))
    admin.get_by_label("Version").fill("1.0")
    admin.get_by_label("Nobody will be able to change").check()
    admin.get_by_label("Subsets whose agreement is below").check()
    admin.get_by_role("button", name="Freeze").click()
    frozen = eventually(lambda: Freeze.objects.get(project=questions), bool)
    release.run_freeze(job_id=frozen.pk)
    expect(admin.get_by_role("heading", level=1)).to_have_text("Release 1.0")
    made = eventually(lambda: Release.objects.get(project=questions), bool)
    assert release.verify(actor=cast.admin, release=made).problems == ()

    # both models name the key: one as APTBench reads it, one as people do
    letter = ascii_uppercase[sorted([key, *others]).index(key)]
    admin.goto(f"{admin.url}leaderboard/")
    for model, output in (("Keen", f"{letter}) because"), ("Terse", f"**{letter}**")):
        answers = tmp_path / f"{model}.jsonl"
        answers.write_text(json.dumps({"record_id": item.record_id, "output": output}))
        upload(admin, model, answers)
    eventually(lambda: PredictionSet.objects.filter(release=made).count(), 2)
    expect(board_row(admin, "Keen")).to_have_text(re.compile(r"100\.0\D*100\.0"))
    expect(board_row(admin, "Terse")).to_have_text(re.compile(r"100\.0\D*\b0\.0"))
    fits_the_window(admin)
    admin.get_by_role("link", name="Terse").first.click()
    admin.get_by_role("link", name="All answers").click()
    answer = admin.locator("tbody tr")
    expect(answer).to_contain_text("published: not right")
    expect(answer).to_contain_text(f"**{letter}**")
    expect(answer).to_contain_text(f"{letter}) ")
    fits_the_window(admin)


def board_row(page: Page, model: str) -> Locator:
    """A model's row: its accuracy read strictly, and as published."""
    return page.locator("tbody tr", has=page.get_by_role("rowheader").get_by_role("link", name=model))


def upload(page: Page, model: str, file: Path) -> None:
    """Upload what a model answers, and wait for what the page says of it."""
    page.locator("summary", has_text="Upload predictions").click()
    page.get_by_label("Model", exact=True).fill(model)
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text(f"{model}: imported records: 1")).to_be_visible()
    page.goto(page.url.replace("predictions/", "leaderboard/"))


def options_of(item: Trajectory) -> list[int]:
    """The message indexes of the options, the key first."""
    labels = eventually(lambda: item.content.labels_of_source(), bool)
    return [label.message for label in sorted(labels, key=lambda label: -label.value)]


def label_options(page: Page, item: Trajectory, right: set[int]) -> None:
    """Label each option by keys, in the order in which they stand, and submit."""
    page.get_by_role("button", name="Label the next one").first.click()
    ready(page)
    fits_the_window(page)
    order = [int(id_[1:]) for id_ in page.locator(".step").evaluate_all("steps => steps.map(one => one.id)")]
    assert set(order) == set(options_of(item))
    press(page, *(KEYS[1 if index in right else -1] for index in order))
    page.keyboard.press("Enter")
    page.wait_for_url(WORK)
