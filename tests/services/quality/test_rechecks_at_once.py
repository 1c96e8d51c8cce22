"""Many people claim at the same time while there are rechecks; real threads on the real database."""

from __future__ import annotations

import pytest

from annotation.core.vocabulary import RESOLVED
from annotation.models import Assignment, Recheck, Trajectory
from annotation.services import rechecks
from tests import people
from tests.services.rechecking import a_while_ago, everything_is_rechecked
from tests.services.together import annotators, refused, together, until_nothing_is_left

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_claim_of_8_people_at_once_gives_every_recheck_once_and_every_place_of_the_queue() -> None:
    """Everything resolved is rechecked by a third person and by both of its annotators; nobody who labelled
    a trajectory is its third, nobody gets one twice, and the queue is emptied all the same."""
    cast = people.make_cast()
    everybody = [cast.ann, cast.ben, cast.cleo, *annotators(cast.project, 5)]
    everything_is_rechecked(cast.project, third=100, retest=100)
    people.import_records(cast.project, 4)
    people.make_unanimous(cast, 4)
    a_while_ago(cast.project)
    rechecks.sweep()
    fresh = people.import_records(cast.project, 4, subset="more")
    assert Recheck.objects.filter(kind="third").count() == 4 and Recheck.objects.count() == 12

    results = together(*(until_nothing_is_left(user, cast.project) for user in everybody))

    assert refused(results) == []
    held = list(Assignment.stored.filter(state="open").select_related("recheck", "trajectory"))
    third = [one for one in held if one.recheck and one.recheck.kind == "third"]
    again = [one for one in held if one.recheck and one.recheck.kind == "retest"]
    assert len({one.recheck_id for one in (*third, *again)}) == len(third) + len(again) == 12
    assert Recheck.objects.exclude(state="claimed").count() == 0
    labelled = {*Assignment.objects.filter(state="submitted").values_list("trajectory", "annotator")}
    assert not {(one.trajectory_id, one.annotator_id) for one in third} & labelled
    assert {(one.trajectory_id, one.annotator_id) for one in again} == labelled
    assert not [one for one in third if one.slot is not None or one.trajectory.state not in RESOLVED]
    # nobody starves: each place of the queue is taken too, by two different people
    of_queue = {*Assignment.objects.filter(state="open").values_list("trajectory", "annotator")}
    assert len(of_queue) == 8 == len(fresh) * 2
    assert not Trajectory.objects.filter(free_slots__gt=0).exists()
    assert sum(results) == 20
