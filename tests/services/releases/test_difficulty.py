"""A band of difficulty picks the decisions of a release, through service, API, command and page."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.core.errors import Conflict, Invalid
from annotation.core.kinds import STEPS
from annotation.models import Freeze, Project, Release
from annotation.policies import OPERATOR
from annotation.reports.judging.difficulty import difficulties
from annotation.reports.shared.release_labels import records
from annotation.services import release
from annotation.services.release import verify, verify_export
from tests import people
from tests.callers import Caller, signed_in
from tests.commands.calling import fails, run
from tests.fixtures.decisions import make_decisions_cast
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.publishing import export, freeze
from tests.suggesting import suggest

SAID: tuple[tuple[list[int | None] | None, ...], ...] = (
    ([1, -1, -1], [1, -1, 0]),  # both pairs right by both judges
    ([1, -1, -1], [0, 0, -1]),  # one of two pairs tied by one
    ([1, None, 1], None),  # one missing, one tied, by the only judge that was asked
    (None, None),
)
"""What two judges say of the options of four decisions; None: they were not asked."""


@shared_rows
def judged() -> Cast:
    """Five decisions of which the first option is right: four are resolved, judges were asked about three."""
    cast = make_decisions_cast(5, options=3)
    for user in (cast.ann, cast.ben):
        for _ in range(4):
            people.label_next(user, cast.project, (1, -1, -1))
    rows = list(cast.project.trajectories.order_by("source_id", "pk"))
    judges = [make_imported_judge(cast.project, name) for name in ("Sage", "Bold")]
    for row, said in zip(rows, SAID, strict=False):
        for judge, values in zip(judges, said, strict=True):
            if values is not None:
                suggest(judge, row, values, outcome=1)
    suggest(judges[0], rows[4], [1, -1, -1], outcome=1)
    return cast


def picked(made: Release) -> list[int]:
    """The tasks of a release, by number."""
    return [int(record["task_key"].split(":")[1]) for record in records(made)]


@pytest.mark.postgres
def test_difficulty_is_the_share_of_right_pairs_over_judges_that_were_asked(
    judged: Cast, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(5 + 2 * 2):
        found = difficulties(judged.project)
    numbers = {row.pk: at for at, row in enumerate(judged.project.trajectories.order_by("source_id", "pk"))}
    assert found.judges == 2
    assert {numbers[pk]: share for pk, share in found.shares.items()} == {0: 1.0, 1: 0.75, 2: 0.0}


@pytest.mark.postgres
def test_band_picks_decisions_and_is_recorded_and_the_release_verifies(judged: Cast, tmp_path: Any) -> None:
    made = freeze(judged.project, difficulty=(0.5, 0.9))
    assert picked(made) == [1]
    assert made.parsed_manifest()["difficulty"] == {
        "from": 0.5,
        "to": 0.9,
        "judges": 2,
        "outside": 2,
        "unknown": 1,
    }
    assert verify(actor=OPERATOR, release=made).problems == ()
    export(made, tmp_path)
    assert verify_export(path=tmp_path).ok
    everything = freeze(judged.project, "2.0")
    assert everything.record_count == 4 and "difficulty" not in everything.parsed_manifest()


@pytest.mark.parametrize("band", [(0.5,), (-0.1, 1), (0.9, 0.1), (0, 1.5), (float("nan"), 1)])
def test_band_that_is_none_is_refused(judged: Cast, band: tuple[float, ...]) -> None:
    with pytest.raises(Invalid) as refused:
        freeze(judged.project, difficulty=band)
    assert refused.value.fields.keys() == {"difficulty"} and not Release.objects.exists()


def test_band_without_a_decision_is_refused_before_anything_is_queued(judged: Cast) -> None:
    with pytest.raises(Invalid, match="in this band"):
        release.start_freeze(actor=judged.admin, project=judged.project, version="1.0", difficulty=(0.1, 0.2))
    assert not Freeze.objects.exists()
    assert "in this band" in fails("freeze_release", "bench", "1.0", "--difficulty", ".1", ".2").out


def test_band_is_for_pairs_of_options(resolved: Cast) -> None:
    with pytest.raises(Conflict, match=f"project of {STEPS.name}"):
        freeze(resolved.project, difficulty=(0, 1))


def test_command_api_and_page_take_a_band(judged: Cast) -> None:
    run("freeze_release", "bench", "1.0", "--difficulty", "0", ".5")
    assert picked(judged.project.releases.get()) == [2]
    said = Caller(judged.admin).post("/projects/bench/releases/", {"version": "2.0", "difficulty": [1, 1]})
    assert said.status_code == 202 and said.json()["difficulty"] == [1, 1]
    job = Freeze.objects.get()
    release.run_freeze(job_id=job.pk)
    assert picked(judged.project.releases.get(version="2.0")) == [0]

    client, page = signed_in(judged.admin), "/p/bench/freeze/"
    shown = client.get(page).content.decode()
    assert "The difficulty of 3 of 4 decisions is known, by 2 judges." in shown
    form = {"version": "3.0", "final": "on", "unresolved": "on", "doubtful": "on"}
    refused = client.post(page, {**form, "difficulty_from": "0.1", "difficulty": "0.2"})
    assert refused.status_code == 400 and "in this band" in refused.content.decode()
    assert client.post(page, {**form, "difficulty": "0.75"}).status_code == 302
    release.run_freeze(job_id=Freeze.objects.get(version="3.0").pk)
    assert picked(judged.project.releases.get(version="3.0")) == [1, 2]
    assert "75.0" in client.get("/p/bench/releases/3.0/").content.decode()


def test_page_of_a_project_of_steps_asks_for_no_band(resolved: Cast) -> None:
    shown = signed_in(resolved.admin).get("/p/bench/freeze/").content.decode()
    assert "difficulty" not in shown and Project.objects.get().kind == STEPS.name
