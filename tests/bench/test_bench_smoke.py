"""The bench's own parts on tiny sizes, so that it still works on the day it is needed. Nothing is timed."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from types import ModuleType
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from annotation.core.trajectories.trajectory import TrajectoryDraft, step_indexes
from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.importers import FORMATS, HEAD_BYTES, ReadContext, sniff
from annotation.models import Assignment, Consensus, Label, Step, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.agreement.report import agreement as report_agreement
from annotation.services import evaluate
from bench import (
    agreement,
    audits,
    filling,
    imports,
    inside,
    intervals,
    labels,
    leaderboard,
    logs,
    prediction_powered,
    questions,
    ranks,
    records,
    releases,
    requests,
    second_person,
)
from bench.__main__ import TOPICS
from bench.client import Client
from bench.installations import Installation, Stock
from bench.report import Limit, Report, number, table
from tests import databases, people
from tests.servers import ROOT


def silence(_: str) -> None:
    """Say nothing."""


class Here(Installation):
    """This process and its database, in the place of others'."""

    def inside(self, work: Callable[..., dict[str, Any]], *arguments: str | Path) -> dict[str, Any]:
        return work(*map(str, arguments))

    def run(self, *arguments: str | Path) -> bytes:
        return b""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stock:
    """A stock of this process's database alone."""
    monkeypatch.setattr(Stock, "installation", lambda self, name: Here(name, tmp_path, ""))
    return Stock("sqlite", tmp_path)


def test_bench_records_are_good_and_of_about_the_published_size_and_steps() -> None:
    made = [json.dumps(record, ensure_ascii=False).encode() for record in records._made(250)]
    read = list(FORMATS["agentprocessbench"].read(io.BytesIO(b"\n".join(made)), ReadContext(filename="made")))
    drafts = [draft for draft in read if isinstance(draft, TrajectoryDraft)]

    assert len(drafts) == 250
    assert 9_000 < mean(map(len, made)) < 17_000
    assert 2 < mean(len(step_indexes(draft.messages)) for draft in drafts) < 4
    every = {(record["query_index"], record["sample_index"]) for record in records.records(700)}
    assert len(every) == 700


@pytest.mark.django_db
def test_bench_project_is_what_the_services_would_have_made() -> None:
    cast = people.make_cast()
    trajectories = people.import_records(cast.project, people.make_records(20, steps=3))

    answer = filling.label(project=cast.project, share=0.5)

    done = Trajectory.objects.filter(pk__in=[trajectory.pk for trajectory in trajectories[:10]])
    assert answer == {"trajectories": 20, "labelled": 10, "labels": 60}
    assert set(done.values_list("free_slots", flat=True)) == {0}
    assert not Trajectory.objects.exclude(pk__in=done).exclude(state=TrajectoryState.LABELLING).exists()
    assert Assignment.objects.filter(state=AssignmentState.SUBMITTED, trajectory__in=done).count() == 20
    for one in done:
        values = [
            list(Label.objects.filter(step=step).order_by("assignment").values_list("value", flat=True))
            for step in Step.objects.filter(trajectory=one)
        ]
        alike = all(first == second for first, second in values)
        assert alike == (one.state == TrajectoryState.UNANIMOUS)
        assert Consensus.objects.filter(trajectory=one).count() == (3 if alike else 0)
    assert report_agreement(viewer=OPERATOR, project=cast.project).overall.steps.n == 30
    assert people.claim(cast.ann, cast.project).trajectory_id == trajectories[10].pk


@pytest.mark.django_db(transaction=True)
def test_bench_requests_that_are_measured_are_answered(live_server: LiveServer) -> None:
    cast = people.make_cast("ninety")
    people.import_records(cast.project, 4)
    filling.label(project=cast.project, share=0.25)
    found = requests.Found()
    sittings = {"ann": requests.ANN_PAGES, "judith": requests.JUDITH_PAGES, "admin": requests.ADMIN_PAGES}

    assert people.PASSWORD == inside.PASSWORD
    for username, pages in sittings.items():
        client = Client(live_server.thread.port)
        client.sign_in(username, people.PASSWORD)
        annotator = requests.Annotator(client, "ninety", 4, found, 0.9)
        if username == "ann":
            annotator.turn(0)
            annotator.turn(requests.WARM_UP)
        annotator.look(pages)
        client.close()

    assert {*requests.FLAT, *requests.ADMIN_PAGES} <= set(found.names(0.9))
    assert found.of("claim next", 4, 0.9).count == 1
    assert found.of("save label", 4, 0.9).count == 3
    assert Assignment.objects.filter(annotator=cast.ann, state=AssignmentState.SUBMITTED).count() == 3


