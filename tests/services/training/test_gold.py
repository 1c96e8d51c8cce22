"""Gold: whom it is given to, what its annotator can do with it, and what it leaves alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import AssignmentState, ExpiryReason, ExposureKind, NoticeKind
from annotation.models import (
    Assignment,
    AuditEvent,
    Exposure,
    Label,
    Membership,
    Notice,
    Project,
    Recheck,
    Subset,
    Trajectory,
)
from annotation.policies.gold import gold_for
from annotation.reports.training import gold as report
from annotation.reports.work import my_progress, search
from annotation.services import assign, claim_expiry, exposures, label, projects, training
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast
from tests.services.gold_dealing import (
    golden,
    import_queue,
    is_gold,
    keyed,
    keyed_records,
    label_as,
    until_gold,
)
from tests.suggesting import suggest


def member(cast: Cast) -> Membership:
    return Membership.objects.get(project=cast.project, user=cast.ann)


def bound(cast: Cast, percent: int) -> None:
    Project.objects.filter(pk=cast.project.pk).update(gold_bound=percent)


# ── Whom it is given to ───────────────────
def test_gold_comes_at_the_set_rate_never_twice_and_never_as_the_last(cast: Cast) -> None:
    golden(cast, records=60, gold=6, percent=30)
    projects.update_project(actor=cast.admin, project=cast.project, values={"claim_limit": 100})
    claims = []
    with pytest.raises(Conflict, match="nothing left"):
        for _ in range(100):
            claims.append(assign.claim_next(actor=cast.ann, project=cast.project))

    gold = [one.trajectory_id for one in claims if is_gold(one)]
    assert len(claims) - len(gold) == 60 and not is_gold(claims[-1])
    assert len(set(gold)) == len(gold) >= 5


def test_gold_is_dealt_to_nobody_who_has_met_its_content(cast: Cast) -> None:
    made = golden(cast, gold=3)
    other = Subset.objects.create(project=cast.project, name="other", created_at=timezone.now())
    people.import_records(
        cast.project, [people.make_record(query) for query in range(900, 940)], subset="other"
    )
    again = training.make_gold(
        actor=cast.admin, project=cast.project, trajectories=[made[0].copy_of], subset=other
    )
    assert len(again.done) == 1 and gold_for(cast.ann, cast.project).count() == 4

    exposures.expose(user=cast.ann, trajectory=made[0], kind=ExposureKind.CONSENSUS)
    assert {row.pk for row in gold_for(cast.ann, cast.project)} == {made[1].pk, made[2].pk}
    given = until_gold(cast.ann, cast.project)
    assert given.trajectory_id not in {row.pk for row in gold_for(cast.ann, cast.project)}
    assert gold_for(cast.ben, cast.project).count() == 4


def test_gold_is_dealt_to_no_admin_nor_superuser(cast: Cast) -> None:
    golden(cast, gold=1)
    row = Membership.objects.get(project=cast.project, user=cast.ben)
    projects.set_roles(actor=cast.admin, membership=row, is_annotator=True, is_admin=True)
    people.make_member(cast.project, cast.root, "annotator")

    assert gold_for(cast.ann, cast.project).exists()
    assert not gold_for(cast.ben, cast.project).exists()
    assert not gold_for(cast.root, cast.project).exists()


def test_gold_without_what_judges_say_of_its_neighbours_is_not_dealt_where_it_is_shown(cast: Cast) -> None:
    made = golden(cast, gold=1)
    judge = make_imported_judge(cast.project)
    live = cast.project.trajectories.filter(live=True).first()
    assert live is not None
    suggest(judge, live)
    assert not gold_for(cast.ann, cast.project).exists()

    suggest(judge, made[0])
    assert gold_for(cast.ann, cast.project).exists()


def test_gold_is_refused_where_it_would_be_told_or_could_not_be_marked(cast: Cast) -> None:
    (item, other) = keyed(cast.project, keyed_records([500, 501]))
    import_queue(cast.project, 60)

    def make(name: str = "tiny") -> object:
        subset = Subset.objects.get(project=cast.project, name=name)
        found = training.make_gold(
            actor=cast.admin, project=cast.project, trajectories=[item, other], subset=subset
        )
        return [(row.record_id, error.code) for row, error in found.refused]

    with pytest.raises(Invalid, match="Choose a subset whose trajectories are labelled"):
        make("keys")
    other.key_labels.all().delete()
    assert make() == [("tiny:501:0", "no_key")]
    assert make() == [("tiny:500:0", "there_already"), ("tiny:501:0", "no_key")]

    people.import_records(cast.project, 1, subset="lonely")
    assert make("lonely") == [("tiny:500:0", "no_room"), ("tiny:501:0", "no_key")]


def test_gold_that_is_taken_out_is_dealt_no_more_and_kept_by_who_has_it(cast: Cast) -> None:
    made = golden(cast, gold=2)
    given = until_gold(cast.ann, cast.project)

    assert training.remove_gold(actor=cast.admin, project=cast.project, trajectories=made) == 2
    assert not gold_for(cast.ben, cast.project).exists()
    assert label_as(given).state == AssignmentState.SUBMITTED
    with pytest.raises(Denied):
        training.remove_gold(actor=cast.ann, project=cast.project, trajectories=made)


def test_ids_of_gold_rise_with_its_records_as_those_beside_it_do(cast: Cast) -> None:
    made = golden(cast, records=60, gold=6)
    live = Trajectory.objects.filter(project=cast.project, subset__name="tiny", live=True)
    for row in made:
        before = live.filter(query_index__lt=row.query_index).count()
        # the nearest free id: half of all are free, and so far there is one but for one time in 30,000
        assert abs(before - live.filter(pk__lt=row.pk).count()) <= 16


# ── What its annotator can do with it ─────
@pytest.mark.postgres
def test_gold_can_be_returned_resumed_expired_reopened_found_and_counted_as_any_other(cast: Cast) -> None:
    golden(cast)
    given = until_gold(cast.ann, cast.project)
    assign.return_assignment(actor=cast.ann, assignment=given, reason="Not now.")
    assign.resume_assignment(actor=cast.ann, assignment=given)
    claim_expiry.expire(
        actor=cast.admin,
        claims=claim_expiry.lock_claims(Assignment.stored.filter(pk=given.pk)),
        because=ExpiryReason.TAKEN_BACK,
    )
    given = assign.resume_assignment(actor=cast.ann, assignment=given)
    people.label_all(given, note="canary")
    done = my_progress.own_work(cast.ann, [cast.project.pk])[cast.project.pk].done
    given = label.submit(actor=cast.ann, assignment=given)
    assert my_progress.own_work(cast.ann, [cast.project.pk])[cast.project.pk].done == done + 1
    found = search.search(actor=cast.ann, project=cast.project, words="canary", reasons={})
    assert {row.trajectory for row in found} == {given.trajectory_id}
    assert label.reopen(actor=cast.ann, assignment=given).state == AssignmentState.OPEN


def test_gold_can_be_reopened_as_long_as_what_its_annotator_submitted_before_it(cast: Cast) -> None:
    golden(cast)
    before = people.label_next(cast.ann, cast.project)
    while is_gold(before):
        before = people.label_next(cast.ann, cast.project)
    gold = label_as(until_gold(cast.ann, cast.project))
    label.reopen(actor=cast.ann, assignment=gold)
    label.submit(actor=cast.ann, assignment=gold)
    turn = assign.claim_this(actor=cast.ben, trajectory=before.trajectory)
    people.label_all(turn)
    label.submit(actor=cast.ben, assignment=turn)

    for one in (before, gold):
        with pytest.raises(Conflict, match="can no longer be reopened"):
            label.reopen(actor=cast.ann, assignment=one)


# ── Marks, pauses ─────────────────────────
def marked(cast: Cast, how_many: int, *, right: bool) -> None:
    """So much gold of ann, and the sweep after her next few submissions."""
    for _ in range(how_many):
        label_as(until_gold(cast.ann, cast.project), right=right)
    training.sweep(now=timezone.now() + timedelta(days=2))


def test_gold_is_marked_some_submissions_later_and_anew_when_it_is_labelled_again(cast: Cast) -> None:
    golden(cast)
    gold = label_as(until_gold(cast.ann, cast.project), right=False)
    assert training.sweep() == 0
    for one in Assignment.objects.filter(annotator=cast.ann, state=AssignmentState.OPEN)[:4]:
        people.label_all(one)
        label.submit(actor=cast.ann, assignment=one)
    while Assignment.objects.filter(annotator=cast.ann, state=AssignmentState.SUBMITTED).count() < 4:
        label_as(people.claim(cast.ann, cast.project))
    assert training.sweep() >= 1
    row = Recheck.objects.get(pk=gold.recheck_id)
    assert (row.keyed, row.agreed) == (3, 0)

    label.reopen(actor=cast.ann, assignment=gold)
    row.refresh_from_db()
    assert row.agreed is None


def test_who_has_labelled_gold_is_given_its_original_no_more_once_it_is_marked(cast: Cast) -> None:
    golden(cast)
    mine = label_as(until_gold(cast.ann, cast.project))

    def labelled() -> list[int]:
        rows = Exposure.objects.filter(user=cast.ann, kind=ExposureKind.LABEL)
        return list(rows.values_list("trajectory", flat=True))

    assert labelled() == []
    training.sweep(now=timezone.now() + timedelta(days=2))
    assert labelled() == [mine.trajectory.copy_of_id]


@pytest.mark.postgres
def test_a_pause_gives_nothing_new_keeps_work_and_is_told_to_admins(cast: Cast) -> None:
    golden(cast, records=60, gold=6)
    bound(cast, 90)
    marked(cast, 5, right=False)
    row = member(cast)
    assert row.pause_reason == "gold" and AuditEvent.objects.filter(verb="member.pause").count() == 1
    assert Notice.objects.get(kind=NoticeKind.PAUSED).user == cast.admin

    with pytest.raises(Conflict, match="nothing new") as refused:
        assign.claim_next(actor=cast.ann, project=cast.project)
    assert refused.value.code == "paused"
    mine = assign.unfinished(cast.ann, cast.project).first()
    assert mine is not None and label_as(mine).state == AssignmentState.SUBMITTED

    (figures,) = [
        one for one in report.annotators_on_gold(actor=cast.admin, project=cast.project) if one.given
    ]
    assert figures.accuracy.value == 0.0 and figures.accuracy.high < 0.9 and figures.last_good is None
    training.resume(actor=cast.admin, membership=row)
    assert assign.claim_next(actor=cast.ann, project=cast.project)
    assert report.running_accuracy(member(cast)).trajectories == 0
    assert Notice.objects.get(kind=NoticeKind.RESUMED).user == cast.ann


def test_who_is_right_is_not_paused_and_an_admin_pauses_by_hand(cast: Cast) -> None:
    golden(cast, records=60, gold=6)
    bound(cast, 90)
    marked(cast, 5, right=True)
    assert member(cast).paused_at is None and report.running_accuracy(member(cast)).value == 1.0
    (figures,) = [
        one for one in report.annotators_on_gold(actor=cast.admin, project=cast.project) if one.given
    ]
    assert figures.last_good is not None

    with pytest.raises(Denied):
        training.pause(actor=cast.ben, membership=member(cast))
    training.pause(actor=cast.admin, membership=member(cast))
    with pytest.raises(Conflict, match="nothing new"):
        people.claim(cast.ann, cast.project)


def test_gold_adds_no_label_to_what_is_counted(cast: Cast) -> None:
    golden(cast)
    gold = label_as(until_gold(cast.ann, cast.project))

    assert not Label.objects.filter(assignment=gold).exists()
    assert Label.stored.filter(assignment=gold).count() == 2
