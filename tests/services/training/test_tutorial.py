"""The tutorial: served before the queue in its order, with feedback only on what has a label."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.models import Assignment, AuditEvent, Exposure, LabelEvent, Membership, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.training import tutorial as report
from annotation.reports.work.my_progress import own_work
from annotation.services import assign, label, training
from tests import people
from tests.people import Cast
from tests.services.keyed import KEYS, keyed_items, make_tutorial

pytestmark = pytest.mark.django_db


def _done(cast: Cast) -> bool:
    return Membership.objects.filter(
        project=cast.project, user=cast.ann, tutorial_done_at__isnull=False
    ).exists()


def test_tutorial_comes_before_the_queue_in_its_order(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    items = make_tutorial(cast.project)
    training.set_tutorial(actor=cast.admin, project=cast.project, trajectories=items[::-1])
    for at, item in enumerate(items[::-1]):
        assert report.progress(cast.ann, cast.project) == report.Progress(at, 2)
        claimed = people.claim(cast.ann, cast.project)
        assert claimed.trajectory == item
        # one item after the other, however often one asks for another
        assert people.claim(cast.ann, cast.project) == claimed
        people.label_all(claimed)
        assert not _done(cast)
        label.submit(actor=cast.ann, assignment=claimed)
    assert _done(cast)
    assert report.progress(cast.ann, cast.project) is None
    assert people.claim(cast.ann, cast.project).trajectory.live


def test_own_work_is_counted_by_state_and_the_tutorial_is_none_of_what_was_done(cast: Cast) -> None:
    rows = people.import_records(cast.project, 7)
    training.set_tutorial(
        actor=cast.admin, project=cast.project, trajectories=make_tutorial(cast.project)[:1]
    )
    ended = {"slot": None, "expiry_reason": "unused", "state": "expired"}
    changes: list[dict[str, Any]] = [
        *[{"state": "submitted", "submitted_at": timezone.now()}] * 2,
        {"slot": None, "state": "returned", "returned_at": timezone.now()},
        *({**ended, "returned_at": timezone.now() - timedelta(days=days)} for days in (1, 13, 15)),
        {"state": "open"},
    ]
    for row, change in zip(rows, changes, strict=True):
        mine = assign.claim_this(actor=cast.ann, trajectory=row)
        Assignment.objects.filter(pk=mine.pk).update(**change)
    people.label_next(cast.ann, cast.project)

    work = own_work(cast.ann, [cast.project.pk])[cast.project.pk]

    assert (work.open, work.submitted, work.returned, work.ended) == (1, 3, 4, 2)
    assert (work.done, work.total) == (2, 7)


def test_feedback_is_of_what_has_a_stored_label(cast: Cast) -> None:
    _right, item = make_tutorial(cast.project)
    training.set_tutorial(actor=cast.admin, project=cast.project, trajectories=[item])
    claimed = people.claim(cast.ann, cast.project)
    assert training.give_feedback(actor=cast.ann, assignment=claimed) == []
    assert not Exposure.objects.filter(user=cast.ann).exists()

    def save(index: int | None, value: int | None, version: int = 0) -> None:
        change = people.change(index, value, version=version)
        label.save_labels(actor=cast.ann, assignment=claimed, op_id=people.op_id(), changes=[change])

    save(4, 1)
    (told,) = training.give_feedback(actor=cast.ann, assignment=claimed)
    assert (told.message_index, told.first, told.key, told.right) == (4, 1, KEYS[1][1], False)
    assert Exposure.objects.filter(user=cast.ann, trajectory=item).exists()
    # changed afterwards: the history says on what the feedback was
    save(4, -1, 1)
    save(None, -1)
    told, outcome = training.give_feedback(actor=cast.ann, assignment=claimed)
    assert (told.first, told.right) == (1, False)
    assert (outcome.message_index, outcome.key, outcome.right) == (None, -1, True)
    assert report.feedback_given(actor=cast.ann, assignment=claimed) == [told, outcome]
    kinds = LabelEvent.stored.filter(assignment=claimed).order_by("pk").values_list("kind", "value")
    assert list(kinds) == [("save", 1), ("feedback", 1), ("save", -1), ("save", -1), ("feedback", -1)]


def test_feedback_is_nobody_elses_and_of_no_other_work(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    plain = people.claim(cast.ann, cast.project)
    with pytest.raises(Denied, match="tutorial only"):
        training.give_feedback(actor=cast.ann, assignment=plain)
    make_tutorial(cast.project)
    mine = people.claim(cast.ben, cast.project)
    for who in (cast.ann, cast.admin, cast.root):
        with pytest.raises(Denied):
            training.give_feedback(actor=who, assignment=mine)
        with pytest.raises(Denied):
            report.feedback_given(actor=who, assignment=mine)


def test_tutorial_item_given_back_is_taken_up_again(cast: Cast) -> None:
    make_tutorial(cast.project)
    claimed = people.claim(cast.ann, cast.project)
    people.label_all(claimed)
    training.give_feedback(actor=cast.ann, assignment=claimed)
    assign.return_assignment(actor=cast.ann, assignment=claimed, reason="Lunch.")
    again = people.claim(cast.ann, cast.project)
    assert again == claimed
    assert len(training.give_feedback(actor=cast.ann, assignment=again)) == 3


def test_skipping_is_for_admins_and_audited(cast: Cast) -> None:
    make_tutorial(cast.project)
    people.import_records(cast.project, 1)
    member = Membership.objects.get(project=cast.project, user=cast.ann)
    for who in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            training.skip_tutorial(actor=who, membership=member)
    assert training.skip_tutorial(actor=cast.admin, membership=member).tutorial_skipped
    training.skip_tutorial(actor=cast.admin, membership=member)
    assert AuditEvent.objects.filter(verb="tutorial.skip").count() == 1
    assert people.claim(cast.ann, cast.project).trajectory.live
    judge = Membership.objects.get(project=cast.project, user=cast.judith)
    with pytest.raises(Conflict, match="for annotators"):
        training.skip_tutorial(actor=cast.admin, membership=judge)


def test_tutorial_takes_keyed_training_trajectories_only(cast: Cast) -> None:
    (live,) = people.import_records(cast.project, 1)
    items = keyed_items(cast.project)

    def choose(*rows: Trajectory) -> None:
        training.set_tutorial(actor=OPERATOR, project=cast.project, trajectories=rows)

    with pytest.raises(Invalid, match="training subsets"):
        choose(live)
    with pytest.raises(Invalid, match="only once"):
        choose(items[0], items[0])
    items[0].key_labels.all().delete()
    with pytest.raises(Conflict, match="no whole key"):
        choose(*items)
    choose(*items[1:])
    assert [row.trajectory for row in report.items(cast.project)] == items[1:]
    choose()
    assert not report.items(cast.project).exists()
