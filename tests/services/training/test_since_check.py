"""A second look at what somebody submitted since their last good gold: what that is, waiting, marks, and what
it leaves alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Denied
from annotation.core.vocabulary import AssignmentState, NoticeKind, RecheckKind, RecheckState, TrajectoryState
from annotation.models import (
    Assignment,
    AuditedTrajectory,
    Consensus,
    Label,
    Membership,
    Notice,
    Recheck,
    RelabelRequest,
    ReleaseRecord,
    User,
)
from annotation.policies import OPERATOR
from annotation.reports.quality import since_check as report
from annotation.reports.quality.look_again import waiting
from annotation.reports.training.gold import running_accuracy
from annotation.services import assign, label, label_audits, rechecks, release, training
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.gold_dealing import KEY, golden, is_gold, label_as
from tests.services.rechecking import claim_as_reader, relabel, resolved, retests_are_asked

LATER = timedelta(days=2)


def member(cast: Cast, user: User | None = None) -> Membership:
    rows = Membership.objects.select_related("project", "user")
    return rows.get(project=cast.project, user=user or cast.ann)


def work(cast: Cast, turns: int, *, right: bool) -> None:
    """So many turns of ann at whatever comes, as in the key or not, and the sweep once it is due."""
    for _ in range(turns):
        label_as(people.claim(cast.ann, cast.project), right=right)
    training.sweep(now=timezone.now() + LATER)


@shared_rows
def strayed(cast: Cast) -> Cast:
    """Ann was right in her first twenty turns, and wrong in her next twenty, and an admin has paused her."""
    golden(cast, records=60, gold=20)
    work(cast, 20, right=True)
    work(cast, 20, right=False)
    training.pause(actor=cast.admin, membership=member(cast))
    return cast


def found(cast: Cast, user: User | None = None) -> report.SinceCheck:
    return report.since_check(actor=cast.admin, membership=member(cast, user))


def queue(cast: Cast, user: User | None = None) -> int:
    """Queue what can be; how much that is."""
    ready = len(found(cast, user).preview.ready)
    label.queue_since_check(actor=cast.admin, membership=member(cast, user), expected=ready)
    return ready


def mine(cast: Cast) -> list[Assignment]:
    rows = Assignment.stored.filter(annotator=cast.ann, state=AssignmentState.SUBMITTED)
    return list(rows.select_related("recheck", "project", "trajectory").order_by("submitted_at"))


def look(again: Assignment, *, right: bool = True) -> Assignment:
    """Begin another look, label as in the key or not, and submit."""
    label.look_again(actor=again.annotator, assignment=again)
    return submit_anew(again, right=right)


def submit_anew(again: Assignment, *, right: bool) -> Assignment:
    """Label what has labels already as in the key or not, and submit it."""
    values = KEY if right else [-value for value in KEY]
    labels = Label.stored.filter(assignment=again).select_related("step").order_by("step__ordinal")
    changes = [
        people.change(row.step.message_index, value, version=row.version)
        for row, value in zip(labels, values, strict=True)
    ]
    label.save_labels(actor=again.annotator, assignment=again, op_id=people.op_id(), changes=changes)
    return label.submit(actor=again.annotator, assignment=again)


@pytest.mark.postgres
def test_all_since_the_last_good_gold_and_some_before_it_is_queued_and_waits_for_the_pause_to_end(
    strayed: Cast,
) -> None:
    good = [one for one in mine(strayed)[:20] if is_gold(one)][-1]
    there = found(strayed)
    assert (
        there.last_good == good.submitted_at and there.since is not None and there.since <= good.submitted_at
    )
    rows = [one for one in mine(strayed) if one.submitted_at and one.submitted_at >= there.since]
    assert set(there.preview.ready) == set(rows) and good in rows and len(rows) < 40
    assert there.hidden == sum(map(is_gold, rows)) > 1 and not there.resolved and not there.refusal

    for actor in (strayed.ann, strayed.judith, strayed.oscar):
        with pytest.raises(Denied):
            label.queue_since_check(actor=actor, membership=member(strayed), expected=len(rows))
    assert queue(strayed) == len(rows)
    with pytest.raises(Conflict, match="is queued already") as twice:
        queue(strayed)
    assert twice.value.code == "nothing" and RelabelRequest.objects.count() == len(rows)

    assert not Notice.objects.filter(user=strayed.ann).exists()
    assert not waiting(actor=strayed.ann, project=strayed.project)
    with pytest.raises(Conflict) as paused:
        label.look_again(actor=strayed.ann, assignment=good)
    assert paused.value.code == "paused"
    training.resume(actor=strayed.admin, membership=member(strayed))
    assert {*Notice.objects.filter(user=strayed.ann).values_list("kind", flat=True)} == {
        NoticeKind.RESUMED,
        NoticeKind.LOOK_AGAIN,
    }
    asked = [one.assignment_id for one in waiting(actor=strayed.ann, project=strayed.project)]
    assert asked == sorted(one.pk for one in rows)


def test_a_second_look_at_gold_is_not_marked_and_its_first_mark_stays(strayed: Cast) -> None:
    late = next(one for one in reversed(mine(strayed)) if is_gold(one))
    Recheck.objects.filter(pk=late.recheck_id).update(keyed=None, agreed=None, answered_at=None)
    queue(strayed)
    marks = dict(Recheck.objects.filter(kind="gold", state="done").values_list("pk", "agreed"))
    assert marks[late.recheck_id or 0] == 0

    training.resume(actor=strayed.admin, membership=member(strayed))
    again = look(late)
    assert again.submitted_at and member(strayed).gold_since < again.submitted_at  # type: ignore[operator]
    label.reopen(actor=strayed.ann, assignment=look(next(one for one in mine(strayed)[-8:] if one != late)))
    assert training.sweep(now=timezone.now() + LATER) == 0
    assert (
        dict(Recheck.objects.filter(kind="gold", agreed__isnull=False).values_list("pk", "agreed")) == marks
    )
    assert running_accuracy(member(strayed)).trajectories == 0


def test_what_was_looked_at_is_asked_for_once_and_what_was_taken_back_can_be_again(strayed: Cast) -> None:
    n = queue(strayed)
    training.resume(actor=strayed.admin, membership=member(strayed))
    first = waiting(actor=strayed.ann, project=strayed.project)[0]
    look(first.assignment)
    assert label.unqueue(actor=strayed.admin, project=strayed.project, batch=first.batch) == n - 1
    with pytest.raises(Conflict) as begun:
        label.unqueue(actor=strayed.admin, project=strayed.project, batch=first.batch)
    assert begun.value.code == "nothing"

    left = found(strayed).preview
    assert first.assignment not in left.ready and left.left_out.get("looked", 0) == 1
    work(strayed, 2, right=False)
    assert len(found(strayed).preview.ready) == len(left.ready) + 2


def test_each_case_of_nothing_says_why(cast: Cast) -> None:
    golden(cast)
    assert found(cast).refusal == report.NOTHING and found(cast).since is None
    work(cast, 4, right=False)
    there = found(cast)
    assert there.last_good is None and len(there.preview.ready) == 4
    with pytest.raises(Conflict) as other:
        label.queue_since_check(actor=cast.admin, membership=member(cast), expected=3)
    assert other.value.code == "changed"
    gone = member(cast)
    people.leave(cast.project, gone.user)
    with pytest.raises(Conflict, match="no annotator of this project any more"):
        label.queue_since_check(actor=cast.admin, membership=gone, expected=4)


def test_n_stays_n_and_what_a_release_holds_stays_and_keeps_the_gold_beside_it_out(strayed: Cast) -> None:
    ready = [one for one in found(strayed).preview.ready if one.recheck_id is None]
    were_right = mine(strayed)[:20]
    for one in ready:
        theirs = assign.claim_this(actor=strayed.ben, trajectory=one.trajectory)
        label_as(theirs, right=one in were_right)
    assert found(strayed).all_resolved
    queue(strayed)
    training.resume(actor=strayed.admin, membership=member(strayed))
    row = look(ready[-1]).trajectory
    row.refresh_from_db()
    assert row.state == TrajectoryState.DISPUTED
    assert Assignment.objects.filter(trajectory=row, state=AssignmentState.SUBMITTED).count() == 2

    release.freeze(actor=OPERATOR, project=strayed.project, version="1.0")
    records = list(ReleaseRecord.objects.order_by("pk").values_list("record_id", "sha256"))
    gold = next(one for one in mine(strayed)[-15:] if is_gold(one))
    for one in (ready[0], gold):
        with pytest.raises(Conflict) as frozen:
            label.look_again(actor=strayed.ann, assignment=one)
        assert frozen.value.code == "frozen"
    assert list(ReleaseRecord.objects.order_by("pk").values_list("record_id", "sha256")) == records
    RelabelRequest.objects.all().delete()
    held = found(strayed)
    assert not [one for one in held.preview.ready if one.trajectory_id != row.pk and one.recheck_id is None]
    assert held.preview.left_out["frozen"] > len(ready) - 1


# ── Rechecks ──────────────────────────────
def test_a_retest_is_looked_at_again_and_settles_nothing(cast: Cast) -> None:
    retests_are_asked(cast.project)
    (row,) = resolved(cast)
    done = relabel(cast.ann, cast.project)
    there = found(cast)
    # alone it would be told; with it, what it repeats is closed
    assert there.preview.left_out == {"away": 1, "alone": 1}
    people.import_records(cast.project, [people.make_record(300)])
    people.label_next(cast.ann, cast.project)
    assert {one.recheck_id is None for one in found(cast).preview.ready} == {True, False}

    queue(cast)
    look(done, right=False)
    row.refresh_from_db()
    assert row.state == TrajectoryState.UNANIMOUS and Consensus.objects.filter(trajectory=row).exists()
    assert Recheck.objects.get(pk=done.recheck_id).state == RecheckState.DONE


def test_a_reading_that_an_audit_has_compared_is_looked_at_again_and_the_audit_stays(cast: Cast) -> None:
    people.make_member(cast.project, cast.root, "annotator")
    (row,) = resolved(cast)
    cleo = claim_as_reader(cast.cleo, row)
    label_as(cleo)
    Recheck.objects.filter(trajectory=row, kind=RecheckKind.AUDIT.value, state="waiting").update(state="done")
    label_audits.sweep()
    AuditedTrajectory.objects.filter(trajectory=row).update(state="done", wrong=0, done_at=timezone.now())
    people.import_records(cast.project, [people.make_record(300)])
    people.label_next(cast.cleo, cast.project)

    assert queue(cast, cast.cleo) == 2
    label.look_again(actor=cast.cleo, assignment=cleo)
    assign.return_assignment(actor=cast.cleo, assignment=cleo, reason="Not now.")
    rechecks.sweep(now=timezone.now() + timedelta(days=30))
    reading = Recheck.objects.get(pk=cleo.recheck_id)
    assert (reading.state, reading.annotator) == (RecheckState.WAITING, cast.cleo)
    assign.resume_assignment(actor=cast.cleo, assignment=cleo)
    submit_anew(cleo, right=False)
    audited = AuditedTrajectory.objects.get(trajectory=row)
    assert (audited.state, audited.wrong) == ("done", 0)
