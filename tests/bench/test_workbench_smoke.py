"""The workbench bench on three trajectories: it labels, counts and compares. Nothing is timed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from annotation.services import projects
from bench.report import Report
from bench.workbench import latency, rows, topic
from bench.workbench.browser import open_workbench
from bench.workbench.replay import MODES, Tally, Target, compare, replay
from tests import people
from tests.browser.stored import eventually

RUN = (-1, -1, -1, -1)
MIXED = (1, 1, 1, -1, 0)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_replay_ends_with_exactly_the_labels_in_few_presses(
    browser: Browser, live_server: LiveServer
) -> None:
    mode = replace(MODES[2], slug="demo-carry")
    cast = people.make_cast(mode.slug)
    projects.update_project(actor=cast.admin, project=cast.project, values={"carry_forward": True})
    targets = []
    for number, values in enumerate([RUN, MIXED, (1,)]):
        labels = {str(2 + 2 * step): value for step, value in enumerate(values)}
        record = people.make_record(
            number, steps=len(values), step_labels=labels, final_label=values[-1] or 1
        )
        people.import_records(cast.project, [record])
        targets.append(Target.of(record))
    sit = open_workbench(browser, live_server.url)
    sit.sign_in("ann", people.PASSWORD)

    tally = replay(sit, mode, targets)

    eventually(lambda: compare(rows.stored(mode.slug), targets, tally), (10, 3, []))
    sit.close()
    stored = eventually(lambda: rows.stored(mode.slug), bool)
    assert tally.problems == []
    assert {2, 3} <= tally.confirmed[targets[0].record_id]
    assert tally.floor <= tally.presses.total() < tally.steps
    assert (tally.floor, tally.outcome) == (2 + 4 + 1, 3)
    stored[targets[0].record_id]["labels"]["4"] = [1, "explicit"]
    assert len(compare(stored, targets, tally)[2]) == 1


def test_long_trajectory_is_as_long_as_it_is_said_to_be() -> None:
    record = latency.record()

    roles = [message["role"] for message in record["messages"]]
    assert (len(roles), roles.count("assistant")) == (latency.MESSAGES, latency.STEPS)
    small = [message["role"] for message in latency.small_record()["messages"]]
    assert small.count("assistant") == latency.SMALL_STEPS


def test_figures_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(tmp_path / "figures.jsonl")
    sent = {"Document": 9_000.0, "Script": 50_000.0, "Stylesheet": 20_000.0}
    found = latency.Found(cold=[300.0], warm=[200.0], small=[240.0], sent=sent, requests=8)
    found.keys["1"].append({"all": 5.0, "handler": 4.0, "layout": 1.0, "waited": 0.0})

    topic.tell_latency(found, report)

    said = capsys.readouterr().out
    assert "key event to layout, p95 (ms): 5.00 (≤ 8.00), holds" in said
    assert "over the wire in all, 6 steps, without a cache (bytes): 79,000 (≤ 90,000), holds" in said
    assert [json.loads(line)["topic"] for line in report.path.read_text().splitlines()].count("limit") == 5
    assert Tally(steps=2).per_step == 0
