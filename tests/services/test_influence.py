"""The influence report on a small project in which we know who saw what, and what they did then."""

from __future__ import annotations

import pytest

from annotation.core.errors import Denied
from annotation.core.experiment import arm_of
from annotation.models import Assignment, Project, Trajectory, User
from annotation.policies import OPERATOR
from annotation.reports.influence import ArmFigures, influence
from annotation.services import assign, label, projects
from tests.commands.calling import run
from tests.fixtures.judges import make_imported_judge
from tests.people import Caller, Cast, change, import_records, op_id, step_indexes
from tests.suggesting import suggest

pytestmark = pytest.mark.django_db
SEED = 7


def fill(cast: Cast, *, seed: int | None = SEED) -> dict[str, list[Trajectory]]:
    """One trajectory (of two steps) of each of ten tasks, by arm; two judges say −1 of all, one says +1."""
    rows = import_records(cast.project, 10)
    for name, value in (("severe", -1), ("strict", -1), ("kind", 1)):
        judge = make_imported_judge(cast.project, name)
        for row in rows:
            suggest(judge, row, value, outcome=value)
    if seed is not None:
        projects.randomise(actor=OPERATOR, project=cast.project, seed=seed)
    arms: dict[str, list[Trajectory]] = {"sealed": [], "after_label": [], "always": []}
    for row in rows:
        arms[arm_of(SEED, "tiny", row.task.key).value].append(row)
    assert all(arms.values())
    return arms


def judge_it(
    user: User,
    trajectory: Trajectory,
    values: tuple[int, int],
    *,
    then: tuple[int, int] | None = None,
    look_first: bool = False,
) -> None:
    """Label both steps and the outcome (+1); look at the suggestions before it or, with `then`, after it, and
    change the labels to `then`; submit."""
    assignment = assign.claim_this(actor=user, trajectory=Trajectory.objects.get(pk=trajectory.pk))
    if look_first:
        label.reveal(actor=user, assignment=assignment, everything=True)
    _save(assignment, values)
    if then is not None:
        label.reveal(actor=user, assignment=assignment, everything=True)
        _save(assignment, then, version=1)
    label.submit(actor=user, assignment=assignment)


def _save(assignment: Assignment, values: tuple[int, int], version: int = 0) -> None:
    indexes = step_indexes(assignment.trajectory_id)
    changes = [change(index, value, version=version) for index, value in zip(indexes, values, strict=True)]
    answer = label.save_labels(
        actor=assignment.annotator,
        assignment=assignment,
        op_id=op_id(),
        changes=[*changes, *([change(None, 1)] if version == 0 else [])],
    )
    assert all(result["status"] == "saved" for result in answer["results"]), answer


def value(arm: ArmFigures, who: str, basis: str, judge: str = "", name: str = "agreement") -> float | None:
    found = [line for line in arm.lines if (line.who, line.basis, line.judge) == (who, basis, judge)]
    assert len(found) == 1
    measured: float | None = getattr(found[0], name).measure.value
    return measured


def label_all_of_it(cast: Cast, arms: dict[str, list[Trajectory]]) -> None:
    """sealed: they differ on one of two steps. after_label: the same, then ann follows the judges on it.
    always: both say −1 throughout."""
    for row in arms["sealed"]:
        judge_it(cast.ann, row, (1, 1))
        judge_it(cast.ben, row, (1, -1))
    for row in arms["after_label"]:
        judge_it(cast.ann, row, (1, 1), then=(1, -1))
        judge_it(cast.ben, row, (1, -1), then=(1, -1))
    for row in arms["always"]:
        for user in (cast.ann, cast.ben):
            judge_it(user, row, (-1, -1), look_first=True)


def test_each_arm_has_its_own_figures_blind_and_final(cast: Cast) -> None:
    arms = fill(cast)
    label_all_of_it(cast, arms)

    report = influence(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk))

    assert (report.randomised, report.seed, report.reason) == (True, SEED, "")
    sealed, after, always = report.arms
    assert [arm.arm for arm in report.arms] == ["sealed", "after_label", "always"]
    for arm in report.arms:
        n = len(arms[arm.arm])
        assert (arm.allocated, arm.tasks, arm.trajectories, arm.steps, arm.pairs) == (n, n, n, 2 * n, 2 * n)
    assert value(sealed, "people", "final") == 0.5
    assert value(after, "people", "blind") == 0.5 and value(after, "people", "final") == 1
    assert value(always, "people", "final") == 1
    # of the four labels of a trajectory: one −1 in the sealed arm, two after a look, four
    for arm, share in ((sealed, 1 / 4), (after, 1 / 2), (always, 1)):
        assert value(arm, "judge", "final", "severe") == share
        assert value(arm, "judge", "final", "kind") == 1 - share
        assert value(arm, "judges", "final") == pytest.approx((2 * share + 1 - share) / 3)
    assert value(after, "judge", "blind", "severe") == 1 / 4
    # nobody but one value: no κ, and in words
    line = next(line for line in always.lines if line.who == "people")
    assert (line.kappa.measure.value, str(line.kappa.measure.reason)) == (
        None,
        "both annotators used one label only",
    )


