"""Training subsets: what they hold is nowhere else, and has a whole key or none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.core.errors import Conflict, Denied, ImportRefused, Invalid
from annotation.core.vocabulary import TrajectoryState
from annotation.models import Exposure, KeyLabel, Subset, Trajectory
from annotation.policies import visible
from annotation.policies.gold import gold_items
from annotation.policies.training import keyed
from annotation.reports.training import keys
from annotation.reports.work import progress
from annotation.services import assign, projects, training
from tests import people
from tests.people import Cast

KEY = {"step_labels": {"2": 1, "4": -1}, "final_label": -1}
WHY = {"steps": {"4": "It answers what was not asked."}, "final": "A wrong answer."}


def training_subset(cast: Cast, name: str = "training") -> Subset:
    subset = projects.ensure_subset(actor=cast.admin, project=cast.project, name=name)
    return training.mark_training(actor=cast.admin, subset=subset)


def import_keyed(cast: Cast, count: int = 2, **changes: object) -> list[Trajectory]:
    """Trajectories with a key, in the subset "training"."""
    training_subset(cast)
    records = people.make_records(count, **{**KEY, "explanations": WHY, **changes})
    source = people.import_file(cast.project, people.jsonl(records), subset="training")
    return list(Trajectory.objects.filter(source=source).order_by("line"))


def test_training_trajectories_come_with_the_key_of_their_file(cast: Cast) -> None:
    first, second = import_keyed(cast)

    assert [(row.live, row.training) for row in (first, second)] == [(False, True)] * 2
    assert keys.values_of(first) == {2: 1, 4: -1, None: -1}
    assert {index: row.note for index, row in keys.key_of(first).items()} == {
        2: "",
        4: "It answers what was not asked.",
        None: "A wrong answer.",
    }
    assert set(keyed(Trajectory.objects.all())) == {first, second}
    # the key stands in no text that somebody reads
    assert "explanations" not in json.dumps(first.content.parsed())


def test_training_trajectories_are_in_no_queue_and_no_figure(cast: Cast) -> None:
    import_keyed(cast)

    with pytest.raises(Conflict) as refused:
        people.claim(cast.ann, cast.project)
    assert refused.value.code == "nothing_left"
    assert progress.progress(actor=cast.admin, project=cast.project).all.total == 0
    for user in (cast.admin, cast.ann, cast.root):
        assert not visible(user, Trajectory.objects.all()).exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"step_labels": {"2": 1}}, "step_labels.4"),
        ({"final_label": None}, "final_label"),
        ({"step_reasons": {"2": "as_asked", "4": "redundant"}}, "step_reasons.4"),
        ({"final_reason": "wrong"}, "final_reason"),
    ],
)
def test_key_that_misses_a_label_or_has_a_wrong_reason_refuses_the_file(
    cast: Cast, changes: dict[str, object], field: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        import_keyed(cast, 1, **changes)

    assert [error["field"] for error in refused.value.report["errors"]] == [field]
    assert not Trajectory.objects.exists()


def test_subset_that_nobody_has_worked_on_leaves_the_queue_with_its_key(cast: Cast) -> None:
    rows = people.import_records(cast.project, records=people.make_records(2, **KEY))
    subset = rows[0].subset
    training.mark_training(actor=cast.admin, subset=subset)

    assert not Trajectory.objects.filter(live=True).exists()
    assert keys.values_of(rows[1]) == {2: 1, 4: -1, None: -1}

    training.unmark_training(actor=cast.admin, subset=subset)
    assert Trajectory.objects.filter(live=True).count() == 2
    assert not KeyLabel.objects.exists()
    assert people.claim(cast.ann, cast.project)


def test_subset_that_somebody_works_on_stays_what_it_is(cast: Cast) -> None:
    (row,) = people.import_records(cast.project, 1)
    people.claim(cast.ann, cast.project)

    with pytest.raises(Conflict) as refused:
        training.mark_training(actor=cast.admin, subset=row.subset)
    assert refused.value.code == "used"
    assert Trajectory.objects.get(pk=row.pk).live


def test_item_of_a_resolved_trajectory_has_its_consensus_as_key(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    people.make_unanimous(cast, 1)
    subset = training_subset(cast)
    resolved = Trajectory.objects.get(state=TrajectoryState.UNANIMOUS)
    rows = list(Trajectory.objects.select_related("project", "task"))
    outcome = training.make_items(actor=cast.admin, project=cast.project, trajectories=rows, subset=subset)

    (copy,) = outcome.done
    assert [(row.state, error.code) for row, error in outcome.refused] == [("labelling", "not_resolved")]
    assert (copy.copy_of, copy.training, copy.live, copy.record_id) == (
        resolved,
        True,
        False,
        resolved.record_id,
    )
    own = {row.step.message_index: row.value for row in resolved.consensus.select_related("step")}
    assert keys.values_of(copy) == {**own, None: resolved.outcome_consensus.value}
    assert copy.content.parsed() == resolved.content.parsed()
    # gold is a copy, too, but stands in a subset that is labelled
    assert not gold_items(cast.project).exists()
    again = training.make_items(
        actor=cast.admin, project=cast.project, trajectories=[resolved], subset=subset
    )
    assert [error.code for _row, error in again.refused] == ["there_already"]


def test_key_is_written_label_by_label_and_is_whole_at_the_end(cast: Cast) -> None:
    training_subset(cast)
    people.import_file(cast.project, people.jsonl(people.make_records(1)), subset="training")
    row = Trajectory.objects.get()

    def write(index: int | None, value: int, **more: str) -> None:
        training.write_key_label(
            actor=cast.admin, trajectory=row, message_index=index, value=value, note="", **more
        )

    write(2, 1, reason="cross_check")
    write(4, -1)
    assert not keyed(Trajectory.objects.all()).exists()
    with pytest.raises(Conflict) as refused:
        training.refuse_without_key([row])
    assert refused.value.code == "no_key"
    write(None, 0)
    assert keyed(Trajectory.objects.all()).get() == row
    write(2, 0)
    assert keys.values_of(row) == {2: 0, 4: -1, None: 0}

    with pytest.raises(Invalid):
        write(2, -1, reason="cross_check")
    with pytest.raises(Denied):
        training.write_key_label(actor=cast.ann, trajectory=row, message_index=2, value=1, note="")


def test_who_has_labelled_a_copy_is_given_its_original_no_more(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    people.make_unanimous(cast, 1)
    original = Trajectory.objects.select_related("project", "task").get()
    subset = training_subset(cast)
    training.make_items(actor=cast.admin, project=cast.project, trajectories=[original], subset=subset)
    training.begin_pilot(actor=cast.admin, project=cast.project, subset=subset, bound=0.5)

    sat = people.label_next(cast.cleo, cast.project)

    assert sat.trajectory.copy_of == original
    seen = Exposure.objects.filter(user=cast.cleo)
    assert set(seen.values_list("trajectory", "kind")) == {(original.pk, "label")}
    assert assign.has_seen_labels(cast.cleo, original)


def test_ids_leave_gaps_in_which_a_copy_is_not_told(cast: Cast) -> None:
    rows = people.import_records(cast.project, 30)
    people.make_unanimous(cast, 1)
    resolved = Trajectory.objects.select_related("project", "task").get(state=TrajectoryState.UNANIMOUS)
    copy = training.copy_into(resolved, resolved.subset)

    ids = sorted(row.pk for row in rows)
    assert ids == [row.pk for row in sorted(rows, key=lambda row: row.line)]
    assert ids[0] < copy.pk < ids[-1]


def test_published_labels_are_keys(cast: Cast, published: Path) -> None:
    """The published records bring a key wherever they label every step."""
    lines = (published / "agentprocessbench" / "hotpotqa.jsonl").read_bytes().splitlines()[:20]
    training_subset(cast)
    people.import_file(cast.project, b"\n".join(lines), subset="training")

    wanted = {}
    for line in map(json.loads, lines):
        record = f"{line['data_source']}:{line['query_index']}:{line['sample_index']}"
        own = {int(index): value for index, value in line["step_labels"].items()}
        wanted[record] = {**own, None: line["final_label"]}
    assert {row.record_id: keys.values_of(row) for row in Trajectory.objects.all()} == wanted
