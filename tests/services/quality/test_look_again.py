"""Looking again after the guidelines changed: filtered, queued, taken back, begun, resolved anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import ExposureKind
from annotation.models import (
    Assignment,
    AuditEvent,
    Consensus,
    Dispute,
    Exposure,
    Label,
    LabelEvent,
    Membership,
    Notice,
    PairedLabels,
    RelabelRequest,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR
from annotation.reports.quality import look_again as report
from annotation.services import adjudicate, assign, discuss, exposures, label, projects, release
from tests import callers, people
from tests.callers import signed_in
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast


@shared_rows
def changed(cast: Cast) -> Cast:
    """Unanimous, disputed, and half labelled under version 1; version 2 is in force."""
    people.import_records(cast.project, 3)
    people.make_unanimous(cast)
    people.make_disputed(cast)
    people.label_next(cast.ann, cast.project, [1, -1])
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="Another way.")
    return cast


def preview(cast: Cast, **filters: str) -> report.RelabelPreview:
    return report.preview(actor=cast.admin, project=cast.project, filters=filters)


def queue(cast: Cast, expected: int, **filters: str) -> Any:
    return label.queue_again(actor=cast.admin, project=cast.project, filters=filters, expected=expected)


def begin(user: User, trajectory: Trajectory) -> Assignment:
    mine = Assignment.objects.select_related("project", "trajectory").get(
        annotator=user, trajectory=trajectory
    )
    return label.look_again(actor=user, assignment=mine)


def relabel(mine: Assignment, value: int) -> None:
    changes = [
        people.change(row.step.message_index, value, version=row.version)
        for row in Label.objects.filter(assignment=mine).select_related("step")
    ]
    label.save_labels(actor=mine.annotator, assignment=mine, op_id=people.op_id(), changes=changes)
    label.submit(actor=mine.annotator, assignment=mine)


@pytest.mark.postgres
def test_filters_of_what_to_look_at_again(changed: Cast) -> None:
    assert [
        (one.number, one.assignments, one.trajectories)
        for one in report.versions(actor=changed.admin, project=changed.project)
    ] == [(1, 5, 3)]
    counts = {
        "": 5,
        "version=1": 5,
        "version=2": 0,
        "subset=tiny": 5,
        "value=-1": 2,
        "value=0": 0,
        "reason=fabrication": 0,
        "kind=call": 5,
        "kind=reply": 5,
        "value=-1&kind=call": 1,
        "value=-1&kind=reply": 2,
    }
    found = {}
    for filters in counts:
        pairs = (one.split("=") for one in filters.split("&") if one)
        found[filters] = len(preview(changed, **dict(pairs)).ready)
    assert found == counts
    for wrong in ({"version": "x"}, {"subset": "no"}, {"value": "2"}, {"reason": "no"}, {"kind": "no"}):
        with pytest.raises(Invalid):
            preview(changed, **wrong)


def test_filters_by_label_tell_an_admin_nothing_of_what_they_are_labelling(changed: Cast) -> None:
    member = Membership.objects.get(user=changed.admin, project=changed.project)
    projects.set_roles(actor=changed.root, membership=member, is_admin=True, is_annotator=True)
    half = Trajectory.objects.get(state="labelling")

    for claimed in (False, True):
        if claimed:
            assign.claim_this(actor=changed.admin, trajectory=half)
        for filters in ({"value": "-1"}, {"value": "0"}, {"reason": "fabrication"}):
            found = preview(changed, **filters)
            assert half not in [row.trajectory for row in found.ready], (claimed, filters)
            assert found.left_out["blind"] == 1, (claimed, filters)
        assert half in [row.trajectory for row in preview(changed).ready]


def test_what_cannot_be_looked_at_again_is_counted_by_why(changed: Cast) -> None:
    release.freeze(actor=OPERATOR, project=changed.project, version="1.0")
    disputed = Trajectory.objects.get(state="disputed")
    people.open_case(changed.judith, disputed)
    half = Trajectory.objects.get(state="labelling")
    Exposure.objects.create(
        user=changed.ann, trajectory=half, kind="label", created_at=disputed.dispute.arisen_at
    )
    assert preview(changed).left_out == {"frozen": 2, "discussed": 2, "seen": 1}
    assert preview(changed).ready == ()
    with pytest.raises(Conflict):
        queue(changed, 0)


@pytest.mark.postgres
def test_queue_is_audited_told_and_can_be_taken_back_while_nobody_has_begun(changed: Cast) -> None:
    for actor in (changed.ann, changed.judith, changed.oscar):
        with pytest.raises(Denied):
            label.queue_again(actor=actor, project=changed.project, filters={}, expected=5)
    with pytest.raises(Conflict) as other:
        queue(changed, 4)
    assert other.value.code == "changed"
    batch = queue(changed, 5)
    assert preview(changed).left_out == {"queued": 5}
    assert AuditEvent.objects.get(verb="guidelines.look_again").detail == {
        "version": 2,
        "queued": 5,
        "filters": {},
    }
    assert sorted(Notice.objects.values_list("user__username", "kind")) == [
        ("ann", "look_again"),
        ("ben", "look_again"),
    ]
    assert Trajectory.objects.filter(state="unanimous").exists()
    assert label.unqueue(actor=changed.admin, project=changed.project, batch=batch) == 5
    assert not RelabelRequest.objects.exists()
    with pytest.raises(Conflict):
        label.unqueue(actor=changed.admin, project=changed.project, batch=batch)


def test_looking_again_resolves_anew_when_all_who_were_asked_have_submitted(changed: Cast) -> None:
    row = Trajectory.objects.get(state="unanimous")
    queue(changed, 5)

    mine = begin(changed.ann, row)
    row.refresh_from_db()
    assert (mine.state, row.state, row.agreement) == ("open", "labelling", None)
    assert not Consensus.objects.filter(trajectory=row).exists()
    assert not PairedLabels.objects.filter(trajectory=row).exists()
    relabel(mine, -1)
    row.refresh_from_db()
    assert row.state == "labelling"  # ben is still to look at his
    theirs = begin(changed.ben, row)
    relabel(theirs, -1)
    row.refresh_from_db()
    assert row.state == "unanimous"
    assert set(Consensus.objects.filter(trajectory=row).values_list("value", flat=True)) == {-1}
    versions = Assignment.objects.filter(trajectory=row).values_list("guideline_version", flat=True)
    assert set(versions) == {2}
    # blind all along: nobody has seen anything of the other
    assert not Label.objects.filter(assignment__trajectory=row, exposed_at__isnull=False).exists()
    assert LabelEvent.objects.filter(assignment=mine, kind="reopen").count() == 1
    with pytest.raises(Conflict) as again:
        begin(changed.ann, row)
    assert again.value.code == "not_asked"


def test_taking_back_the_rest_settles_what_waited_for_it(changed: Cast) -> None:
    row = Trajectory.objects.get(state="disputed")
    batch = queue(changed, 5)
    relabel(begin(changed.ann, row), -1)
    assert label.unqueue(actor=changed.admin, project=changed.project, batch=batch) == 4
    row.refresh_from_db()
    assert row.state == "disputed" and Dispute.objects.get(trajectory=row).disputed_steps == 0


def leave(cast: Cast) -> None:
    people.leave(cast.project, cast.ben)


def close(cast: Cast) -> None:
    User.objects.filter(pk=cast.ben.pk).update(is_active=False)


def see(cast: Cast) -> None:
    for row in Trajectory.objects.all():
        exposures.expose(user=cast.ben, trajectory=row, kind=ExposureKind.LABEL)


@pytest.mark.parametrize("gone", [leave, close, see])
def test_whoever_cannot_look_again_any_more_is_not_waited_for(
    changed: Cast, gone: Callable[[Cast], None]
) -> None:
    row = Trajectory.objects.get(state="unanimous")
    queue(changed, 5)
    relabel(begin(changed.ann, row), -1)
    assert label.sweep_looks() == 0

    gone(changed)
    assert label.sweep_looks() == 2

    row.refresh_from_db()
    assert row.state == "disputed"
    left = RelabelRequest.objects.filter(begun_at__isnull=True)
    assert set(left.values_list("assignment__annotator", flat=True)) == {changed.ann.pk}
    assert AuditEvent.objects.get(verb="guidelines.look_again_undo").detail == {"taken_back": 2}


@pytest.mark.parametrize("given_back", [False, True])
def test_whoever_reopens_what_they_are_asked_to_look_at_again_has_begun(
    changed: Cast, given_back: bool
) -> None:
    row = Trajectory.objects.get(state="labelling")
    queue(changed, 5)
    mine = label.reopen(actor=changed.ann, assignment=Assignment.objects.get(trajectory=row))
    others = [changed.ben]
    if given_back:
        assign.return_assignment(actor=changed.ann, assignment=mine, reason="Not mine.")
        others.append(changed.cleo)
    else:
        relabel(mine, 1)
    for user in others:
        theirs = assign.claim_this(actor=user, trajectory=row)
        people.label_all(theirs)
        label.submit(actor=user, assignment=theirs)
    row.refresh_from_db()
    assert row.state != "labelling"


def test_list_of_work_does_not_offer_a_look_that_would_be_refused(changed: Cast) -> None:
    disputed = Trajectory.objects.get(state="disputed")
    queue(changed, 5)
    people.open_case(changed.judith, disputed)
    offered = report.waiting(actor=changed.ben, project=changed.project)
    assert [one.assignment.trajectory.state for one in offered] == ["unanimous"]


@pytest.mark.postgres
def test_decided_case_goes_back_and_its_history_stays(changed: Cast) -> None:
    row = Trajectory.objects.get(state="disputed")
    case = people.make_adjudicated(changed, row)
    queue(changed, 5)
    relabel(begin(changed.ann, row), -1)
    case.refresh_from_db()
    assert case.state == "released"
    assert case.events.filter(kind="erasure").count() == 3
    relabel(begin(changed.ben, row), -1)
    row.refresh_from_db()
    assert row.state == "disputed"  # the outcomes differ still
    again = adjudicate.open_case(actor=changed.judith, trajectory=row)
    assert again.pk != case.pk


def test_what_was_frozen_or_discussed_meanwhile_is_refused(changed: Cast) -> None:
    row = Trajectory.objects.get(state="unanimous")
    disputed = Trajectory.objects.get(state="disputed")
    queue(changed, 5)
    release.freeze(actor=OPERATOR, project=changed.project, version="1.0")
    with pytest.raises(Conflict) as frozen:
        begin(changed.ann, row)
    assert frozen.value.code == "frozen"
    people.open_case(changed.judith, disputed)
    with pytest.raises(Conflict) as case:
        begin(changed.ann, disputed)
    assert case.value.code == "not_asked"  # that there is a dispute is not said
    discuss.open_discussion(actor=changed.judith, trajectory=disputed)
    with pytest.raises(Conflict):
        begin(changed.ben, disputed)
    row.refresh_from_db()
    assert row.state == "unanimous" and RelabelRequest.objects.filter(begun_at__isnull=False).count() == 0


def test_pages_of_looking_again(changed: Cast) -> None:
    admin, ann = signed_in(changed.admin), signed_in(changed.ann)
    url = f"/p/{changed.project.slug}/guidelines/look-again/"
    page = admin.get(f"{url}?value=-1").content.decode()
    assert "2 assignments of 2 trajectories, by 2 people." in page
    assert admin.get(f"{url}?value=7").status_code == 400
    assert admin.post(url, {"value": "-1", "expected": "1"}).status_code == 409
    assert admin.post(url, {"value": "-1", "expected": "2"}).status_code == 302
    batch = RelabelRequest.objects.values_list("batch", flat=True).first()
    assert "2 for version 2, 0 begun" in admin.get(url).content.decode()
    work = ann.get(f"/p/{changed.project.slug}/work/").content.decode()
    assert "The guidelines have changed since you submitted these." in work
    waiting = RelabelRequest.objects.get(assignment__annotator=changed.ann)
    answer = ann.post(f"/assignments/{waiting.assignment_id}/look-again/")
    assert answer.headers["Location"] == f"/assignments/{waiting.assignment_id}/"
    seen = callers.Caller(changed.admin).get(f"/projects/{changed.project.slug}/look-again/").json()
    assert (seen["ready"], seen["left_out"]) == (3, {"queued": 1})
    assert seen["batches"][0]["begun"] == 1 and seen["versions"][0]["version"] == 1
    assert admin.post(f"{url}{batch}/undo/").status_code == 302
    assert admin.post(f"{url}{batch}/undo/").status_code == 409
