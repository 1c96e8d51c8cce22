"""Rechecks: whom they are given to, and what they leave alone; nobody can tell them."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.errors import Conflict, StaleState
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.vocabulary import RESOLVED, AssignmentState, ExposureKind, RecheckKind
from annotation.models import Assignment, Exposure, Label, Membership, Recheck, Stratum, Trajectory, User
from annotation.policies import OPERATOR, visible
from annotation.policies.rechecks import count_own_not_closed
from annotation.reports.agreement import report
from annotation.reports.cases import home
from annotation.reports.quality import annotators
from annotation.reports.work import board, my_progress, progress
from annotation.services import (
    assign,
    claim_expiry,
    exposures,
    label,
    label_audits,
    projects,
    rechecks,
    release,
)
from tests import callers, people
from tests.callers import signed_in
from tests.people import Cast
from tests.services.long_writes import import_labels
from tests.services.rechecking import (
    a_while_ago,
    asked,
    audit_everything,
    relabel,
    resolved,
    retests_are_asked,
    waiting,
)
from tests.services.together import annotators as together_annotators
from tests.services.together import refused, together, until_nothing_is_left


# ── Who is asked ──────────────────────────
def test_a_reader_is_one_who_has_not_labelled_it(third: Cast, third_due: Trajectory) -> None:
    assert asked() == [third.cleo]
    claimed = people.claim(third.cleo, third.project)

    assert (claimed.trajectory_id, claimed.slot) == (third_due.pk, None)
    for other in (third.ann, third.ben):
        with pytest.raises(Conflict):
            people.claim(other, third.project)


@pytest.mark.parametrize("kind", list(ExposureKind))
def test_a_reader_who_has_seen_anything_of_it_meanwhile_is_not_given_it(
    third: Cast, third_due: Trajectory, kind: ExposureKind
) -> None:
    exposures.expose(user=third.cleo, trajectory=third_due, kind=kind)

    with pytest.raises(Conflict):
        people.claim(third.cleo, third.project)

    rechecks.sweep(now=timezone.now() + timedelta(hours=2))
    assert asked() == []


@pytest.mark.postgres
def test_a_reader_who_does_not_come_is_followed_by_another(third: Cast, third_due: Trajectory) -> None:
    dora = people.make_user("dora")
    people.make_member(third.project, dora, "annotator")

    rechecks.sweep(now=timezone.now() + timedelta(days=6))
    assert set(asked()) == {third.cleo, dora}
    emil = people.make_user("emil")
    people.make_member(third.project, emil, "annotator")
    rechecks.sweep(now=timezone.now() + timedelta(days=8))

    assert set(asked()) == {emil, dora}


def test_a_reader_is_found_when_one_joins(third: Cast) -> None:
    people.leave(third.project, third.cleo)
    resolved(third)
    assert asked() == []
    people.make_member(third.project, third.oscar, "annotator")

    rechecks.sweep(now=timezone.now() + timedelta(hours=2))

    assert asked() == [third.oscar]


def test_an_adjudicator_of_a_trajectory_never_reads_it(cast: Cast) -> None:
    retests_are_asked(cast.project, 0)
    projects.set_roles(
        actor=cast.admin,
        membership=Membership.objects.get(user=cast.judith, project=cast.project),
        is_annotator=True,
        is_adjudicator=True,
        is_admin=False,
    )
    (row,) = people.import_records(cast.project, 1)
    people.make_disputed(cast)
    people.make_adjudicated(cast, row)
    rechecks.sweep()

    audit_everything(cast.project)

    assert asked() == [cast.cleo]
    assert Stratum.objects.get().origin == "adjudicated"


@pytest.mark.parametrize("role", ["is_adjudicator", "is_admin"])
def test_a_reading_goes_to_nobody_whose_role_tells_what_is_resolved(
    third: Cast, third_due: Trajectory, role: str
) -> None:
    assert asked() == [third.cleo]
    mine = Membership.objects.filter(user=third.cleo, project=third.project)
    mine.update(**{role: True})

    with pytest.raises(Conflict):
        people.claim(third.cleo, third.project)
    assert not home.queue_for(third.cleo, third.project).can_claim
    rechecks.sweep(now=timezone.now() + timedelta(hours=2))
    assert asked() == []

    mine.update(**{role: False})
    rechecks.sweep(now=timezone.now() + timedelta(hours=4))
    assert people.claim(third.cleo, third.project).recheck_id is not None


def test_a_retest_is_not_asked_of_admins_whose_lists_tell_what_is_resolved(retest: Cast) -> None:
    Membership.objects.filter(user=retest.ann).update(is_admin=True)
    resolved(retest)
    assert [one.annotator for one in waiting(RecheckKind.RETEST)] == [retest.ben]
    Membership.objects.filter(user=retest.ben).update(is_admin=True)

    with pytest.raises(Conflict):
        people.claim(retest.ben, retest.project)
    Membership.objects.filter(user=retest.ben).update(is_admin=False, is_adjudicator=True)
    assert people.claim(retest.ben, retest.project).recheck_id is not None


def test_a_retest_comes_to_the_same_annotator_after_a_week_and_not_before(
    retest: Cast, retest_due: Trajectory
) -> None:
    assert {one.annotator for one in waiting(RecheckKind.RETEST)} == {retest.ann, retest.ben}
    Recheck.objects.filter(annotator=retest.ben).update(due_at=timezone.now() + timedelta(minutes=1))

    again = people.claim(retest.ann, retest.project)

    assert (again.trajectory_id, again.annotator) == (retest_due.pk, retest.ann)
    assert not Label.stored.filter(assignment=again).exists()
    with pytest.raises(Conflict):
        people.claim(retest.ben, retest.project)


def test_a_retest_is_not_asked_of_who_has_seen_suggestions_for_it(retest: Cast) -> None:
    (row,) = people.import_records(retest.project, 1)
    people.make_unanimous(retest)
    exposures.expose(user=retest.ann, trajectory=row, kind=ExposureKind.SUGGESTION)

    rechecks.sweep()

    assert [one.annotator for one in waiting(RecheckKind.RETEST)] == [retest.ben]


def test_what_is_drawn_is_drawn_once_however_often_workers_look(third: Cast) -> None:
    resolved(third, 3)

    assert rechecks.sweep() == 0
    assert len(asked()) == 3
    assert [one.considered for one in Stratum.objects.all()] == [3]


def test_a_project_that_asks_for_none_has_none(cast: Cast) -> None:
    retests_are_asked(cast.project, 0)
    people.import_records(cast.project, 3)
    people.make_unanimous(cast, 3)

    rechecks.sweep()

    assert not Recheck.objects.exists()


# ── One's own work ────────────────────────
def test_rechecks_come_between_others_and_not_in_a_row(third: Cast) -> None:
    rows = people.import_records(third.project, 60)
    for who in ("ann", "ben"):
        import_labels(third, rows[:30], who)
    label_audits.begin_audit(actor=OPERATOR, project=third.project, wished=0.2, draws=6)
    waits = len(asked())

    kinds = [people.claim(third.cleo, third.project).recheck_id is not None for _ in range(30)]

    assert 4 <= waits <= 8
    assert 2 <= sum(kinds) <= waits
    assert not all(kinds[: sum(kinds)])


def test_rechecks_are_given_when_nothing_else_is_left_and_told_of_before(third: Cast) -> None:
    assert not home.queue_for(third.cleo, third.project).can_claim
    resolved(third, 2)

    assert home.queue_for(third.cleo, third.project).can_claim
    for _ in range(2):
        relabel(third.cleo, third.project)
    assert not home.queue_for(third.cleo, third.project).can_claim


def test_a_recheck_counts_for_the_claim_limit(third: Cast) -> None:
    resolved(third, 2)
    projects.update_project(actor=OPERATOR, project=third.project, values={"claim_limit": 1})
    people.claim(third.cleo, third.project)

    with pytest.raises(Conflict) as refusal:
        people.claim(third.cleo, third.project)

    assert refusal.value.code == "claim_limit"


@pytest.mark.postgres
def test_a_recheck_that_is_given_back_can_be_taken_up_and_is_not_offered_again(
    third: Cast, third_due: Trajectory
) -> None:
    claimed = people.claim(third.cleo, third.project)
    people.label_all(claimed, -1)
    free = third_due.free_slots

    assign.return_assignment(actor=third.cleo, assignment=claimed, reason="Later.")

    with pytest.raises(Conflict):
        people.claim(third.cleo, third.project)
    third_due.refresh_from_db()
    assert third_due.free_slots == free - 2  # both places taken, as before
    again = assign.resume_assignment(actor=third.cleo, assignment=claimed)
    assert (again.pk, again.state) == (claimed.pk, AssignmentState.OPEN)
    assert Label.stored.filter(assignment=again, value=-1).count() == 2


def test_a_recheck_that_is_given_back_goes_to_another_and_is_lost_to_the_first(
    third: Cast, third_due: Trajectory
) -> None:
    dora = people.make_user("dora")
    people.make_member(third.project, dora, "annotator")
    claimed = people.claim(third.cleo, third.project)
    assign.return_assignment(actor=third.cleo, assignment=claimed, reason="Later.")
    rechecks.sweep()

    people.claim(dora, third.project)

    with pytest.raises(StaleState) as refusal:
        assign.resume_assignment(actor=third.cleo, assignment=claimed)
    assert refusal.value.code == "no_free_slot"


def test_a_recheck_expires_with_its_annotators_membership(third: Cast, third_due: Trajectory) -> None:
    claimed = people.claim(third.cleo, third.project)
    people.leave(third.project, third.cleo)

    claimed.refresh_from_db()
    third_due.refresh_from_db()

    assert (claimed.state, claimed.expiry_reason) == ("expired", "left")
    assert third_due.free_slots == 0
    assert {one.state for one in Recheck.objects.all()} == {"waiting"}


@pytest.mark.postgres
def test_a_recheck_that_nobody_uses_expires_after_its_warning(third: Cast, third_due: Trajectory) -> None:
    claimed = people.claim(third.cleo, third.project)
    now = timezone.now()
    claim_expiry.sweep(now=now + timedelta(days=12))
    claim_expiry.sweep(now=now + timedelta(days=15, hours=1))

    claimed.refresh_from_db()

    assert (claimed.state, claimed.expiry_reason) == ("expired", "unused")


@pytest.mark.postgres
def test_a_recheck_can_be_taken_back_by_admins_who_do_not_see_what_it_is(
    third: Cast, third_due: Trajectory
) -> None:
    claimed = people.claim(third.cleo, third.project)
    page = signed_in(third.admin).get(f"/p/{third.project.slug}/claims/").content.decode()
    assert claimed.trajectory.record_id in page
    assert "recheck" not in page.casefold()

    assign.take_back(actor=third.admin, project=claimed.project, assignments=[claimed], reason="Holiday.")

    claimed.refresh_from_db()
    assert claimed.state == AssignmentState.EXPIRED


def test_a_retest_can_be_reopened_as_long_as_what_its_annotator_submitted_before_it(
    retest: Cast, retest_due: Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rechecks, "BESIDE", 1)
    done = relabel(retest.ben, retest.project)
    with pytest.raises(Conflict) as refusal:
        label.reopen(actor=retest.ben, assignment=done)
    assert refusal.value.code == "too_late", "ben has submitted nothing but what is resolved"

    [begun] = people.import_records(retest.project, [people.make_record(900)], subset="later")
    before = assign.claim_this(actor=retest.ann, trajectory=begun)
    people.label_all(before)
    label.submit(actor=retest.ann, assignment=before)
    done = relabel(retest.ann, retest.project)
    again = label.reopen(actor=retest.ann, assignment=done)
    assert (again.state, again.recheck.state) == (AssignmentState.OPEN, "claimed")
    label.submit(actor=retest.ann, assignment=again)
    again.recheck.refresh_from_db()
    assert again.recheck.state == "done"

    second = assign.claim_this(actor=retest.cleo, trajectory=begun)
    people.label_all(second)
    label.submit(actor=retest.cleo, assignment=second)
    with pytest.raises(Conflict) as refusal:
        label.reopen(actor=retest.ann, assignment=done)
    assert refusal.value.code == "too_late"


# ── Beside another look ───────────────────
@pytest.mark.postgres
def test_a_reader_is_not_given_the_same_trajectory_as_one_of_the_n(
    third: Cast, third_due: Trajectory
) -> None:
    again = people.claim(third.cleo, third.project)
    projects.write_guidelines(actor=third.admin, project=third.project, text="Another way.")
    label.queue_again(actor=third.admin, project=third.project, filters={}, expected=2)
    mine = Assignment.objects.select_related("project").get(annotator=third.ann)
    label.look_again(actor=third.ann, assignment=mine)
    assign.return_assignment(actor=third.ann, assignment=mine, reason="Not now.")

    with pytest.raises(Conflict) as nothing:
        assign.claim_next(actor=third.cleo, project=third.project)

    assert nothing.value.code == "nothing_left"
    assert not home.queue_for(third.cleo, third.project).can_claim
    assert list(Assignment.stored.filter(annotator=third.cleo)) == [again]


def test_what_is_to_be_looked_at_again_is_not_given_as_a_retest_beside_it(retest: Cast) -> None:
    people.import_records(retest.project, 1)
    people.make_unanimous(retest)
    projects.write_guidelines(actor=retest.admin, project=retest.project, text="Another way.")
    label.queue_again(actor=retest.admin, project=retest.project, filters={}, expected=2)
    a_while_ago(retest.project)
    rechecks.sweep()
    assert len(waiting(RecheckKind.RETEST)) == 2

    with pytest.raises(Conflict):
        people.claim(retest.ann, retest.project)


# ── Nobody can tell ───────────────────────
def test_a_recheck_looks_like_any_other_assignment(third: Cast, third_due: Trajectory) -> None:
    """The same trajectory, claimed from the queue by one and as a recheck by another: the same pages and
    answers, but for ids and times."""
    rechecked = people.claim(third.cleo, third.project)
    (fresh,) = people.import_records(third.project, 1, subset="other")
    plain = people.claim(third.ann, third.project)

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shape(inner) for key, inner in value.items()}
        return [shape(inner) for inner in value] if isinstance(value, list) else type(value).__name__

    def answers(user: User, assignment: Assignment) -> list[Any]:
        caller = callers.Caller(user)
        paths = (f"/assignments/{assignment.pk}/", f"/trajectories/{assignment.trajectory_id}/")
        lists = f"/projects/{third.project.slug}/assignments/?state=open"
        return [shape(caller.get(path).json()) for path in (*paths, lists)]

    assert answers(third.cleo, rechecked) == answers(third.ann, plain)
    assert fresh.pk == plain.trajectory_id
    told = callers.Caller(third.cleo).get(f"/assignments/{rechecked.pk}/").content.decode()
    assert "unanimous" not in told and "recheck" not in told
    assert rechecked.trajectory_id == third_due.pk


def test_guidelines_that_are_unread_are_read_before_a_recheck_as_before_any_other(
    third: Cast, third_due: Trajectory
) -> None:
    projects.write_guidelines(actor=third.admin, project=third.project, text="Another way.")
    mine = people.claim(third.cleo, third.project)
    assert mine.recheck_id is not None
    client = signed_in(third.cleo)

    sent = client.get(f"/assignments/{mine.pk}/")
    assert sent.status_code == 302
    assert client.get(sent.headers["Location"]).status_code == 200
    assert client.post(sent.headers["Location"], {"version": "2"}).status_code == 302
    assert client.get(f"/assignments/{mine.pk}/").status_code == 200


def test_own_figures_count_what_the_own_list_of_work_counts(third: Cast, third_due: Trajectory) -> None:
    done = relabel(third.cleo, third.project)

    def figures_of(viewer: User) -> tuple[int, int]:
        found = annotators.annotator_figures(viewer=viewer, project=third.project, annotator=third.cleo.pk)
        return found.trajectories, found.steps

    listed = my_progress.own_work(third.cleo, [third.project.pk])[third.project.pk].submitted
    assert figures_of(third.cleo) == (listed, done.trajectory.step_count)
    assert figures_of(third.admin) == (0, 0)


def test_earlier_labels_cannot_be_read_while_they_are_asked_for_again(
    retest: Cast, retest_due: Trajectory
) -> None:
    first = Assignment.objects.get(trajectory=retest_due, annotator=retest.ann)
    again = people.claim(retest.ann, retest.project)
    client, caller = signed_in(retest.ann), callers.Caller(retest.ann)

    assert client.get(f"/assignments/{first.pk}/").status_code == 409
    assert caller.get(f"/assignments/{first.pk}/").json()["error"]["code"] == "closed"
    listed = caller.get(f"/projects/{retest.project.slug}/assignments/").json()["results"]
    assert [one["id"] for one in listed] == [again.pk]
    shown = client.get(f"/p/{retest.project.slug}/work/?state=submitted").content.decode()
    assert retest_due.record_id not in shown
    steps = caller.get(f"/assignments/{again.pk}/").json()["steps"]
    assert {step["value"] for step in steps} == {None}
    for percent in (100, 0):  # where no more are asked for, what was given stays closed
        retests_are_asked(retest.project, percent)
        assert count_own_not_closed(retest.project, retest.ann, submitted=1) == 0


@pytest.mark.postgres
def test_what_is_closed_does_not_tell_what_is_asked_for_again(retest: Cast) -> None:
    """All old work whose labels are in is closed, drawn or not, so that claiming a retest changes no list;
    nor does what stays open tell that others said something else."""
    retests_are_asked(retest.project, 1)
    people.import_records(retest.project, 1, subset="disputed")
    people.make_disputed(retest)
    resolved(retest, 3)
    caller = callers.Caller(retest.ann)
    path = f"/projects/{retest.project.slug}/assignments/?state=submitted"
    assert caller.get(path).json()["results"] == []

    retests_are_asked(retest.project, 0)

    assert len(caller.get(path).json()["results"]) == 4


def test_who_became_an_admin_reads_no_labels_of_what_they_are_asked_for_again(third: Cast) -> None:
    (row,) = resolved(third)
    people.claim(third.cleo, third.project)
    url = f"/projects/{third.project.slug}/agreement/steps/"
    Membership.objects.filter(user=third.cleo).update(is_admin=True)

    assert callers.Caller(third.admin).get(url).json()["results"]
    assert callers.Caller(third.cleo).get(url).json()["results"] == []
    assert not visible(third.cleo, Exposure.objects.filter(trajectory=row, user=third.cleo)).exists()


def test_a_batch_that_was_saved_long_ago_shows_nothing_when_it_is_repeated(retest: Cast) -> None:
    (row,) = people.import_records(retest.project, 1)
    first = people.claim(retest.ann, retest.project)
    batch = {"op_id": "once", "changes": [people.change(people.step_indexes(row)[0], 1)]}
    label.save_labels(actor=retest.ann, assignment=first, **batch)
    Assignment.stored.filter(pk=first.pk).update(state="submitted", submitted_at=timezone.now())
    assert label.save_labels(actor=retest.ann, assignment=first, **batch)["labels"]
    first.operations.update(created_at=timezone.now() - timedelta(days=2))

    with pytest.raises(StaleState):
        label.save_labels(actor=retest.ann, assignment=first, **batch)


def test_claiming_takes_as_many_queries_with_rechecks_as_without(third: Cast) -> None:
    people.import_records(third.project, 6)

    def queries(user: User) -> int:
        with CaptureQueriesContext(connection) as asked:
            people.claim(user, third.project)
        return len(asked)

    people.make_unanimous(third, 4)
    with transaction.atomic():
        without = queries(third.cleo)
        transaction.set_rollback(True)
    audit_everything(third.project)
    Membership.objects.update(recheck_gap=3)
    assert asked()

    assert queries(third.cleo) == without
    Membership.objects.update(recheck_gap=0)
    assert queries(third.cleo) <= without


# ── What it leaves alone ──────────────────
def figures(cast: Cast) -> bytes:
    """The figures made of the N annotators' labels."""
    found = report.as_json(report.agreement(viewer=OPERATOR, project=cast.project))
    done = progress.progress(actor=OPERATOR, project=cast.project)
    whole = board.board(actor=OPERATOR, project=cast.project, zone=UTC)
    counts = {
        "all": done.all.by_state,
        "sums": [(point.submitted, point.resolved) for point in whole.burn_up],
        "n": whole.places,
    }
    return canonical_json([found, counts])


