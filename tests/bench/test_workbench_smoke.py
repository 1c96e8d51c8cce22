"""The workbench bench on five trajectories: it labels, watches, counts and compares. Nothing is timed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from annotation.services import projects
from bench.report import Report
from bench.workbench import latency, rows, targets, topic
from bench.workbench.browser import Workbench, open_workbench
from bench.workbench.replay import MODES, Tally, compare, replay
from bench.workbench.targets import Target
from bench.workbench.vigilance import RULES, WINDOWS, watch, wrongly_confirmed
from tests import people
from tests.browser.stored import eventually
from tests.people import Cast, import_records, make_cast, make_record

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RUN = (-1, -1, -1, -1)
MIXED = (1, 1, 1, -1, 0)


def project(slug: str, values: list[tuple[int, ...]], carry: bool) -> tuple[Cast, list[Target]]:
    """A project with a record for each of these judgements."""
    cast = make_cast(slug)
    if carry:
        projects.update_project(actor=cast.admin, project=cast.project, values={"carry_forward": True})
    records = [make_record(number, steps=len(one)) for number, one in enumerate(values)]
    import_records(cast.project, records)
    found = [
        Target(targets.identity(record), tuple(range(2, 2 + 2 * len(one), 2)), one, one[-1] or 1)
        for record, one in zip(records, values, strict=True)
    ]
    return cast, found


@pytest.fixture
def sit(browser: Browser, live_server: LiveServer) -> Iterator[Workbench]:
    """Ann at a wide window."""
    person = open_workbench(browser, live_server.url)
    yield person
    person.close()


def test_replay_ends_with_exactly_the_labels_in_few_presses(sit: Workbench) -> None:
    mode = replace(MODES[2], slug="demo-carry")
    _, wanted = project(mode.slug, [RUN, MIXED, (1,)], carry=True)
    sit.sign_in("ann", people.PASSWORD)

    tally = replay(sit, mode, wanted)

    eventually(lambda: compare(rows.stored(mode.slug), wanted, tally), (10, 3, []))
    stored = eventually(lambda: rows.stored(mode.slug), bool)
    assert tally.problems == []
    assert {2, 3} <= tally.confirmed[wanted[0].record_id]
    assert tally.floor <= tally.presses.total() < tally.steps
    assert (tally.floor, tally.outcome) == (2 + 4 + 1, 3)
    stored[wanted[0].record_id]["labels"]["4"] = [1, "explicit"]
    assert len(compare(stored, wanted, tally)[2]) == 1


def test_replay_without_assistance_takes_one_press_for_every_step(sit: Workbench) -> None:
    mode = replace(MODES[0], slug="demo-plain")
    _, wanted = project(mode.slug, [RUN, (0, 1)], carry=False)
    sit.sign_in("ann", people.PASSWORD)

    tally = replay(sit, mode, wanted)

    eventually(lambda: compare(rows.stored(mode.slug), wanted, tally), (6, 2, []))
    assert tally.per_step == 1.0
    assert tally.submit == 2


def test_replay_sees_and_corrects_a_wrong_proposal_before_it_is_confirmed(
    browser: Browser, live_server: LiveServer
) -> None:
    window = replace(WINDOWS[1], slug="demo-watched")
    _, wanted = project(window.slug, [(1, 1, -1, -1, 1), (1, 1)], carry=True)
    wrong = {wanted[0].record_id: frozenset({2, 4}), wanted[1].record_id: frozenset[int]()}
    person = open_workbench(browser, live_server.url, window.size)
    person.sign_in("ann", people.PASSWORD)

    found = watch(person, window, wanted, wrong)

    person.close()
    stored = eventually(lambda: rows.stored(window.slug), bool)
    assert found.seeded == found.seen == found.corrected == {(wanted[0].record_id, at) for at in (2, 4)}
    assert found.right_confirmed >= 1
    assert wrongly_confirmed(stored, wanted) == []
    assert compare(stored, wanted, found.tally)[2] == []
    stored[wanted[1].record_id]["events"].append([4, -1, "propagated", "save"])
    assert wrongly_confirmed(stored, wanted) == [f"{wanted[1].record_id}, message 4: -1 was confirmed"]
    assert RULES.carry_forward


def test_replay_of_the_long_trajectory_is_as_long_as_it_is_said_to_be() -> None:
    record = latency.record()

    roles = [message["role"] for message in record["messages"]]
    assert (len(roles), roles.count("assistant")) == (latency.MESSAGES, latency.STEPS)


def test_figures_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(tmp_path / "figures.jsonl")
    found = latency.Found(cold=[300.0], warm=[200.0], sent={"Script": 60_000.0, "Stylesheet": 20_000.0})
    found.keys["1"].append({"all": 5.0, "handler": 4.0, "layout": 1.0, "waited": 0.0})

    topic.tell_latency(found, report)

    said = capsys.readouterr().out
    assert "ok   key event to layout, p95 (ms): 5.00 (≤ 8.00)" in said
    assert "ok   scripts and styles over the wire (bytes): 80,000 (≤ 90,000)" in said
    assert [json.loads(line)["topic"] for line in report.path.read_text().splitlines()].count("limit") == 4
    assert Tally(steps=2).per_step == 0
