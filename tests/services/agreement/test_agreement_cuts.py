"""Figures of agreement from paired labels: as the labels give them, whatever they are cut by."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.db.models import F

from annotation.core.agreement import Measure, at_least, count_outcomes, count_steps, summarise
from annotation.core.agreement.pairs import LabelTable
from annotation.core.agreement.summary import Summary
from annotation.core.errors import Invalid
from annotation.core.vocabulary import SETTLED
from annotation.models import Label, OutcomeLabel, PairedLabels, Revision
from annotation.models.blindness import with_blind_values
from annotation.policies import OPERATOR
from annotation.reports.agreement import paired_labels
from annotation.reports.agreement.cuts import CUTS
from annotation.reports.agreement.differing_steps import steps
from annotation.reports.agreement.report import FEWEST, agreement, as_json
from annotation.services import projects
from tests import people
from tests.people import Cast, import_records, make_record

SETTLED_LABELS = {"assignment__state": "submitted", "assignment__trajectory__state__in": SETTLED}


def plain(model: Any, step: str, steps: str) -> LabelTable:
    """The labels themselves, as figures read them before there were pairs."""
    columns = ("assignment__trajectory", step, "assignment__annotator", "blind")
    of = ("assignment__trajectory__task", "assignment__trajectory__subset", steps)
    rows = with_blind_values(model.objects.filter(**SETTLED_LABELS)).values_list(*columns, *of)
    return LabelTable.of(np.array([[0 if x is None else x for x in row] for row in rows]))


def same(found: Summary, expected: Summary) -> None:
    """Every figure, n, interval and table is the same."""
    assert found.n == expected.n and found.n_tasks == expected.n_tasks
    assert found.n_trajectories == expected.n_trajectories and found.offsets == expected.offsets
    assert found.confusion.tolist() == expected.confusion.tolist()
    for name, measure in expected.figures.items():
        assert (found.figures[name].n, found.figures[name].reason) == (measure.n, measure.reason), name
        assert found.figures[name].value == pytest.approx(measure.value), name
        assert found.figures[name].interval.low == pytest.approx(measure.interval.low), name
    assert [(pair.first, pair.second, pair.n) for pair in found.pairs] == [
        (pair.first, pair.second, pair.n) for pair in expected.pairs
    ]


def test_agreement_from_pairs_is_that_of_the_labels(labelled: Cast) -> None:
    steps = plain(Label, "step__ordinal", "assignment__trajectory__step_count")
    outcomes = plain(OutcomeLabel, "assignment__trajectory__live", "assignment__trajectory__live")

    found = agreement(viewer=OPERATOR, project=labelled.project)

    same(found.overall.steps, summarise(count_steps(steps)))
    assert found.overall.steps.n < PairedLabels.objects.count() * 3, "some labels are not blind"
    for part in found.subsets:
        pk = next(pk for pk, name in found.view.subsets.items() if name == part.name)
        same(part.steps, summarise(count_steps(steps.where(steps.subset == pk))))
    assert found.overall.outcomes.n == summarise(count_outcomes(outcomes)).n


def held(model: Any, step: str, steps: str) -> LabelTable:
    """The blind labels, with what their authors have changed in discussions since in their place."""
    blind = plain(model, step, steps)
    place = {"step__isnull": step != "step__ordinal"}
    newest = {
        (row.assignment.trajectory_id, row.step.ordinal if row.step else 1, row.assignment.annotator_id): row
        for row in Revision.objects.filter(**place).select_related("assignment", "step").order_by("pk")
    }
    rows = zip(
        blind.trajectory.tolist(),
        blind.position.tolist(),
        blind.annotator.tolist(),
        blind.value.tolist(),
        strict=True,
    )
    value = [newest[at].value if (at := tuple(row[:3])) in newest else row[3] for row in rows]
    return replace(blind, value=np.array(value))


def test_agreement_after_discussion_is_that_of_the_labels_with_what_was_changed(discussed: Cast) -> None:
    steps = held(Label, "step__ordinal", "assignment__trajectory__step_count")
    outcomes = held(OutcomeLabel, "assignment__trajectory__live", "assignment__trajectory__live")

    found = agreement(viewer=OPERATOR, project=discussed.project)

    after = found.overall.after_discussion
    assert after is not None
    same(after.steps, replace(summarise(count_steps(steps)), pairs=()))
    assert after.steps.n == found.overall.steps.n
    assert (after.changed, after.outcomes_changed) == (
        Revision.objects.filter(step__isnull=False).count() - 2,
        2,
    )
    before = found.overall.steps.figures["percent_agreement"].value
    assert after.steps.figures["percent_agreement"].value == pytest.approx(
        before + after.changed / after.steps.n
    )
    expected = summarise(count_outcomes(outcomes)).figures["percent_agreement"]
    assert after.outcomes.figures["percent_agreement"] == expected
    for part in found.subsets:
        pk = next(pk for pk, name in found.view.subsets.items() if name == part.name)
        assert part.after_discussion is not None
        of_subset = replace(summarise(count_steps(steps.where(steps.subset == pk))), pairs=())
        same(part.after_discussion.steps, of_subset)


def test_agreement_after_discussion_is_left_out_where_nobody_changed_a_label(labelled: Cast) -> None:
    found = as_json(agreement(viewer=OPERATOR, project=labelled.project))
    assert found["overall"]["after_discussion"] is None
    assert found["overall"]["untouched"]["n"] < found["overall"]["n"]


def test_agreement_of_untouched_labels_is_that_of_the_cut(discussed: Cast) -> None:
    for asked in ({}, {"kind": "call"}, {"subset": "one", "source": "explicit"}):
        beside = agreement(viewer=OPERATOR, project=discussed.project, asked=asked).overall.untouched
        cut = agreement(
            viewer=OPERATOR, project=discussed.project, asked={**asked, "exposure": "untouched"}
        ).overall
        assert beside is not None and cut.untouched is None
        same(beside.steps, replace(cut.steps, pairs=()))
        assert beside.outcomes.n == (0 if set(asked) & {"kind", "source"} else cut.outcomes.n)


def test_agreement_after_a_change_of_mind_is_new_at_once(discussed: Cast) -> None:
    def changed() -> int:
        after = agreement(viewer=OPERATOR, project=discussed.project).overall.after_discussion
        return after.changed if after else 0

    before = changed()
    newest = Revision.objects.filter(step__isnull=False).order_by("-pk")[0]
    labels = Label.objects.filter(step=newest.step, assignment=newest.assignment)
    newest.pk, newest.value = None, labels.get().value
    newest.save(force_insert=True)
    assert changed() == before - 1


def test_agreement_of_three_who_label_everything_is_that_of_the_labels(cast: Cast) -> None:
    chance = random.Random(3)
    projects.update_project(actor=OPERATOR, project=cast.project, values={"annotators_per_trajectory": 3})
    import_records(cast.project, [make_record(q, s, steps=3) for q in range(4) for s in range(2)])
    for user in (cast.ann, cast.ben, cast.cleo):
        for _ in range(8):
            people.label_next(user, cast.project, [chance.choice((-1, 0, 1)) for _ in range(3)])

    found = agreement(viewer=OPERATOR, project=cast.project)

    labels = plain(Label, "step__ordinal", "assignment__trajectory__step_count")
    same(found.overall.steps, summarise(count_steps(labels)))
    assert found.overall.steps.headline == "alpha"


def test_cut_that_parts_three_annotators_of_a_step_counts_each_pair_alone(cast: Cast) -> None:
    projects.update_project(actor=OPERATOR, project=cast.project, values={"annotators_per_trajectory": 3})
    import_records(cast.project, [make_record(q, steps=3) for q in range(4)])
    chance = random.Random(4)
    for user in (cast.ann, cast.ben, cast.cleo):
        for _ in range(4):
            people.label_next(user, cast.project, [chance.choice((-1, 0, 1)) for _ in range(3)])
    last = max(user.pk for user in (cast.ann, cast.ben, cast.cleo))
    PairedLabels.objects.filter(second=last).update(week=F("week") + 7, second_guideline=2)

    for by in ("week", "guideline"):
        groups = agreement(viewer=OPERATOR, project=cast.project, by=by).pictures.groups
        assert [group.n for group in groups] == ([12, 24] if by == "week" else [24, 12])
        for group in groups:
            asked = {by: group.part.key}
            alone = agreement(viewer=OPERATOR, project=cast.project, asked=asked).overall.steps
            assert alone.figures["alpha"] == figure_of_pairs(asked, cast)
            assert alone.n_trajectories == 4
            if alone.n_annotators > 2:
                assert group.measure == alone.figures["alpha"]


def figure_of_pairs(asked: dict[str, str], cast: Cast) -> Measure:
    """α of as many units as the list of steps has, each a pair of labels."""
    listed = steps(viewer=OPERATOR, project=cast.project, asked={**asked, "figure": "alpha"})
    columns = listed.columns
    table = [
        (unit, 0, who, value - 1, trajectory, 0, 1)
        for unit, trajectory in enumerate(columns["trajectory"].tolist())
        for who, value in ((0, int(columns["first_value"][unit])), (1, int(columns["second_value"][unit])))
    ]
    assert listed.count == len(columns["trajectory"])
    return summarise(count_steps(LabelTable.of(table))).figures["alpha"]


def test_agreement_for_adjudicators_leaves_out_pairs_that_share_few(labelled: Cast) -> None:
    few = at_least(plain(Label, "step__ordinal", "assignment__trajectory__step_count"), FEWEST)

    found = agreement(viewer=labelled.judith, project=labelled.project)

    assert not found.with_people and not found.people and not found.pictures.annotators
    same(found.overall.steps, summarise(count_steps(few)).without_people())


def test_cuts_add_up_to_what_they_cut(discussed: Cast) -> None:
    whole = agreement(viewer=OPERATOR, project=discussed.project).overall.steps
    for by in CUTS:
        found = agreement(viewer=OPERATOR, project=discussed.project, by=by)
        groups = found.pictures.groups
        assert sum(group.n for group in groups) == whole.n, by
        assert len(groups) > 1, by
        for group in groups:
            alone = agreement(viewer=OPERATOR, project=discussed.project, asked={by: group.part.key})
            assert alone.overall.steps.n == group.n
            assert alone.overall.steps.figures[found.pictures.figure].value == pytest.approx(
                group.measure.value
            )


def test_cuts_of_adjudicators_are_subset_and_steps_only(labelled: Cast) -> None:
    with pytest.raises(Invalid, match="There is no filter “week”"):
        agreement(viewer=labelled.judith, project=labelled.project, asked={"week": "2026-11-16"})
    with pytest.raises(Invalid, match="There is no filter “arm”"):
        agreement(viewer=OPERATOR, project=labelled.project, asked={"arm": "sealed"})  # no experiment
    with pytest.raises(Invalid, match="There is no cut “pair”"):
        agreement(viewer=labelled.judith, project=labelled.project, by="pair")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"colour": "red"}, "There is no filter “colour”."),
        ({"subset": "<script>"}, "No labels fit the filter subset = “<script>”."),
        ({"week": "today"}, "No labels fit the filter week = “today”."),
        ({"labels": "1,1"}, "There is no filter “labels”."),
    ],
)
def test_filters_that_do_not_exist_are_refused_in_a_sentence(
    labelled: Cast, asked: dict[str, str], said: str
) -> None:
    with pytest.raises(Invalid) as refused:
        agreement(viewer=OPERATOR, project=labelled.project, asked=asked)
    assert str(refused.value) == said


@pytest.mark.postgres
def test_agreement_is_read_again_when_labels_come_in(cast: Cast) -> None:
    import_records(cast.project, 2)
    for n in (2, 4):
        people.make_disputed(cast)
        assert agreement(viewer=OPERATOR, project=cast.project).overall.steps.n == n
    kept = paired_labels.paired_rows(cast.project)
    assert paired_labels.paired_rows(cast.project) is kept
    PairedLabels.objects.all().delete()
    assert agreement(viewer=OPERATOR, project=cast.project).overall.steps.n == 0
