"""Blind and untouched: what their authors had seen when they judged."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, Label, OutcomeLabel, Trajectory
from annotation.models.blindness import with_blind_values, with_untouched
from annotation.policies import OPERATOR
from annotation.services import assign, exposures, label, projects
from tests.fixtures.judges import make_imported_judge
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast, change, import_records, jsonl, make_record
from tests.services.revealing import reveal
from tests.services.saving import save
from tests.suggesting import suggest

pytestmark = pytest.mark.postgres


@shared_rows
def rows(cast: Cast) -> list[Trajectory]:
    """Two runs of one task and one of another, three steps each, with suggestions."""
    made = import_records(
        cast.project, [make_record(query, sample, steps=3) for query, sample in ((0, 0), (0, 1), (1, 0))]
    )
    judge = make_imported_judge(cast.project)
    for row in made:
        suggest(judge, row)
    return made


def begun(cast: Cast, row: Trajectory, **values: int) -> Assignment:
    mine = assign.claim_this(actor=cast.ann, trajectory=row)
    save(mine, *(change(int(name[1:]), value) for name, value in values.items()))
    return mine


def found(assignment: Assignment) -> dict[int, tuple[int | None, bool]]:
    """By message index: (blind value, untouched)."""
    labels: Any = with_untouched(Label.objects.filter(assignment=assignment))
    return {row.step.message_index: (row.blind, row.untouched) for row in labels.select_related("step")}


def test_blindness_of_who_has_seen_nothing_is_untouched(cast: Cast, rows: list[Trajectory]) -> None:
    mine = begun(cast, rows[0], m2=1, m4=0)

    assert found(mine) == {2: (1, True), 4: (0, True)}


def test_blindness_before_stays_untouched_and_what_comes_after_is_only_blind(
    cast: Cast, rows: list[Trajectory]
) -> None:
    mine = begun(cast, rows[0], m2=1, m4=0)
    reveal(mine, 2)
    save(mine, change(2, -1, version=1), change(6, 1))

    assert found(mine) == {2: (1, True), 4: (0, True), 6: (1, False)}


def test_value_that_changed_after_something_else_was_seen_is_touched(
    cast: Cast, rows: list[Trajectory]
) -> None:
    mine = begun(cast, rows[0], m2=1, m4=0, m6=1)
    reveal(mine, 2)
    save(mine, change(4, -1, version=1), change(6, 1, version=1, note="only a note"))

    assert found(mine) == {2: (1, True), 4: (-1, False), 6: (1, True)}


def test_blindness_of_a_value_there_and_back_again_is_touched_too(cast: Cast, rows: list[Trajectory]) -> None:
    mine = begun(cast, rows[0], m2=1, m4=0)
    reveal(mine, 2)
    save(mine, change(4, -1, version=1))
    save(mine, change(4, 0, version=2))

    assert found(mine)[4] == (0, False)


def test_blindness_of_a_label_ends_with_its_own_exposure(cast: Cast, rows: list[Trajectory]) -> None:
    mine = begun(cast, rows[0], m2=1, m4=0)
    reveal(mine, 2)
    reveal(mine, 4)
    save(mine, change(4, -1, version=1))

    assert found(mine)[4] == (0, True)


def test_blindness_in_another_run_of_the_task_is_touched_and_in_another_task_is_not(
    cast: Cast, rows: list[Trajectory]
) -> None:
    first = begun(cast, rows[0], m2=1)
    reveal(first, 2)

    assert found(begun(cast, rows[1], m2=1)) == {2: (1, False)}
    assert found(begun(cast, rows[2], m2=1)) == {2: (1, True)}


def test_blindness_is_not_ended_by_the_other_annotators_exposure(cast: Cast, rows: list[Trajectory]) -> None:
    mine = begun(cast, rows[0], m2=1)
    reveal(mine, 2)
    theirs = assign.claim_this(actor=cast.ben, trajectory=rows[0])
    save(theirs, change(4, 1))

    assert found(theirs) == {4: (1, True)}


def test_blindness_is_touched_by_others_labels_of_a_sibling_as_well(
    cast: Cast, rows: list[Trajectory]
) -> None:
    exposures.expose(user=cast.ann, trajectory=rows[1], kind=ExposureKind.LABEL)

    assert found(begun(cast, rows[0], m2=1)) == {2: (1, False)}


def test_blindness_without_a_blind_value_is_neither(cast: Cast, rows: list[Trajectory]) -> None:
    projects.update_project(actor=OPERATOR, project=cast.project, values={"suggestion_policy": "always"})
    mine = assign.claim_this(actor=cast.ann, trajectory=rows[0])
    reveal(mine, 2)
    save(mine, change(2, 1), change(4, 1))

    assert found(mine) == {4: (1, False)}
    assert with_blind_values(Label.objects.filter(assignment=mine)).count() == 1


def test_outcomes_are_told_apart_alike(cast: Cast, rows: list[Trajectory]) -> None:
    mine = begun(cast, rows[0], m2=1)
    save(mine, change(None, 1))
    reveal(mine, 2)
    other = begun(cast, rows[1], m2=1)
    save(other, change(None, 1))

    outcomes: Any = with_untouched(OutcomeLabel.objects.order_by("pk"))
    assert [(row.blind, row.untouched) for row in outcomes] == [(1, True), (1, False)]


def test_labels_from_a_file_were_given_when_it_was_imported(cast: Cast, rows: list[Trajectory]) -> None:
    import io

    lines = [
        {"record_id": row.record_id, "step_labels": {"2": 1, "4": 1, "6": 1}, "final_label": 1}
        for row in rows[:1]
    ]
    label.import_labels(
        actor=OPERATOR,
        project=cast.project,
        annotator="ann",
        stream=io.BytesIO(jsonl(lines)),
        filename="a.jsonl",
    )
    mine = Assignment.objects.get()
    reveal(mine, 2)

    assert found(mine) == {2: (1, True), 4: (1, True), 6: (1, True)}


def test_blindness_is_one_query(cast: Cast, rows: list[Trajectory]) -> None:
    for row in rows:
        reveal(begun(cast, row, m2=1, m4=1), 2)
    with CaptureQueriesContext(connection) as asked:
        assert len(list(with_untouched(Label.objects.all()))) == 6
    assert len(asked) == 1
