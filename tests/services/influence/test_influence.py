"""The influence report on a small project in which we know who saw what, and what they did then."""

from __future__ import annotations

import pytest

from annotation.models import Project
from annotation.policies import OPERATOR
from annotation.reports.influence import annotator_effects
from annotation.reports.influence.report import ArmFigures, influence
from tests.callers import Caller
from tests.commands.calling import run
from tests.people import Cast
from tests.services.influencing import SEED, fill, judge_it, label_all_of_it


def value(arm: ArmFigures, who: str, basis: str, judge: str = "", name: str = "agreement") -> float | None:
    found = [line for line in arm.lines if (line.who, line.basis, line.judge) == (who, basis, judge)]
    assert len(found) == 1
    measured: float | None = getattr(found[0], name).measure.value
    return measured


@pytest.mark.postgres
def test_arms_have_their_own_figures_blind_and_final(cast: Cast) -> None:
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


def test_arms_differ_from_the_sealed_one_and_say_what_is_too_few(cast: Cast) -> None:
    label_all_of_it(cast, fill(cast))

    report = influence(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk))

    found = {
        (contrast.arm, contrast.who, contrast.judge): contrast.agreement for contrast in report.contrasts
    }
    assert len(found) == 2 * (1 + 1 + 3)
    assert found["always", "people", ""].measure.value == 0.5
    assert found["after_label", "judge", "severe"].measure.value == pytest.approx(1 / 4)
    assert found["after_label", "judge", "kind"].measure.value == pytest.approx(-1 / 4)
    for one in found.values():
        assert (one.mde, one.se, str(one.mde_reason)) == (None, None, "fewer than 20 tasks")


def test_label_changes_after_a_look_go_towards_away_or_neither(cast: Cast) -> None:
    arms = fill(cast)
    label_all_of_it(cast, arms)
    n = len(arms["after_label"])

    report = influence(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk))

    moves = {(rate.unit, rate.judge): rate.changes for rate in report.change_rates}
    majority = moves["step", ""]
    # four labels a trajectory; ann gave up her second; three differed from the majority (−1)
    assert majority.labels == 4 * n
    assert (majority.changed.value, majority.towards.value, majority.away.value) == (0.25, 0.25, 0)
    assert majority.followed.value == pytest.approx(1 / 3) and majority.followed.n == 3 * n
    assert moves["step", "strict"].towards.value == 0.25
    assert (moves["step", "kind"].towards.value, moves["step", "kind"].away.value) == (0, 0.25)
    assert (moves["outcome", ""].labels, moves["outcome", ""].changed.value) == (2 * n, 0)


def test_each_annotator_has_an_effect_of_their_own_or_too_little_for_one(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = fill(cast)
    label_all_of_it(cast, arms)
    n = len(arms["after_label"])

    ann, ben = influence(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk)).annotators

    assert [ann.name, ben.name] == ["Ann", "Ben"]
    assert (ann.exposed, ann.sealed) == (len(arms["always"]), len(arms["sealed"]))
    for one in (ann, ben):
        assert one.effect is not None
        assert (one.effect.measure.value, str(one.effect.measure.reason)) == (None, "fewer than 20 tasks")
        assert (one.changed.value, str(one.changed.reason)) == (None, "fewer than 30 labels")
        assert one.labels == 2 * n

    monkeypatch.setattr(annotator_effects, "MIN_TASKS", 1)
    monkeypatch.setattr(annotator_effects, "FEWEST_LABELS", 1)
    ann, ben = influence(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk)).annotators
    assert ann.effect is not None and ben.effect is not None
    # most judges say −1: ann never did without suggestions, ben on one of two steps, both always with them
    assert (ann.effect.measure.value, ben.effect.measure.value) == (1.0, 0.5)
    # after a look ann gave up one of two labels that differed, ben kept his only one
    assert (ann.changed.value, ann.followed.value) == (0.5, 0.5)
    assert (ben.changed.value, ben.followed.value) == (0.0, 0.0)


def test_influence_without_an_experiment_is_an_observation_and_says_so(cast: Cast) -> None:
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
    assert [(one.name, one.effect, one.labels) for one in report.annotators] == [
        ("Ann", None, 6),
        ("Ben", None, 0),
    ]


def test_trajectories_that_are_not_all_in_count_nowhere(cast: Cast) -> None:
    arms = fill(cast)
    judge_it(cast.ann, arms["after_label"][0], (1, 1), then=(-1, -1))

    report = influence(viewer=OPERATOR, project=Project.objects.get(pk=cast.project.pk))

    assert [arm.steps for arm in report.arms] == [0, 0, 0]
    assert all(rate.changes.labels == 0 for rate in report.change_rates)
    assert all(contrast.agreement.measure.value is None for contrast in report.contrasts)


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
    assert [one["name"] for one in document["annotators"]] == ["Ann", "Ben"]
    assert f"randomised, seed {SEED}; 10 tasks" in said.err
    plain = run("influence", "bench").out
    assert "always − sealed: annotators" in plain and "could have shown –  (fewer than 20 tasks)" in plain


def test_influence_that_is_an_observation_is_said_on_the_terminal_too(cast: Cast) -> None:
    fill(cast, seed=None)

    said = run("influence", "bench")

    assert "observed, not randomised" in said.err
    assert "there are no arms to compare" in said.out
