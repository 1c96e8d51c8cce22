"""Rechecks: nobody can tell them, and they leave alone what is made of the other labels."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.errors import StaleState
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.vocabulary import RecheckKind
from annotation.models import Assignment, Exposure, Label, Membership, Trajectory, User
from annotation.policies import OPERATOR, visible
from annotation.reports.agreement import report
from annotation.reports.quality import annotators
from annotation.reports.work import my_progress, progress
from annotation.services import label, projects, rechecks, release
from tests import callers, people
from tests.callers import signed_in
from tests.people import Cast
from tests.services.rechecking import a_while_ago, everything_is_rechecked, relabel, resolved, waiting


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


@pytest.mark.postgres
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


@pytest.mark.postgres
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


@pytest.mark.postgres
def test_what_is_closed_does_not_tell_what_is_asked_for_again(retest: Cast) -> None:
    """All old work whose labels are in is closed, drawn or not, so that claiming a retest changes no list;
    nor does what stays open tell that others said something else."""
    everything_is_rechecked(retest.project, third=0, retest=1)
    people.import_records(retest.project, 1, subset="disputed")
    people.make_disputed(retest)
    resolved(retest, 3)
    caller = callers.Caller(retest.ann)
    path = f"/projects/{retest.project.slug}/assignments/?state=submitted"
    assert caller.get(path).json()["results"] == []

    everything_is_rechecked(retest.project, third=0, retest=0)

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

    without = queries(third.cleo)
    people.make_unanimous(third, 4)
    rechecks.sweep()
    Membership.objects.update(recheck_gap=3)
    assert waiting(RecheckKind.THIRD)

    assert queries(third.cleo) == without
    Membership.objects.update(recheck_gap=0)
    assert queries(third.cleo) <= without


# ── What it leaves alone ──────────────────
def figures(cast: Cast) -> bytes:
    """The figures made of the N annotators' labels."""
    found = report.as_json(report.agreement(viewer=OPERATOR, project=cast.project))
    done = progress.progress(actor=OPERATOR, project=cast.project)
    counts = {"all": done.all.by_state, "team": [(one.username, one.submitted) for one in done.team]}
    return canonical_json([found, counts])


def test_labels_of_rechecks_change_no_figure_no_release_and_nobodys_queue(cast: Cast) -> None:
    everything_is_rechecked(cast.project, third=100, retest=100)
    rows = people.import_records(cast.project, 5)
    people.make_unanimous(cast, 2)
    people.make_disputed(cast)
    people.make_adjudicated(cast, rows[2])
    a_while_ago(cast.project)
    rechecks.sweep()
    before = figures(cast)
    digest = release.freeze(actor=cast.admin, project=cast.project, version="1.0").digest
    queue = list(Trajectory.objects.values_list("pk", "state", "free_slots", "position"))

    for user in (cast.cleo, cast.cleo, cast.cleo, cast.ann, cast.ben):
        relabel(user, cast.project, -1)

    assert Assignment.stored.filter(recheck__isnull=False, state="submitted").count() == 5
    assert figures(cast) == before
    assert release.freeze(actor=cast.admin, project=cast.project, version="1.1").digest == digest
    assert list(Trajectory.objects.values_list("pk", "state", "free_slots", "position")) == queue


@pytest.mark.postgres
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
