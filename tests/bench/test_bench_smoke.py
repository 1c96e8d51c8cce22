"""The bench's own parts on tiny sizes, so that it still works on the day it is needed. Nothing is timed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from annotation.core.trajectories.trajectory import TrajectoryDraft, step_indexes
from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.importers import FORMATS, ReadContext
from annotation.models import Assignment, Consensus, Label, Step, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.agreement.report import agreement
from annotation.services import evaluate
from bench import filling, imports, inside, labels, leaderboard, records, requests
from bench.client import Client
from bench.inside import PASSWORD
from bench.installations import Installation, Stock
from bench.report import Limit, Report, number, table
from tests import databases, people


def silence(_: str) -> None:
    """Say nothing."""


def test_bench_records_are_good_and_of_about_the_published_size_and_steps() -> None:
    made = [json.dumps(record, ensure_ascii=False).encode() for record in records._made(250)]
    read = list(FORMATS["agentprocessbench"].read(io.BytesIO(b"\n".join(made)), ReadContext(filename="made")))
    drafts = [draft for draft in read if isinstance(draft, TrajectoryDraft)]

    assert len(drafts) == 250
    assert 9_000 < mean(map(len, made)) < 17_000
    assert 2 < mean(len(step_indexes(draft.messages)) for draft in drafts) < 4


def test_bench_records_are_never_the_same_however_many_there_are() -> None:
    found = {(record["query_index"], record["sample_index"]) for record in records.records(700)}

    assert len(found) == 700


@pytest.mark.django_db
def test_bench_project_is_what_the_services_would_have_made() -> None:
    cast = people.make_cast()
    trajectories = people.import_records(cast.project, people.make_records(20, steps=3))

    answer = filling.label(project=cast.project, share=0.5)

    done = Trajectory.objects.filter(pk__in=[one.pk for one in trajectories[:10]])
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
    assert agreement(viewer=OPERATOR, project=cast.project).overall.steps.n == 30
    assert people.claim(cast.ann, cast.project).trajectory_id == trajectories[10].pk


@pytest.mark.django_db(transaction=True)
def test_bench_requests_that_are_measured_are_answered(live_server: LiveServer) -> None:
    cast = people.make_cast("ninety")
    people.import_records(cast.project, 4)
    filling.label(project=cast.project, share=0.25)
    found = requests.Found()
    sittings = {"ann": requests.ANN_PAGES, "judith": requests.JUDITH_PAGES, "admin": requests.ADMIN_PAGES}

    for username, pages in sittings.items():
        client = Client(live_server.thread.port)
        client.sign_in(username, people.PASSWORD)
        annotator = requests.Annotator(client, "ninety", 4, found)
        if username == "ann":
            annotator.turn(0)
            annotator.turn(requests.WARM_UP)
        annotator.look(pages)
        client.close()

    assert {*requests.FLAT, *requests.ADMIN_PAGES} <= set(found.names(0.9))
    assert found.of("claim next", 4, 0.9).count == 1
    assert found.of("save label", 4, 0.9).count == 3
    assert Assignment.objects.filter(annotator=cast.ann, state=AssignmentState.SUBMITTED).count() == 3


class Here(Installation):
    """This process and its database, in the place of others'."""

    def inside(self, *arguments: str | Path) -> dict[str, Any]:
        works = {"start": inside.start, "import": inside.import_file, "labels": inside.import_labels}
        return works[str(arguments[0])](*arguments[1:])  # type: ignore[operator]


@pytest.mark.django_db
@pytest.mark.usefixtures("own_uploads")
def test_bench_labels_are_measured_against_the_import_of_their_trajectories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stock, "installation", lambda self, name: Here(name, tmp_path, ""))
    monkeypatch.setattr(labels, "QUICK_SIZES", (10,))
    report = Report(tmp_path / "figures.jsonl")

    labels.run(Stock("sqlite", tmp_path), tmp_path, True, report, silence)

    assert [limit.limit for limit in report.limits] == [3.0, 1.3, 3.0, 1.3]
    assert all(limit.found > 0 for limit in report.limits)
    assert Trajectory.objects.filter(state=TrajectoryState.DISPUTED).count() == 3
    assert Trajectory.objects.filter(state=TrajectoryState.UNANIMOUS).count() == 7


def test_bench_people_have_the_password_of_the_tests() -> None:
    assert people.PASSWORD == PASSWORD


@pytest.mark.slow
def test_imports_are_measured_in_processes_of_their_own(tmp_path: Path, django_db_setup: None) -> None:
    folder = tmp_path / "first"
    folder.mkdir()
    databases.copy_migrated(folder / "db.sqlite3")
    stock = Stock("sqlite", tmp_path, first=Installation("first", folder, ""))

    found, references, installations = imports.measure(stock, [3, 6], tmp_path, 1, silence)

    assert [one.trajectories for one in found] == [3, 6]
    assert all(one.rate > 0 and one.peak >= one.idle > 0 for one in found)
    assert set(references) == {"json.loads", "bare loop"}
    assert set(installations) == {3, 6}


def test_bench_loop_writes_what_it_reads(tmp_path: Path) -> None:
    first = Installation("first", tmp_path, f"sqlite:///{tmp_path / 'db.sqlite3'}")
    (tmp_path / "db.sqlite3").touch()
    path = tmp_path / "some.jsonl"
    records.write(path, 3)

    assert imports.bare_rate(Stock("sqlite", tmp_path, first=first), path).rate > 0


def test_report_says_what_holds_and_keeps_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report(tmp_path / "figures.jsonl")

    report.limit(Limit("memory", 1.2, 1.3))
    report.limit(Limit("rate", 900, 1_000, at_least=True))
    table("Title", ("", "one"), [("first", "1"), ("second", number(1234.5))])

    said = capsys.readouterr().out
    assert "ok   memory: 1.20 (≤ 1.30)" in said
    assert "MISS rate: 900 (≥ 1,000)" in said
    assert "second  1,234" in said
    lines = [json.loads(line) for line in report.path.read_text().splitlines()]
    assert [line["holds"] for line in lines] == [True, False]


@pytest.mark.django_db
def test_bench_leaderboard_measures_a_release_with_all_its_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        evaluate, "fit_release", lambda release_id: None
    )  # tests/services/evaluation/test_fitting.py
    release = leaderboard.fill(20)
    leaderboard.predict(release, 2)
    found = leaderboard.measure(release, repeat=2)

    assert (found["records"], found["tasks"], found["models"]) == (20, 4, 2)
    assert 5 < found["steps"] / 20 < 20
    assert all(found[f"{name}, ms"]["p50"] > 0 for name in ("figures", "page", "figures from nothing"))
