"""Cases that teach: marked, shown anonymously, and never to whom they would tell what must stay blind."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.vocabulary import RecheckKind
from annotation.models import Adjudication, AuditEvent, Example, Exposure, Membership, Trajectory, User
from annotation.services import adjudicate, assign, label, noted_reads
from tests import people
from tests.callers import Caller, signed_in
from tests.canaries import canary
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.rechecking import audit_everything, retests_are_asked, waiting

CANARY = canary("example", "text")


@shared_rows
def decided(cast: Cast) -> Adjudication:
    """Two runs of one task; the first was disputed and is decided, nobody has touched the second."""
    people.import_records(cast.project, [people.make_record(0, sample) for sample in range(2)])
    people.make_disputed(cast)
    return people.make_adjudicated(cast, Trajectory.objects.get(state="disputed"), value=-1)


def mark(actor: User, case: Adjudication, at: int | None = 4, **more: Any) -> Example:
    rows = Adjudication.objects.select_related(
        "project", "trajectory__project", "trajectory__subset", "trajectory__task"
    )
    given = {"title": "A wrong answer", "text": CANARY, **more}
    return adjudicate.mark_example(actor=actor, adjudication=rows.get(pk=case.pk), message_index=at, **given)


def label_the_other(cast: Cast) -> None:
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project)


def seen(user: User, cast: Cast) -> bool:
    """Whether the guidelines' page and the API show the example, which must be the same."""
    page = signed_in(user).get(f"/p/{cast.project.slug}/guidelines/").content.decode()
    api = Caller(user).get(f"/projects/{cast.project.slug}/examples/").content.decode()
    assert (CANARY in page) is (CANARY in api)
    return CANARY in page


def test_example_is_shown_without_names_and_without_what_leads_back(
    cast: Cast, decided: Adjudication
) -> None:
    mark(cast.judith, decided)
    label_the_other(cast)
    record = Trajectory.objects.get(pk=decided.trajectory_id).record_id

    (shown,) = Caller(cast.cleo).get(f"/projects/{cast.project.slug}/examples/").json()["results"]
    page = signed_in(cast.cleo).get(f"/p/{cast.project.slug}/guidelines/").content.decode()

    assert (shown["title"], shown["value"], shown["number"], shown["origin"]) == (
        "A wrong answer",
        -1,
        2,
        "adjudicated",
    )
    assert "The answer to 0 is 0." in shown["excerpt"]
    assert (shown["trajectory"], shown["adjudication"], shown["message_index"]) == (None, None, None)
    assert record not in page and f"/adjudications/{decided.pk}/" not in page
    assert not {"Ann", "Ben", "Judith"} & set(page.replace("<", " ").replace(">", " ").split())
    assert Exposure.objects.filter(
        user=cast.cleo, trajectory=decided.trajectory_id, kind="consensus"
    ).exists()
    with CaptureQueriesContext(connection) as one:
        noted_reads.examples(actor=cast.cleo, project=cast.project)
    mark(cast.judith, decided, 2)
    with CaptureQueriesContext(connection) as two:
        noted_reads.examples(actor=cast.cleo, project=cast.project)
    assert len(one) == len(two)
    own, _other = noted_reads.examples(actor=cast.judith, project=cast.project)
    assert own.adjudication == decided.pk and own.trajectory is None


def test_example_waits_until_no_run_of_its_task_can_be_labelled_blind(
    cast: Cast, decided: Adjudication
) -> None:
    mark(cast.judith, decided)
    everybody = (cast.ann, cast.cleo)
    assert not any(seen(user, cast) for user in everybody)
    assert seen(cast.judith, cast) and seen(cast.admin, cast)
    assert [one.hidden for one in noted_reads.examples(actor=cast.admin, project=cast.project)] == ["blind"]
    label_the_other(cast)
    assert all(seen(user, cast) for user in everybody)