def test_labels_of_rechecks_change_no_figure_no_release_and_nobodys_queue(cast: Cast) -> None:
    retests_are_asked(cast.project)
    rows = people.import_records(cast.project, 5)
    people.make_unanimous(cast, 2)
    people.make_disputed(cast)
    people.make_adjudicated(cast, rows[2])
    a_while_ago(cast.project)
    rechecks.sweep()
    audit_everything(cast.project)
    before = figures(cast)
    digest = release.freeze(actor=cast.admin, project=cast.project, version="1.0").digest
    queue = list(Trajectory.objects.values_list("pk", "state", "free_slots", "position"))

    for user in (cast.cleo, cast.cleo, cast.cleo, cast.ann, cast.ben):
        relabel(user, cast.project, -1)

    assert Assignment.stored.filter(recheck__isnull=False, state="submitted").count() == 5
    assert figures(cast) == before
    assert release.freeze(actor=cast.admin, project=cast.project, version="1.1").digest == digest
    assert list(Trajectory.objects.values_list("pk", "state", "free_slots", "position")) == queue


@pytest.mark.parametrize("who", ["admin", "judith", "root", "ann"])
def test_labels_of_rechecks_are_seen_by_nobody_but_their_author(
    third: Cast, third_due: Trajectory, who: str
) -> None:
    done = relabel(third.cleo, third.project, -1)
    viewer = third.everybody[who]

    assert not visible(viewer, Label.objects.filter(assignment=done)).exists()
    if who != "root":
        assert not visible(viewer, Label.stored.filter(assignment=done)).exists()
    answer = callers.Caller(viewer).get(f"/trajectories/{third_due.pk}/judgements/?reveal=true")
    assert "recheck-canary" not in answer.content.decode()
    assert visible(third.cleo, Label.stored.filter(assignment=done)).count() == 2


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_claim_of_8_people_at_once_gives_every_recheck_once_and_every_place_of_the_queue() -> None:
    """Everything resolved is read by two for an audit and labelled again by both of its annotators; nobody
    who labelled a trajectory reads it, nobody gets one twice, and the queue is emptied all the same."""
    cast = people.make_cast()
    everybody = [cast.ann, cast.ben, cast.cleo, *together_annotators(cast.project, 5)]
    retests_are_asked(cast.project)
    people.import_records(cast.project, 4)
    people.make_unanimous(cast, 4)
    a_while_ago(cast.project)
    rechecks.sweep()
    audit_everything(cast.project)
    fresh = people.import_records(cast.project, 4, subset="more")
    assert Recheck.objects.filter(kind="audit").count() == 8 and Recheck.objects.count() == 16

    results = together(*(until_nothing_is_left(user, cast.project) for user in everybody))

    assert refused(results) == []
    held = list(Assignment.stored.filter(state="open").select_related("recheck", "trajectory"))
    readings = [one for one in held if one.recheck and one.recheck.kind == "audit"]
    again = [one for one in held if one.recheck and one.recheck.kind == "retest"]
    assert len({one.recheck_id for one in (*readings, *again)}) == len(readings) + len(again) == 16
    assert Recheck.objects.exclude(state="claimed").count() == 0
    labelled = {*Assignment.objects.filter(state="submitted").values_list("trajectory", "annotator")}
    assert not {(one.trajectory_id, one.annotator_id) for one in readings} & labelled
    assert {(one.trajectory_id, one.annotator_id) for one in again} == labelled
    assert not [one for one in readings if one.slot is not None or one.trajectory.state not in RESOLVED]
    # nobody starves: each place of the queue is taken too, by two different people
    of_queue = {*Assignment.objects.filter(state="open").values_list("trajectory", "annotator")}
    assert len(of_queue) == 8 == len(fresh) * 2
    assert not Trajectory.objects.filter(free_slots__gt=0).exists()
    assert sum(results) == 24