def test_differences_stand_against_the_sealed_arm_and_say_what_is_too_few(cast: Cast) -> None:
    label_all_of_it(cast, fill(cast))

    report = influence(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk))

    found = {(one.arm, one.who, one.judge): one.agreement for one in report.contrasts}
    assert len(found) == 2 * (1 + 1 + 3)
    assert found["always", "people", ""].measure.value == 0.5
    assert found["after_label", "judge", "severe"].measure.value == pytest.approx(1 / 4)
    assert found["after_label", "judge", "kind"].measure.value == pytest.approx(-1 / 4)
    for one in found.values():
        assert (one.mde, one.se, str(one.mde_reason)) == (None, None, "fewer than 20 tasks")


def test_changes_after_a_look_go_towards_away_or_neither(cast: Cast) -> None:
    arms = fill(cast)
    label_all_of_it(cast, arms)
    n = len(arms["after_label"])

    report = influence(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk))

    moves = {(one.unit, one.judge): one.changes for one in report.change_rates}
    majority = moves["step", ""]
    # four labels a trajectory; ann gave up her second; three differed from the majority (−1)
    assert majority.labels == 4 * n
    assert (majority.changed.value, majority.towards.value, majority.away.value) == (0.25, 0.25, 0)
    assert majority.followed.value == pytest.approx(1 / 3) and majority.followed.n == 3 * n
    assert moves["step", "strict"].towards.value == 0.25
    assert (moves["step", "kind"].towards.value, moves["step", "kind"].away.value) == (0, 0.25)
    assert (moves["outcome", ""].labels, moves["outcome", ""].changed.value) == (2 * n, 0)


def test_without_an_experiment_it_is_an_observation_and_says_so(cast: Cast) -> None:
    arms = fill(cast, seed=None)
    rows = [row for its in arms.values() for row in its]
    for row in rows[:3]:
        judge_it(cast.ann, row, (1, 1), then=(1, -1))
        judge_it(cast.ben, row, (1, -1))

    report = influence(viewer=OPERATOR, project=cast.project)

    assert not report.randomised and report.contrasts == ()
    assert str(report.reason) == "the tasks were not randomised, so there are no arms to compare"
    (arm,) = report.arms
    assert (arm.arm, arm.allocated, arm.tasks, arm.pairs) == ("", 10, 3, 6)
    assert (value(arm, "people", "blind"), value(arm, "people", "final")) == (0.5, 1)
    assert report.change_rates[0].changes.labels == 6


def test_trajectories_that_are_not_all_in_count_nowhere(cast: Cast) -> None:
    arms = fill(cast)
    judge_it(cast.ann, arms["after_label"][0], (1, 1), then=(-1, -1))

    report = influence(viewer=OPERATOR, project=Project.objects.get(pk=cast.project.pk))

    assert [arm.steps for arm in report.arms] == [0, 0, 0]
    assert all(one.changes.labels == 0 for one in report.change_rates)
    assert all(one.agreement.measure.value is None for one in report.contrasts)


def test_only_admins_see_it(cast: Cast) -> None:
    for user in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            influence(viewer=user, project=cast.project)


def test_command_and_api_give_the_same_document(cast: Cast) -> None:
    label_all_of_it(cast, fill(cast))

    said = run("influence", "bench", "--json")

    assert Caller(cast.admin).get("/projects/bench/influence/").json() == said.document
    document = said.document
    assert (document["randomised"], document["seed"], document["policy"]) == (True, SEED, None)
    contrast = document["contrasts"][0]
    assert (contrast["arm"], contrast["minus"], contrast["who"]) == ("always", "sealed", "people")
    assert contrast["percent_agreement"]["minimum_detectable_effect"] is None
    assert "fewer than 20 tasks" in contrast["percent_agreement"]["minimum_detectable_effect_reason"]
    assert f"randomised, seed {SEED}; 10 tasks" in said.err
    plain = run("influence", "bench").out
    assert "always − sealed: annotators" in plain and "could have shown –  (fewer than 20 tasks)" in plain


def test_an_observation_is_said_on_the_terminal_too(cast: Cast) -> None:
    fill(cast, seed=None)

    said = run("influence", "bench")

    assert "observed, not randomised" in said.err
    assert "there are no arms to compare" in said.out