@pytest.mark.postgres
def test_example_is_hidden_from_who_has_a_run_of_its_task_open_whatever_else_they_are(
    cast: Cast, decided: Adjudication
) -> None:
    mark(cast.judith, decided)
    for user in (cast.admin, cast.root):
        Membership.objects.update_or_create(
            project=cast.project,
            user=user,
            defaults={"is_annotator": True, "created_at": decided.opened_at},
        )
    (free,) = Trajectory.objects.exclude(pk=decided.trajectory_id)
    for user in (cast.admin, cast.root):
        assert not seen(user, cast)
        assign.claim_this(actor=user, trajectory=free)
        Membership.objects.filter(user=user).update(is_annotator=False, is_admin=True)
        assert not seen(user, cast)


def test_example_of_what_somebody_is_asked_to_label_again_is_never_shown_to_them(cast: Cast) -> None:
    retests_are_asked(cast.project, 0)
    people.import_records(cast.project, 1)
    people.make_disputed(cast)
    case = people.make_adjudicated(cast, Trajectory.objects.get())
    audit_everything(cast.project)
    (dealt,) = waiting(RecheckKind.AUDIT)
    assert dealt.annotator == cast.cleo
    mark(cast.judith, case)
    assert seen(cast.ann, cast) and not seen(cast.cleo, cast)
    again = people.claim(cast.cleo, cast.project)
    assert again.recheck_id == dealt.pk and not seen(cast.cleo, cast)
    people.label_all(again, 1)
    label.submit(actor=cast.cleo, assignment=again)
    assert not seen(cast.cleo, cast)


def test_example_disappears_while_its_case_is_open_and_when_it_is_decided_differently(
    cast: Cast, decided: Adjudication
) -> None:
    made = mark(cast.judith, decided)
    label_the_other(cast)
    adjudicate.reopen_case(actor=cast.judith, adjudication=decided)
    assert not seen(cast.ann, cast) and seen(cast.judith, cast)
    decided.refresh_from_db()
    version = decided.decisions.get(step__message_index=4).version
    adjudicate.decide(actor=cast.judith, adjudication=decided, message_index=4, value=0, version=version)
    adjudicate.close_case(actor=cast.judith, adjudication=decided)
    assert not seen(cast.ann, cast)
    assert [one.hidden for one in noted_reads.examples(actor=cast.judith, project=cast.project)] == [
        "changed"
    ]
    adjudicate.unmark_example(actor=cast.judith, example=made)
    assert not Example.objects.exists()
    verbs = (
        AuditEvent.objects.filter(verb__startswith="example.").order_by("pk").values_list("verb", "detail")
    )
    assert list(verbs) == [("example.mark", {"step": 2}), ("example.unmark", {"step": 2})]


def test_example_is_marked_by_who_decided_it_and_admins_and_of_a_decided_case_alone(
    cast: Cast, decided: Adjudication
) -> None:
    for actor in (cast.ann, cast.cleo, cast.oscar):
        with pytest.raises(Denied):
            mark(actor, decided)
    other = people.make_user("other")
    people.make_member(cast.project, other, "adjudicator")
    with pytest.raises(Denied):
        mark(other, decided)
    made = mark(cast.admin, decided)
    with pytest.raises(Denied):
        adjudicate.unmark_example(actor=other, example=made)
    for changes, field in (({"title": " "}, "title"), ({"text": "x" * 4001}, "text")):
        with pytest.raises(Invalid) as refused:
            mark(cast.judith, decided, None, **changes)
        assert field in refused.value.fields
    with pytest.raises(Invalid):
        mark(cast.judith, decided, 3)
    with pytest.raises(Conflict) as again:
        mark(cast.judith, decided)
    assert again.value.code == "marked"
    adjudicate.reopen_case(actor=cast.judith, adjudication=decided)
    with pytest.raises(Conflict) as open_again:
        mark(cast.judith, decided, None)
    assert open_again.value.code == "not_decided"
