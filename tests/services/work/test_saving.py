"""Saving labels: what is stored, repeated, stale or refused, what it costs, and propagation at work."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.core import propagation
from annotation.core.errors import Conflict, Invalid, NotFound, StaleState
from annotation.models import Assignment, Label, LabelEvent, OutcomeLabel, SaveOperation
from annotation.services import label, projects
from annotation.services.label import MAX_CHANGES, MAX_NOTE, label_set
from tests import people
from tests.people import Cast, change
from tests.services.saving import fill, save, shown, statuses


# ── What is stored ────────────────────────
def test_saved_label_comes_back_with_all_that_was_said(assignment: Assignment) -> None:
    answer = save(
        assignment,
        change(2, 1, note="Good.", unsure=True, flagged=True, reason="recovery", closes="corrected"),
        change(None, 0, note="So so.", reason="exploratory"),
    )

    assert statuses(answer) == ["saved", "saved"]
    assert shown(answer, 2) == {
        "message_index": 2,
        "value": 1,
        "source": "explicit",
        "root": None,
        "root_pinned": False,
        "closes": "corrected",
        "unsure": True,
        "flagged": True,
        "note": "Good.",
        "reason": "recovery",
        "version": 1,
    }
    assert answer["outcome"] == {
        "value": 0,
        "unsure": False,
        "flagged": False,
        "note": "So so.",
        "reason": "exploratory",
        "version": 1,
    }
    assert [one["version"] for one in answer["labels"]] == [1, 0, 0, 0]


def test_error_is_its_own_root_and_a_later_error_joins_its_run(assignment: Assignment) -> None:
    answer = save(assignment, change(2, -1), change(4, -1), change(6, 1), change(8, -1))

    assert [one["root"] for one in answer["labels"]] == [2, 2, None, 8]


def test_root_of_a_new_error_inside_a_run_can_be_pinned(assignment: Assignment) -> None:
    answer = save(assignment, change(2, -1), change(4, -1, root=4, root_pinned=True))

    assert [one["root"] for one in answer["labels"]][:2] == [2, 4]
    assert shown(answer, 4)["root_pinned"] is True


def test_label_taken_back_keeps_its_row_its_note_and_its_version(assignment: Assignment) -> None:
    save(assignment, change(2, -1, note="Wrong tool."))

    answer = save(assignment, change(2, None, version=1, note="Wrong tool."))

    assert (shown(answer, 2)["value"], shown(answer, 2)["version"]) == (None, 2)
    assert shown(answer, 2)["source"] is None
    assert shown(answer, 2)["note"] == "Wrong tool."
    assert Label.objects.count() == 1


@pytest.mark.postgres
@pytest.mark.parametrize(
    "note", ["\x00", "a\x00b", "\ud800", "\udfff and \ufdd0", "<script>alert(1)</script>"]
)
def test_note_comes_back_exactly_whatever_stands_in_it(assignment: Assignment, note: str) -> None:
    save(assignment, change(2, 1, note=note), change(None, 1, note=note))

    answer = save(assignment, change(4, 1))

    assert shown(answer, 2)["note"] == note
    assert answer["outcome"]["note"] == note


# ── Repeating ─────────────────────────────
def test_save_of_a_batch_again_changes_nothing_and_answers_the_same(assignment: Assignment) -> None:
    first = save(assignment, change(2, 1), change(99, 1), op_id="a")

    again = save(assignment, change(2, 1), change(99, 1), op_id="a")

    assert again == first
    assert LabelEvent.objects.count() == 1
    assert SaveOperation.objects.count() == 1


def test_save_of_a_batch_again_after_another_shows_the_labels_as_they_are_now(assignment: Assignment) -> None:
    save(assignment, change(2, 1), op_id="a")
    save(assignment, change(2, -1, version=1), op_id="b")

    again = save(assignment, change(2, 1), op_id="a")

    assert statuses(again) == ["saved"]
    assert (shown(again, 2)["value"], shown(again, 2)["version"]) == (-1, 2)


def test_op_id_cannot_be_used_for_other_changes(assignment: Assignment) -> None:
    save(assignment, change(2, 1), op_id="a")

    with pytest.raises(Conflict) as refusal:
        save(assignment, change(2, -1, version=1), op_id="a")

    assert refusal.value.code == "op_id_reused"
    assert Label.objects.get().value == 1


def test_op_id_may_be_used_by_two_people(cast: Cast, assignment: Assignment) -> None:
    save(assignment, change(2, 1), op_id="a")
    other = people.claim(cast.ben, cast.project)

    assert statuses(save(other, change(2, -1), op_id="a")) == ["saved"]


@pytest.mark.parametrize("op_id", ["x" * 65, "a b", "\x00", "\ud800", "ä", "a\n"])
def test_op_id_that_no_client_of_ours_makes_is_refused(assignment: Assignment, op_id: str) -> None:
    with pytest.raises(Invalid) as refusal:
        save(assignment, change(2, 1), op_id=op_id)

    assert set(refusal.value.fields) == {"op_id"}


# ── Versions ──────────────────────────────
def test_save_of_a_stale_change_leaves_the_others_of_its_batch_standing(assignment: Assignment) -> None:
    save(assignment, change(2, 1), change(None, 1))

    answer = save(
        assignment,
        change(2, -1),
        change(4, -1),
        change(None, -1),
        change(6, 0, version=7),
    )

    assert statuses(answer) == ["stale", "saved", "stale", "stale"]
    assert answer["results"][0]["label"]["value"] == 1
    assert answer["results"][2]["label"] == answer["outcome"]
    assert [one["value"] for one in answer["labels"]] == [1, -1, None, None]
    assert answer["outcome"]["value"] == 1


def test_save_of_a_step_twice_in_a_batch_is_based_on_the_version_before_it(assignment: Assignment) -> None:
    answer = save(assignment, change(2, 1), change(2, -1))

    assert statuses(answer) == ["saved", "saved"]
    assert (shown(answer, 2)["value"], shown(answer, 2)["version"]) == (-1, 1)


# ── Who and when ──────────────────────────
@pytest.mark.parametrize("who", ["ben", "admin", "judith", "oscar", "root"])
def test_save_in_another_persons_name_is_refused(cast: Cast, assignment: Assignment, who: str) -> None:
    with pytest.raises(NotFound):
        label.save_labels(actor=cast.everybody[who], assignment=assignment, op_id="x", changes=[change(2, 1)])


def test_submitted_assignment_cannot_be_changed_but_its_batches_can_be_repeated(
    cast: Cast, assignment: Assignment
) -> None:
    save(assignment, *[change(index, 1) for index in (2, 4, 6, 8)], change(None, 1), op_id="all")
    label.submit(actor=cast.ann, assignment=assignment)

    again = save(assignment, *[change(index, 1) for index in (2, 4, 6, 8)], change(None, 1), op_id="all")
    with pytest.raises(StaleState) as refusal:
        save(assignment, change(2, -1, version=1))

    assert statuses(again) == ["saved"] * 5
    assert refusal.value.code == "not_open"


# ── How much it costs ─────────────────────
@pytest.mark.postgres
@pytest.mark.parametrize("deed", ["save", "submit"])
def test_save_takes_queries_that_do_not_grow_with_the_steps(cast: Cast, deed: str) -> None:
    counts = []
    people.import_records(
        cast.project,
        [people.make_record(0, steps=2), people.make_record(1, steps=40)],
    )
    for _ in range(2):
        assignment = people.claim(cast.ann, cast.project)
        indexes = people.step_indexes(assignment.trajectory_id)
        changes = [change(index, -1) for index in indexes]
        if deed == "submit":
            people.label_all(assignment, 1)
        with CaptureQueriesContext(connection) as queries:
            if deed == "submit":
                label.submit(actor=cast.ann, assignment=assignment)
            else:
                save(assignment, *changes, change(None, -1))
        counts.append(len(queries))

    assert len(set(counts)) == 1, counts
    # what a save reads, labels, outcome, events, operation, and BEGIN and COMMIT or a lock and a savepoint
    assert counts[0] <= (20 if deed == "submit" else 8)


def test_settling_a_long_trajectory_takes_no_more_queries_than_a_short_one(cast: Cast) -> None:
    counts = []
    people.import_records(cast.project, [people.make_record(0, steps=2), people.make_record(1, steps=95)])
    for _ in range(2):
        people.label_next(cast.ann, cast.project)
        assignment = people.claim(cast.ben, cast.project)
        people.label_all(assignment)
        with CaptureQueriesContext(connection) as queries:
            label.submit(actor=cast.ben, assignment=assignment)
        counts.append(len(queries))

    assert len(set(counts)) == 1, counts


# ── Refusals, one by one ──────────────────
@pytest.mark.parametrize("value", [2, -2, True, False, "1", 1.0, 0.5, [1], {"a": 1}, float("nan"), 10**30])
@pytest.mark.parametrize("index", [2, None])
def test_label_is_only_minus_one_zero_or_one(
    assignment: Assignment, value: object, index: int | None
) -> None:
    answer = save(assignment, {**change(index, 1), "value": value}, change(4, 1))

    assert statuses(answer) == ["refused", "saved"]
    assert answer["results"][0]["reason"] == "value: −1, 0, 1 or null."
    assert Label.objects.count() == 1
    assert OutcomeLabel.objects.count() == 0


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"target": "trajectory"}, "target"),
        ({"target": None}, "target"),
        ({"target": ["step"]}, "target"),
        ({"message_index": None}, "message_index"),
        ({"message_index": "2"}, "message_index"),
        ({"message_index": -1}, "message_index"),
        ({"message_index": True}, "message_index"),
        ({"message_index": 2**40}, "message_index"),
        ({"version": None}, "version"),
        ({"version": "0"}, "version"),
        ({"version": -1}, "version"),
        ({"version": 0.0}, "version"),
        ({"source": "judge"}, "source"),
        ({"source": ["explicit"]}, "source"),
        ({"root": "2"}, "root"),
        ({"root": -2}, "root"),
        ({"closes": "forgiven"}, "closes"),
        ({"note": 5}, "note"),
        ({"note": "x" * (MAX_NOTE + 1)}, "note"),
        ({"reason": "because"}, "reason"),
        ({"reason": ["recovery"]}, "reason"),
        ({"unsure": 1}, "unsure"),
        ({"flagged": "yes"}, "flagged"),
        ({"root_pinned": None}, "root_pinned"),
    ],
)
def test_save_refuses_a_change_that_is_not_well_formed_by_the_name_of_its_field(
    assignment: Assignment, wrong: dict[str, Any], word: str
) -> None:
    answer = save(assignment, {**change(2, 1), **wrong}, change(4, 1))

    assert statuses(answer) == ["refused", "saved"]
    assert answer["results"][0]["reason"].startswith(f"{word}: ")
    assert shown(answer, 2)["version"] == 0


@pytest.mark.parametrize("index", [0, 1, 3, 99])
def test_message_that_is_not_a_step_cannot_be_labelled(assignment: Assignment, index: int) -> None:
    answer = save(assignment, change(index, 1))

    assert statuses(answer) == ["refused"]
    assert answer["results"][0]["reason"] == f"Message {index} is not a step."
    assert answer["results"][0]["label"] is None


@pytest.mark.parametrize("root", [None, 6, 3, 99])
def test_pinned_root_is_this_step_or_an_earlier_one(assignment: Assignment, root: int | None) -> None:
    answer = save(assignment, change(4, -1, root=root, root_pinned=True))

    assert statuses(answer) == ["refused"]
    assert answer["results"][0]["reason"] == "The root of an error is this step or an earlier one."


@pytest.mark.parametrize(
    ("before", "confirmed"),
    [
        ([], fill(4, 2)),
        ([change(2, 1)], fill(4, 2)),
        ([change(2, -1)], change(4, 1, source="propagated")),
        ([change(2, -1)], change(4, 0, source="propagated")),
        ([change(2, -1)], fill(4, 4)),
        ([change(2, -1), change(4, 0)], fill(6, 2)),
        ([change(2, -1), change(4, 1)], fill(6, 2)),
        ([change(4, -1)], fill(2, 4)),
    ],
)
def test_confirmation_of_what_is_not_proposed_is_refused(
    assignment: Assignment, before: list[dict[str, Any]], confirmed: dict[str, Any]
) -> None:
    answer = save(assignment, *before, confirmed)

    assert statuses(answer)[-1] == "refused"
    assert "proposal" in answer["results"][-1]["reason"]


def test_save_of_too_many_changes_is_refused_as_a_whole(assignment: Assignment) -> None:
    with pytest.raises(Invalid) as refusal:
        save(assignment, *[change(2, 1)] * (MAX_CHANGES + 1))

    assert refusal.value.code == "too_many_changes"
    assert not Label.objects.exists()


# ── The propagation rule at work ──────────
def test_proposals_are_never_stored(assignment: Assignment) -> None:
    answer = save(assignment, change(2, -1))

    assert [one["value"] for one in answer["labels"]] == [-1, None, None, None]
    assert Label.objects.count() == 1


def test_fill_that_is_confirmed_is_a_label_with_its_source_and_root(assignment: Assignment) -> None:
    answer = save(assignment, change(2, -1), fill(4, 2), fill(6, 2))

    assert statuses(answer) == ["saved"] * 3
    assert [(one["value"], one["source"], one["root"]) for one in answer["labels"]] == [
        (-1, "explicit", 2),
        (-1, "propagated", 2),
        (-1, "propagated", 2),
        (None, None, None),
    ]


def test_confirming_many_fills_at_once_asks_the_rule_no_oftener_than_confirming_one(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, [people.make_record(steps=40)])
    assignment = people.claim(cast.ann, cast.project)
    asked: list[int] = []

    def counted(module: ModuleType) -> None:
        resolve = module.resolve
        monkeypatch.setattr(module, "resolve", lambda *args: asked.append(1) or resolve(*args))

    counted(label_set)
    counted(propagation)
    first, *rest = people.step_indexes(assignment.trajectory_id)

    assert set(statuses(save(assignment, change(first, -1), fill(rest[0], first)))) == {"saved"}
    once = len(asked)
    asked.clear()

    assert set(statuses(save(assignment, *(fill(index, first) for index in rest[1:])))) == {"saved"}
    assert len(asked) <= once + 2


@pytest.mark.parametrize("carry_forward", [True, False])
def test_confirming_many_fills_at_once_is_as_confirming_one_by_one(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, carry_forward: bool
) -> None:
    """Batches by chance, beside the same with the rule asked after every change."""
    projects.update_project(actor=cast.admin, project=cast.project, values={"carry_forward": carry_forward})
    record = people.make_record(steps=9)
    record["messages"].insert(8, {"role": "user", "content": "And now?"})
    (trajectory,) = people.import_records(cast.project, [record])
    projects.update_subset(actor=cast.admin, subset=trajectory.subset, suspend_on_user_turn=True)
    assignment = people.claim(cast.ann, cast.project)
    steps = people.step_indexes(trajectory.pk)

    def one(rng: random.Random, begun: dict[str, Any]) -> dict[str, Any]:
        at = rng.choice(steps)
        if rng.random() < 0.8:
            value = begun["value"] if rng.random() < 0.9 else -begun["value"]
            root = rng.choice([begun["message_index"]] * 4 + [at]) if value == -1 else None
            return change(at, value, source="propagated", root=root)
        pinned = rng.random() < 0.2
        value = -1 if pinned else rng.choice((None, -1, 0, 1))
        return change(at, value, root=rng.choice(steps) if pinned else None, root_pinned=pinned)

    def outcome_of(batches: list[list[dict[str, Any]]]) -> Any:
        with transaction.atomic():
            answers = [save(assignment, *batch) for batch in batches]
            events = list(LabelEvent.objects.order_by("pk").values_list("step", "kind", "value", "version"))
            transaction.set_rollback(True)
        return [(statuses(answer), answer["labels"]) for answer in answers], events

    confirmed = 0
    for seed in range(60):
        rng = random.Random(seed)
        begun = change(rng.choice(steps[:3]), rng.choice((-1, -1, 1)))
        batches = [[begun, *(one(rng, begun) for _ in range(12))], [one(rng, begun) for _ in range(12)]]
        with monkeypatch.context() as patch:
            patch.setattr(label_set.LabelSet, "confirm", lambda *_args: False)
            slow = outcome_of(batches)
        assert outcome_of(batches) == slow, seed
        confirmed += sum(one["source"] == "propagated" for one in slow[0][-1][1])
    assert confirmed > 30


@pytest.mark.parametrize("value", [None, 1, 0])
def test_fills_vanish_with_their_root_and_their_history_stays(
    assignment: Assignment, value: int | None
) -> None:
    save(assignment, change(2, -1), fill(4, 2, version=0), fill(6, 2), change(8, -1))

    answer = save(assignment, change(2, value, version=1))

    assert [one["value"] for one in answer["labels"]] == [value, None, None, -1]
    assert [one["version"] for one in answer["labels"]] == [2, 2, 2, 2]
    assert shown(answer, 8)["root"] == 8
    kinds = list(LabelEvent.objects.filter(step__message_index=4).values_list("kind", "value", "version"))
    assert kinds == [("save", -1, 1), ("orphan", None, 2)]


def test_page_that_has_not_seen_its_fills_vanish_is_stale_there(assignment: Assignment) -> None:
    save(assignment, change(2, -1), fill(4, 2))
    save(assignment, change(2, 1, version=1))

    answer = save(assignment, change(4, 1, version=1))

    assert statuses(answer) == ["stale"]


def test_save_of_one_batch_undoes_what_one_batch_did(assignment: Assignment) -> None:
    save(assignment, change(2, -1), fill(4, 2))
    save(assignment, change(2, 1, version=1))

    answer = save(assignment, change(2, -1, version=2), fill(4, 2, version=2))

    assert statuses(answer) == ["saved", "saved"]
    assert [one["value"] for one in answer["labels"]] == [-1, -1, None, None]


def test_explicit_label_is_never_changed_by_the_rule(assignment: Assignment) -> None:
    save(assignment, change(2, -1), change(4, 0), change(6, -1), change(8, 1))

    answer = save(assignment, change(2, None, version=1))

    assert [one["value"] for one in answer["labels"]] == [None, 0, -1, 1]
    assert shown(answer, 6)["root"] == 6


def test_user_turn_suspends_a_run_where_the_subset_says_so(cast: Cast) -> None:
    record = people.make_record(steps=3)
    record["messages"].insert(4, {"role": "user", "content": "And now?"})
    (trajectory,) = people.import_records(cast.project, [record])
    projects.update_subset(actor=cast.admin, subset=trajectory.subset, suspend_on_user_turn=True)
    assignment = people.claim(cast.ann, cast.project)

    answer = save(assignment, change(2, -1), fill(5, 2))

    assert statuses(answer) == ["saved", "refused"]


def test_plus_one_is_carried_forward_only_where_the_project_says_so(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    assignment = people.claim(cast.ann, cast.project)
    confirmed = change(4, 1, source="propagated")
    assert statuses(save(assignment, change(2, 1), confirmed)) == ["saved", "refused"]

    projects.update_project(actor=cast.admin, project=cast.project, values={"carry_forward": True})

    assert statuses(save(assignment, confirmed)) == ["saved"]
