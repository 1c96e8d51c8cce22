"""Judges made better, in a real browser: another prompt on a sample, and recalibration up to its reveal."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judge, LabelEvent, Suggestion, SuggestionRun, Trajectory
from annotation.services import assign, suggest
from tests.browser.stored import eventually
from tests.browser.workbench import open_as_ann, press
from tests.fixtures.judges import make_judge
from tests.fixtures.resolved_tasks import make_resolved_tasks
from tests.judge_server import JudgeServer
from tests.people import Cast
from tests.suggesting import suggest as suggests

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_prompt_is_tried_on_a_sample_and_a_judge_recalibrated_up_to_its_reveal(
    cast: Cast, visit: Callable[..., Any], open_as: Callable[..., Page], settings: Any
) -> None:
    rows = make_resolved_tasks(cast, tasks=6, spare=1)
    with JudgeServer() as server:
        settings.JUDGE_URLS = [server.url]
        server.label("sage-2", lambda _key, steps: dict.fromkeys(steps, 1) | {steps[0]: 0})
        judge = make_judge(cast, prompt_version="v1", model="sage-2", base_url=server.url)
        for row in rows:
            # it calls every error neutral
            suggests(judge, row, [1, 0 if row.sample_index else 1, 1])
        page = open_as("admin", f"/p/bench/judges/{judge.pk}/")
        _try_a_prompt(page, server)
    _recalibrate(page, judge, rows[-1], lambda mine: open_as_ann(visit, cast, mine), cast)


def _try_a_prompt(page: Page, server: JudgeServer) -> None:
    page.get_by_role("link", name="Prompt workshop").click()
    page.get_by_label("Trajectories").fill("6")
    page.get_by_role("button", name="Draw").click()
    expect(page.get_by_text("Sage on 6 resolved trajectories, seed")).to_be_visible()
    place = page.url
    page.get_by_label("Prompt", exact=True).select_option("v2")
    page.get_by_role("button", name="Estimate").click()
    expected = page.get_by_role("status").filter(has_text="Estimate for v2")
    expect(expected).to_contain_text("$0.0")
    eventually(lambda: (server.total, SuggestionRun.objects.count()), (0, 0))

    page.get_by_label("Budget").fill("5")
    page.get_by_role("button", name="Try this prompt").click()
    page.wait_for_url("**/runs/*/")
    run = eventually(lambda: SuggestionRun.objects.get(), bool)
    suggest.run_suggestions(run_id=run.pk)  # as the worker does
    expect(page.locator("[data-role=counted]")).to_have_text("6 of 6")
    expect(page.locator("[data-busy]")).to_have_count(0)
    estimated = float(run.estimate["cost"])
    eventually(lambda: SuggestionRun.objects.get().cost, lambda cost: 0 < cost < estimated)
    assert server.total == 6
    expect(page.get_by_role("definition").filter(has_text=run.estimate["cost"][:4]).first).to_be_visible()

    page.goto(place)
    row = page.get_by_role("group", name="Prompts compared").get_by_role("row", name="v2")
    samples = eventually(
        lambda: list(Suggestion.stored.filter(judge=run.judge).values_list("trajectory__sample_index")),
        lambda rows: len(rows) == 6,
    )
    wrong = samples.count((1,))
    expect(row).to_contain_text(f"{100 * (18 - 6 - wrong) / 18:.1f} %")  # every first step, and each error
    expect(row.get_by_role("cell").nth(4)).to_contain_text("$0.0")
    matrix = page.get_by_role("table", name="v2")
    expect(matrix.get_by_role("columnheader", name="Suggested")).to_be_visible()
    expect(matrix.get_by_role("row", name="+1").last.get_by_role("cell")).to_have_text(
        ["0", "6", str(12 - wrong)]
    )
    changed = page.get_by_role("group", name="Labels that differ: v1 and v2")
    expect(changed.get_by_role("rowheader")).to_have_count(6 + wrong)
    changed.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile("#m[24]$"))


def _recalibrate(
    page: Page, judge: Judge, row: Trajectory, opened: Callable[[Any], Page], cast: Cast
) -> None:
    page.goto(page.url.split("/p/")[0] + f"/p/bench/judges/{judge.pk}/")
    page.get_by_role("button", name="Switch on").click()
    card = page.get_by_role("region", name="Recalibration")
    expect(card.get_by_text("Being fitted in the background")).to_be_visible()
    suggest.fit_recalibration(judge_id=judge.pk)  # as the worker does
    page.reload()
    expect(card.get_by_text("on 36 resolved steps of 6 tasks")).to_be_visible()
    accuracy = page.get_by_role("group", name="Compared with human labels").get_by_role("row", name="StepAcc")
    expect(accuracy.get_by_role("cell").nth(0)).to_contain_text("83.3 %")
    expect(accuracy.get_by_role("cell").nth(1)).to_contain_text("100.0 %")

    mine = assign.claim_this(actor=cast.ann, trajectory=row)
    desk = opened(mine)
    press(desk, "j", "1", "s")
    told = desk.locator("#m4 [data-role='suggestions']")
    expect(told.locator(".mark__sign")).to_have_text(["0", "−1"])
    expect(told).to_contain_text("recalibrated")
    eventually(
        lambda: LabelEvent.objects.filter(assignment=mine, kind="reveal").latest("pk").detail["judges"],
        [{"judge": judge.pk, "value": 0, "recalibrated": -1}],
    )