@pytest.mark.django_db
@pytest.mark.usefixtures("own_uploads")
@pytest.mark.parametrize(
    ("topic", "smaller", "limits"),
    [
        (labels, {"QUICK_SIZES": (10,)}, [3.0, 1.3, 3.0, 1.3]),
        (releases, {"QUICK_SIZES": (5,)}, [1_000, 1.3, 1.3] * 5 + [1.3, 1.3]),
        (agreement, {}, [100, 3_000, 3_000]),
        (leaderboard, {}, [2, 300, 3_000]),
        (questions, {}, [25, 10]),
        (intervals, {"QUICK_STUDIES": 2, "QUICK_LARGE": 800}, [0.93, 0.97] * 4 + [1]),
        (ranks, {"QUICK_BOARDS": 1, "TASKS": ((1, 20),)}, [0.06]),
        (
            prediction_powered,
            {"QUICK_DRAWS": 3, "TASKS": (50,), "NOISY": 20, "SOLVED_TWICE": 1},
            [0.93] * 5 + [1.01, 0.001],
        ),
        (audits, {"QUICK_AUDITS": 1, "DRAWS": (50,), "MOST_DRAWS": 400}, [0.94, 0.95] + [0, 0.6] * 2),
        (second_person, {"ERRORS": (0.056,), "HARDER": (1,)}, [1.7, 0.5] * 4),
    ],
    ids=lambda value: value.__name__.removeprefix("bench.") if isinstance(value, ModuleType) else "",
)
def test_bench_topic_holds_what_it_finds_to_its_promises(
    here: Stock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    topic: ModuleType,
    smaller: dict[str, Any],
    limits: list[float],
) -> None:
    for name, value in smaller.items():
        monkeypatch.setattr(topic, name, value)
    # tests/services/evaluation/test_fitting.py
    monkeypatch.setattr(evaluate, "fit_release", lambda release_id: None)
    report = Report(tmp_path / "figures.jsonl")

    topic.run(here, tmp_path, True, report, silence)

    assert [limit.limit for limit in report.limits] == limits
    # a single board of equal models tells none apart, as a rule, and a census leaves nothing wrong
    assert topic is ranks or all(limit.found > 0 or limit.limit == 0 for limit in report.limits)


def test_bench_logs_are_read_as_what_they_are(tmp_path: Path) -> None:
    for name, write in logs.WRITERS.items():
        write(tmp_path / name, 3)
        with (tmp_path / name).open("rb") as stream:
            importer = sniff(stream.read(HEAD_BYTES))
            stream.seek(0)
            read = list(importer.read(stream, ReadContext(filename=name)))
        assert importer.name == {"own.jsonl": "agentprocessbench", "otlp.json": "opentelemetry"}.get(
            name, "inspect"
        )
        assert [type(one) for one in read] == [TrajectoryDraft] * 3, name


@pytest.mark.slow
def test_imports_are_measured_in_processes_of_their_own(tmp_path: Path, django_db_setup: None) -> None:
    folder = tmp_path / "first"
    folder.mkdir()
    databases.copy_migrated(folder / "db.sqlite3")
    stock = Stock("sqlite", tmp_path, first=Installation("first", folder, ""))
    paths = imports.written(tmp_path, "own.jsonl", [3], records.write)
    rates: list[imports.Rate] = []

    found = imports.measure(
        stock, paths, 1, silence, lambda: rates.append(imports.bare_rate(stock, paths[3]))
    )

    assert [one.trajectories for one in found] == [3]
    assert all(one.rate > 0 and one.peak >= one.idle > 0 for one in found)
    assert len(rates) == 1 and rates[0].rate > 0
    stock.clear()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["first"]


def test_report_says_what_holds_and_keeps_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report(tmp_path / "figures.jsonl")

    report.limit(Limit("memory", 1.17, 1.3))
    report.limit(Limit("rate", 900, 1_000, at_least=True))
    table("Title", ("", "one"), [("first", "1"), ("second", number(1234.5))])

    said = capsys.readouterr().out
    assert "memory: 1.17 (≤ 1.30), holds" in said
    assert "rate: 900 (≥ 1,000), does not hold" in said
    assert "second  1,234" in said
    lines = [json.loads(line) for line in report.path.read_text().splitlines()]
    assert [line["holds"] for line in lines] == [True, False]
    assert not report.verdicts()
    assert re.search(r"memory +1\.17 +≤ 1\.30 +0\.90 +holds", capsys.readouterr().out)


def test_every_topic_is_described() -> None:
    described = (ROOT / "docs" / "performance.md").read_text()
    assert [topic for topic in TOPICS if f"`{topic}`" not in described] == []
