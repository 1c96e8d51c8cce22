"""Confirming −1 for the options of a question that are not the right one, and what becomes of it."""

from __future__ import annotations

import json

import pytest

from annotation.core.releases.exports.asked import asked_question
from annotation.models import Label, Trajectory
from annotation.services import adjudicate, assign, label
from annotation.services.label.rows import read
from annotation.services.release.verify import decompressed
from tests import people
from tests.fixtures.judges_first import CHOICE, import_keyed
from tests.people import change
from tests.services.publishing import freeze
from tests.services.saving import fill, save, statuses

pytestmark = pytest.mark.django_db


def claimed(**asked):
    cast = people.make_cast(kind="decisions")
    (item,) = import_keyed(cast.project, 1, **asked)
    return assign.claim_this(actor=cast.ann, trajectory=item), people.step_indexes(item)


def stored(assignment):
    rows = Label.objects.filter(assignment=assignment).order_by("step__message_index")
    return list(rows.values_list("value", "source", "root__message_index"))


@pytest.mark.postgres
def test_others_are_confirmed_once_an_option_is_right_wherever_it_stands():
    mine, (one, two, three) = claimed(asked=CHOICE)
    assert statuses(save(mine, fill(one, one))) == ["refused"]
    assert statuses(save(mine, change(two, 1))) == ["saved"]
    assert statuses(save(mine, fill(one, two))) == ["refused"]

    assert statuses(save(mine, fill(one, one), fill(three, three))) == ["saved", "saved"]

    assert stored(mine) == [(-1, "propagated", one), (1, "explicit", None), (-1, "propagated", three)]


def test_fills_vanish_with_their_ground_and_an_undo_brings_all_back_in_one_batch():
    mine, (one, two, three) = claimed(asked=CHOICE)
    save(mine, change(three, 1), fill(one, one), fill(two, two))
    assert [value for value, *_ in stored(mine)] == [-1, -1, 1]

    moved = save(mine, change(three, 0, version=1))
    assert statuses(moved) == ["saved"]
    assert stored(mine) == [(None, "", None), (None, "", None), (0, "explicit", None)]

    # the one that is right comes last in the batch
    again = save(mine, fill(one, one, version=2), fill(two, two, version=2), change(three, 1, version=2))
    assert statuses(again) == ["saved"] * 3
    # it moves to another option: the fills stay, though the old one is given up first
    save(mine, change(one, 1, version=3), change(three, -1, version=3))
    assert [row[:2] for row in stored(mine)] == [(1, "explicit"), (-1, "propagated"), (-1, "explicit")]


def test_nothing_is_confirmed_in_a_pair():
    mine, (one, two, _three) = claimed()
    assert statuses(save(mine, change(two, 1), fill(one, one))) == ["saved", "refused"]
    assert read(assignment=mine.pk, annotator=mine.annotator_id, op_id="x").labels.keys() == {two}


def asked_of(cast):
    """The question of the one record of a release that is frozen now."""
    made = freeze(cast.project, f"1.{cast.project.releases.count()}")
    body = decompressed(bytes(made.records.get().body))
    assert body is not None
    return asked_question(json.loads(body))


def test_question_is_resolved_when_all_labels_agree_and_else_its_case_leaves_options_out():
    cast = people.make_cast(kind="decisions")
    agreed, disputed = import_keyed(cast.project, 2, asked=CHOICE)
    for item, values in ((agreed, (1, -1, -1)), (disputed, (1, 1, -1))):
        one, two, three = people.step_indexes(item)
        mine = assign.claim_this(actor=cast.ann, trajectory=item)
        save(mine, change(one, 1), fill(two, two), fill(three, three), change(None, 1))
        label.submit(actor=cast.ann, assignment=mine)
        other = assign.claim_this(actor=cast.ben, trajectory=item)
        people.label_all(other, list(values), outcome=1)
        label.submit(actor=cast.ben, assignment=other)
        item.refresh_from_db()
    assert (agreed.state, disputed.state) == ("unanimous", "disputed")
    right, *_wrong = agreed.content.parsed()["messages"][1:]
    question = asked_of(cast)
    assert [one.text for one in question.options if one.right] == [right["content"]]
    assert len(question.options) == 3

    Trajectory.objects.filter(pk=agreed.pk).update(live=False)
    case = people.open_case(cast.judith, disputed)
    adjudicate.decide(actor=cast.judith, adjudication=case, message_index=two, value=0)
    adjudicate.close_case(actor=cast.judith, adjudication=case)
    second = disputed.content.parsed()["messages"][two]["content"]
    question = asked_of(cast)
    assert len(question.options) == 2
    assert second not in {one.text for one in question.options}
