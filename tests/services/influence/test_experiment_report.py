"""The report of an experiment that deals people on tasks: effects by hand, the accounting, and looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Conflict
from annotation.models import Allocation, InterimAnalysis, Project, Trajectory, User
from annotation.policies import OPERATOR
from annotation.reports.influence.report import Influence
from annotation.services import assign, interim, label, projects, release
from tests.callers import Caller
from tests.commands.calling import run
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, change, import_records, op_id, step_indexes
from tests.suggesting import suggest

TASKS = 6
QUERIES = 26
"""Of the page of an experiment."""


def begin(cast: Cast, how_many: int = TASKS, *, arms: int = 2) -> list[Trajectory]:
    """Tasks of one run of two steps; two judges say −1 of everything, one says +1."""
    rows = import_records(cast.project, how_many)
    for name, value in (("severe", -1), ("strict", -1), ("kind", 1)):
        judge = make_imported_judge(cast.project, name)
        for row in rows:
            suggest(judge, row, value, outcome=value)
    projects.randomise(actor=OPERATOR, project=cast.project, seed=7, arms=arms)
    return rows


def turn(user: User, row: Trajectory, *, follows: bool = True) -> None:
    """Label a trajectory: annotators in the arm "always" look, and follow suggestions on the second step; all
    others say +1."""
    made = assign.claim_this(actor=user, trajectory=Trajectory.objects.get(pk=row.pk))
    first, second = step_indexes(row.pk)
    sees = Allocation.objects.get(task=row.task_id, annotator=user).arm == "always"
    if sees:
        label.reveal(actor=user, assignment=made, everything=True)
    changes = [change(first, 1), change(second, -1 if sees and follows else 1), change(None, 1)]
    label.save_labels(actor=user, assignment=made, op_id=op_id(), changes=changes)
    label.submit(actor=user, assignment=made)


def read(cast: Cast) -> Influence:
    return interim.influence(actor=cast.admin, project=Project.objects.get(pk=cast.project.pk))


def test_trial_measures_what_those_who_saw_do_more_on_the_same_steps(cast: Cast) -> None:
    rows = begin(cast)
    for row in rows:
        turn(cast.ann, row)
        turn(cast.ben, row)

    report = read(cast)

    assert report.trial is not None and (report.unit, report.contrasts) == ("annotator", ())
    primary, *others = report.trial.tested
    # they follow on one of two steps
    assert primary.effect.fit is not None and primary.effect.fit.value == pytest.approx(0.5)
    assert (primary.primary, primary.effect.who, primary.effect.arms, primary.effect.base) == (
        *(True, "majority"),
        *(("always",), ("sealed",)),
    )
    assert (primary.effect.labels, primary.effect.tasks) == (4 * TASKS, TASKS)
    assert (primary.found, str(primary.reason)) == (None, "fewer than 20 tasks")
    by_judge = {other.judge: other.effect.fit.value for other in others if other.effect.fit is not None}
    assert by_judge == pytest.approx({"kind": -0.5, "severe": 0.5, "strict": 0.5})
    # of the agreement of two in different arms there is nothing to compare with
    assert [other.effect.who for other in others] == ["judge"] * 3
    (pair,) = report.trial.pairs
    assert (pair.arms, pair.tasks, pair.pairs) == (("sealed", "always"), TASKS, 2 * TASKS)
    assert pair.agreement.measure.value == 0.5
    shares = {arm.arm: arm.lines[0].agreement.measure.value for arm in report.arms}
    assert shares == {"sealed": 0.0, "always": 0.5}

    assert [(one.name, one.exposed + one.sealed) for one in report.annotators] == [
        ("Ann", TASKS),
        ("Ben", TASKS),
    ]

    # judges that come after the arms are accounted for, and change nothing that is measured
    for name in ("late", "later"):
        judge = make_imported_judge(cast.project, name)
        for row in rows:
            suggest(judge, row, 1)
    again = read(cast).trial
    assert again is not None and set(again.fates[0].judges) == {"kind", "late", "later", "severe", "strict"}
    known = [(one.judge, one.effect.fit and one.effect.fit.value) for one in report.trial.tested]
    assert [(one.judge, one.effect.fit and one.effect.fit.value) for one in again.tested] == known


def test_trial_accounts_for_every_claim_and_for_what_was_on_screen(cast: Cast) -> None:
    rows = begin(cast, 4)
    for row in rows[:2]:
        turn(cast.ann, row)
        turn(cast.ben, row)
    turn(cast.ann, rows[2])
    back = assign.claim_this(actor=cast.ann, trajectory=Trajectory.objects.get(pk=rows[3].pk))
    assign.return_assignment(actor=cast.ann, assignment=back, reason="too long")

    trial = read(cast).trial

    assert trial is not None
    fates = {fate.arm: fate for fate in trial.fates}
    arm_of = {
        row.pk: Allocation.objects.get(task=row.task_id, annotator=cast.ann).arm for row in (rows[2], rows[3])
    }
    for arm, fate in fates.items():
        waiting, lost = (arm == arm_of[row.pk] for row in (rows[2], rows[3]))
        assert (fate.dealt, fate.claimed) == (2 + waiting + lost, 2 + waiting + lost)
        assert (fate.counted, fate.waiting, fate.lost, fate.labels) == (2, waiting, lost, 4)
        seen = 4 if arm == "always" else 0
        assert (fate.before, fate.after) == (seen, 0)
        assert fate.judges == {"kind": seen, "severe": seen, "strict": seen}


def test_trial_notes_each_look_once_for_a_percent_and_says_what_it_spent(cast: Cast, client: Client) -> None:
    client.force_login(cast.admin)
    queries = []
    rows = begin(cast, 4)
    before = read(cast).trial
    assert before is not None and (before.look.number, before.look.level) == (0, None)
    assert str(before.tested[0].reason) == "no two people in different arms have labelled the same steps"
    for number, row in enumerate(rows):
        turn(cast.ann, row)
        turn(cast.ben, row)
        if number in (1, 3):
            first, again = read(cast).trial, read(cast).trial
            assert first is not None and again is not None and first.look == again.look
            with CaptureQueriesContext(connection) as asked:
                page = " ".join(client.get("/p/bench/influence/").content.decode().split())
            queries.append(len(asked))
    assert "Look 2, when 4 of 4 trajectories were settled." in page
    for heading in (
        "Other differences between arms",
        "Counts by arm",
        "Annotators with each other",
    ):
        assert heading in page
    assert queries == [QUERIES, QUERIES], "however much is settled"
    assert list(InterimAnalysis.objects.values_list("percent", "settled", "planned", "looked_by")) == [
        (50, 2, 4, cast.admin.pk),
        (100, 4, 4, cast.admin.pk),
    ]
    assert again is not None and again.look.level is not None
    # two looks, at half and at all of the information: Lan and DeMets' bounds 2.9626 and 1.9686
    assert (again.look.number, again.look.spent) == (2, 0.05)
    assert again.look.level == pytest.approx(0.0490, abs=1e-4)
    # what is imported later takes no look back
    import_records(cast.project, 1, subset="more")
    later = read(cast).trial
    assert later is not None and later.look == again.look


def test_trial_has_the_same_document_in_command_api_and_manifest(cast: Cast) -> None:
    # the two agree on the last task whatever arms they were dealt, so that there is something to freeze
    for row, follows in zip(begin(cast, 3, arms=3), (True, True, False), strict=True):
        turn(cast.ann, row, follows=follows)
        turn(cast.ben, row, follows=follows)

    answer = Caller(cast.admin).get("/projects/bench/influence/").json()

    assert json.loads(run("influence", "bench", "--json").out) == answer
    assert (answer["unit"], answer["contrasts"], answer["look"]["number"]) == ("annotator", [], 1)
    assert len(answer["effects"]) == 8 and answer["effects"][0]["primary"]
    printed = run("influence", "bench").out
    assert "always − sealed (primary), most judges: " in printed
    project = Project.objects.get(pk=cast.project.pk)
    frozen = release.freeze(actor=cast.admin, project=project, version="1.0")
    experiment = json.loads(frozen.manifest)["exposure"]["experiment"]
    assert experiment["unit"] == "annotator" and experiment["effects"] == answer["effects"]
    assert [one["arm"] for one in experiment["accounting"]] == ["sealed", "after_label", "always"]
    assert experiment["look"] == answer["look"] and experiment["each_other"] == answer["each_other"]
    told = json.dumps(experiment)
    assert not any(str(user) in told for user in (cast.ann, cast.ben)), "an arm is nobody's by name"


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_trial_notes_the_look_that_a_freeze_is(cast: Cast, settings: Any, tmp_path: Path) -> None:
    """In transactions of its own, as a worker freezes: on SQLite, nothing is written inside a snapshot."""
    settings.DATA_DIR = tmp_path
    for row in begin(cast, 3):
        turn(cast.ann, row, follows=False)
        turn(cast.ben, row, follows=False)
    project = Project.objects.get(pk=cast.project.pk)

    frozen = release.freeze(actor=cast.admin, project=project, version="1.0")

    assert json.loads(frozen.manifest)["exposure"]["experiment"]["look"]["number"] == 1
    with pytest.raises(Conflict):
        release.freeze(actor=cast.admin, project=project, version="1.0")
    assert InterimAnalysis.objects.count() == 1
