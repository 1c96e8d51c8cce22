"""The consensus beside one's own labels: shown where it tells nothing that must stay blind, and noted; with a
reason where it is not shown."""

from __future__ import annotations

import pytest

from annotation.core.errors import Denied
from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, Exposure, Trajectory, User
from annotation.policies import own_consensus as policy
from annotation.services import label, noted_reads
from tests import people
from tests.callers import Caller, signed_in
from tests.people import Cast
from tests.services.rechecking import relabel, resolved, retests_are_asked


def read(
    user: User, row: Trajectory, *, of: User | None = None
) -> noted_reads.own_consensus_report.OwnConsensus:
    turns = Assignment.stored.filter(trajectory=row, annotator=of or user)
    mine = turns.select_related("project", "trajectory").latest("pk")
    return noted_reads.own_consensus(actor=user, assignment=mine)


@pytest.fixture
def open_handed(cast: Cast) -> Cast:
    """A project in which nobody is asked to label again."""
    retests_are_asked(cast.project, 0)
    return cast


def test_consensus_stands_beside_own_labels_once_a_dispute_is_resolved(open_handed: Cast) -> None:
    cast = open_handed
    (row,) = people.import_records(cast.project, 1)
    people.make_disputed(cast)
    assert read(cast.ben, row).why_not == policy.NOTHING
    people.make_adjudicated(cast, row)
    assert not Exposure.objects.filter(user=cast.ben).exists()

    found = read(cast.ben, row)

    assert [(line.number, line.own, line.consensus, line.kind) for line in found.lines] == [
        (1, -1, 1, "adjudicated"),
        (2, -1, 1, "adjudicated"),
        (None, -1, 1, "adjudicated"),
    ]
    seen = Exposure.objects.get(user=cast.ben)
    assert (seen.trajectory, seen.kind) == (row, ExposureKind.CONSENSUS)


@pytest.mark.parametrize("submitted", [False, True])
def test_consensus_of_what_is_not_settled_is_not_told(open_handed: Cast, submitted: bool) -> None:
    (row,) = people.import_records(open_handed.project, 1)
    mine = people.claim(open_handed.ann, open_handed.project)
    if submitted:
        people.label_all(mine)
        label.submit(actor=open_handed.ann, assignment=mine)

    found = read(open_handed.ann, row)

    assert (found.why_not, found.lines) == (policy.NOTHING if submitted else policy.UNFINISHED, ())
    assert not Exposure.objects.exists()


def test_consensus_waits_for_the_other_runs_of_the_task(open_handed: Cast) -> None:
    records = [people.make_record(0, sample) for sample in (0, 1)]
    row, other = people.import_records(open_handed.project, records)
    people.make_unanimous(open_handed)
    assert read(open_handed.ann, row).why_not == policy.SAME_TASK

    people.make_unanimous(open_handed)

    assert [len(read(open_handed.ann, one).lines) for one in (row, other)] == [3, 3]


def test_consensus_is_shown_of_nothing_while_annotators_are_asked_again(retest: Cast) -> None:
    (row,) = resolved(retest)
    assert read(retest.ann, row).why_not == policy.RETESTS
    again = people.claim(retest.ann, retest.project)
    retests_are_asked(retest.project, 0)

    assert again.recheck_id is not None
    assert read(retest.ben, row).lines
    assert read(retest.ann, row).why_not == policy.UNFINISHED
    people.label_all(again)
    label.submit(actor=retest.ann, assignment=again)
    assert read(retest.ann, row).why_not == policy.NOTHING


def test_consensus_does_not_tell_the_third_person_that_it_was_a_recheck(third: Cast) -> None:
    retests_are_asked(third.project, 0)
    (row,) = resolved(third)
    relabel(third.cleo, third.project)

    assert read(third.cleo, row).why_not == policy.NOTHING
    assert read(third.ann, row).lines


def test_consensus_is_read_by_the_page_and_the_api_and_by_nobody_else(open_handed: Cast) -> None:
    cast = open_handed
    (row,) = people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    mine = Assignment.objects.get(trajectory=row, annotator=cast.ann)
    page, api = f"/assignments/{mine.pk}/consensus/", f"/assignments/{mine.pk}/consensus/"

    assert signed_in(cast.ann).get(page).content.decode().count("unanimous") == 3
    lines = Caller(cast.ann).get(api).json()
    assert lines["why_not"] == "" and [line["consensus"] for line in lines["lines"]] == [1, 1, 1]
    for other in (cast.ben, cast.judith, cast.admin):
        assert signed_in(other).get(page).status_code in (403, 404)
        assert Caller(other).get(api).status_code == 404
    with pytest.raises(Denied):
        read(cast.ben, row, of=cast.ann)
    retests_are_asked(cast.project, 5)
    assert "asks annotators to label some" in signed_in(cast.ann).get(page).content.decode()
