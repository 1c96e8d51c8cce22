"""Pilots: everybody labels the same few first, and the queue opens when they agree."""

from __future__ import annotations

import pytest

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.training.pilot_alpha import pilot_alpha
from annotation.core.vocabulary import NoticeKind, RecheckKind
from annotation.models import Assignment, Label, Notice, Pilot, Recheck, Subset, User
from annotation.reports.training.pilots import pilot_progress, pilot_shown
from annotation.services import assign, label, projects, training
from tests import people
from tests.people import Cast
from tests.services.gold_dealing import keyed

STEPS = 6


def begun(cast: Cast, *, bound: float = 0.5, items: int = 2, new_guidelines: bool = False) -> Pilot:
    """A running pilot of records without a key, and a queue of one."""
    people.import_records(cast.project, 1)
    keyed(cast.project, [people.make_record(query, steps=STEPS) for query in range(700, 700 + items)])
    subset = Subset.objects.get(project=cast.project, name="keys")
    return training.begin_pilot(
        actor=cast.admin, project=cast.project, subset=subset, bound=bound, new_guidelines=new_guidelines
    )


def labelled(user: User, pilot: Pilot, *values: list[int]) -> None:
    """The trajectories of a pilot as somebody labels them, in order."""
    for own in values:
        claimed = assign.claim_next(actor=user, project=pilot.project)
        assert claimed.recheck is not None and claimed.recheck.kind == RecheckKind.PILOT
        people.label_all(claimed, own)
        label.submit(actor=user, assignment=claimed)


A, B = [1, 1, -1, -1, 0, 1], [1, -1, -1, 1, 0, 1]


@pytest.mark.postgres
def test_a_pilot_stands_before_the_queue_of_everybody_until_they_agree(cast: Cast) -> None:
    pilot = begun(cast)
    for user in (cast.ann, cast.ben):
        labelled(user, pilot, A, B)
    with pytest.raises(Conflict, match="A pilot is running") as refused:
        people.claim(cast.ann, cast.project)
    assert refused.value.code == "pilot" and training.sweep_pilots() == 0

    labelled(cast.cleo, pilot, A, B)
    assert pilot_progress(pilot).alpha.value == 1.0
    assert training.sweep_pilots() == 1 and training.sweep_pilots() == 0
    pilot.refresh_from_db()
    assert (pilot.state, pilot.alpha) == ("passed", 1.0)
    assert people.claim(cast.ann, cast.project).recheck_id is None
    assert Notice.objects.filter(kind=NoticeKind.PILOT_ENDED).count() == 3
    assert not Label.objects.filter(assignment__project=cast.project).exists()


def test_a_pilot_below_its_bound_waits_for_an_admin_and_says_where_people_differ(cast: Cast) -> None:
    pilot = begun(cast, bound=0.9)
    for user, values in ((cast.ann, (A, B)), (cast.ben, (A, A)), (cast.cleo, (B, B))):
        labelled(user, pilot, *values)
    assert training.sweep_pilots() == 0
    found = pilot_shown(actor=cast.admin, pilot=pilot)
    assert found.alpha.value is not None and found.alpha.value < 0.9
    assert {(one.number, one.votes) for one in found.differing} == {
        (2, (("ann", 1), ("ben", 1), ("cleo", -1))),
        (4, (("ann", -1), ("ben", -1), ("cleo", 1))),
        (2, (("ann", -1), ("ben", 1), ("cleo", -1))),
        (4, (("ann", 1), ("ben", -1), ("cleo", 1))),
    }

    with pytest.raises(Denied):
        training.stop_pilot(actor=cast.ann, pilot=pilot)
    assert training.stop_pilot(actor=cast.admin, pilot=pilot).state == "stopped"
    assert people.claim(cast.ann, cast.project).recheck_id is None


def test_a_pilot_asks_who_joins_later_and_waits_for_revised_guidelines(cast: Cast) -> None:
    pilot = begun(cast, new_guidelines=True)
    for user in (cast.ann, cast.ben, cast.cleo):
        labelled(user, pilot, A, B)
    assert training.sweep_pilots() == 0
    people.make_member(cast.project, cast.oscar, "annotator")
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="Judge each step anew.")
    assert training.sweep_pilots() == 0

    labelled(cast.oscar, pilot, A, B)
    assert training.sweep_pilots() == 1


def test_what_is_returned_of_a_pilot_is_resumed(cast: Cast) -> None:
    pilot = begun(cast, items=1)
    claimed = people.claim(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=claimed, reason="Later.")
    with pytest.raises(Conflict, match="under My work"):
        people.claim(cast.ann, cast.project)

    assert assign.resume_assignment(actor=cast.ann, assignment=claimed).state == "open"
    training.stop_pilot(actor=cast.admin, pilot=pilot)
    assert not Recheck.objects.filter(kind=RecheckKind.PILOT, state="waiting").exists()
    assert Assignment.stored.filter(annotator=cast.ann).count() == 1


def test_an_admin_who_labels_reads_no_labels_of_a_pilot_before_their_own(cast: Cast) -> None:
    projects.set_roles(
        actor=cast.admin,
        membership=cast.project.memberships.get(user=cast.cleo),
        is_annotator=True,
        is_admin=True,
    )
    pilot = begun(cast, items=1)
    labelled(cast.ann, pilot, A)
    labelled(cast.ben, pilot, B)
    shown = pilot_shown(actor=cast.cleo, pilot=pilot)
    assert shown.blind and shown.differing == ()
    assert pilot_shown(actor=cast.admin, pilot=pilot).differing


def test_pilots_that_cannot_be_are_refused(cast: Cast) -> None:
    pilot = begun(cast)
    for subset, bound, refusal in (
        (pilot.subset, 0.5, Conflict),
        (Subset.objects.get(name="tiny"), 0.5, Invalid),
        (pilot.subset, 1.0, Invalid),
        (pilot.subset, float("nan"), Invalid),
    ):
        with pytest.raises(refusal):
            training.begin_pilot(actor=cast.admin, project=cast.project, subset=subset, bound=bound)
    training.stop_pilot(actor=cast.admin, pilot=pilot)
    with pytest.raises(Invalid, match="has been in a pilot before"):
        training.begin_pilot(actor=cast.admin, project=cast.project, subset=pilot.subset, bound=0.5)


def test_the_alpha_of_a_pilot_is_krippendorffs_with_an_interval_from_five_trajectories_on() -> None:
    # by hand: n = 14 labels with a second one, of +1, 0, −1: 8, 3, 3; 4 coincidences of different ones
    one = [[1, 1, 1], [-1, -1, 0], [1, 1, 1], [0, 0], [1, -1, 1]]
    assert pilot_alpha({}).value is None and pilot_alpha({1: [[1, 1]]}).value is None
    found = pilot_alpha({1: one})
    assert (
        found.value == pytest.approx(1 - 13 * 4 / (14**2 - 8**2 - 3**2 - 3**2)) and found.interval is not None
    )
    assert found.interval.low is None
    several = pilot_alpha({pk: one[: 2 + pk] for pk in range(6)})
    assert several.interval is not None and several.value is not None
    assert several.interval.low is not None and several.interval.high is not None
    assert several.interval.low <= several.value <= several.interval.high
