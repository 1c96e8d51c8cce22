"""Which events are noted, for whom, and which are not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from annotation.core.vocabulary import RecheckKind, SuggestionRunState, WebhookEvent
from annotation.models import Assignment, Membership, Recheck, Trajectory, WebhookDelivery
from annotation.policies import OPERATOR, visible
from annotation.services import adjudicate, audit, label, training, webhooks
from annotation.services.suggest import lease
from tests import people
from tests.fixtures.judges import make_judge, start
from tests.people import Cast
from tests.services.gold_dealing import golden
from tests.services.publishing import freeze
from tests.services.rechecking import claim_as_reader, resolved
from tests.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.django_db
EVERYTHING = [event.value for event in WebhookEvent if event != WebhookEvent.TEST]


def hear(cast: Cast, receiver: WebhookReceiver, *events: str) -> str:
    values = {"name": "House", "url": receiver.url, "events": events or EVERYTHING}
    return webhooks.create_webhook(actor=cast.admin, project=cast.project, values=values)[1]


def noted() -> list[tuple[str, str]]:
    return list(WebhookDelivery.objects.order_by("pk").values_list("event", "object_id"))


@pytest.mark.postgres
def test_events_of_the_whole_line_are_noted_once_in_their_order_and_delivered_thin(
    cast: Cast, receiver: WebhookReceiver, settings: Any, judge_urls: None
) -> None:
    settings.PUBLIC_ADDRESS = "https://tristep.example.org/"
    secret = hear(cast, receiver)
    people.import_records(cast.project, people.make_records(2))
    people.make_unanimous(cast)
    people.make_disputed(cast)
    disputed = Trajectory.objects.get(state="disputed")
    people.make_adjudicated(cast, disputed)
    training.pause(actor=cast.admin, membership=Membership.objects.get(user=cast.ann))
    run = start(make_judge(cast, "j"))
    assert lease.take(run.pk)
    lease.end(lease.load(run.pk), SuggestionRunState.FINISHED, "")
    release = freeze(cast.project)

    agreed = Trajectory.objects.get(state="unanimous")
    of = {
        row.pk: [("assignment.submitted", str(turn.pk)) for turn in row.assignments.order_by("submitted_at")]
        for row in (agreed, disputed)
    }
    assert noted() == [
        *of[agreed.pk],
        ("trajectory.resolved", str(agreed.pk)),
        *of[disputed.pk],
        ("trajectory.disputed", str(disputed.pk)),
        ("trajectory.resolved", str(disputed.pk)),
        ("member.paused", str(Membership.objects.get(user=cast.ann).pk)),
        ("run.finished", str(run.pk)),
        ("release.frozen", str(release.pk)),
    ]

    assert webhooks.deliver(webhook_id=cast.project.webhooks.get().pk) == 10
    said = receiver.taken(secret)
    assert [(one["type"], one["data"]["id"]) for one in said] == noted()
    client = Client()
    client.force_login(cast.admin)
    for one in said:
        assert set(one) == {"type", "timestamp", "data"}
        data = one["data"]
        assert set(data) == {"id", "kind", "project", "link"} and data["project"] == "bench"
        assert re.fullmatch("[0-9a-f-]+", data["id"])
        place = data["link"].removeprefix("https://tristep.example.org")
        assert re.fullmatch("/p/bench/[a-z]+/([0-9]+/)?", place)
        assert client.get(place).status_code == 200, one


def test_event_is_noted_for_the_webhooks_of_its_project_that_want_it(
    cast: Cast, receiver: WebhookReceiver
) -> None:
    hear(cast, receiver, "trajectory.resolved")
    other = people.make_project("other")
    values = {"name": "Elsewhere", "url": receiver.url, "events": EVERYTHING}
    webhooks.create_webhook(actor=OPERATOR, project=other, values=values)
    people.import_records(cast.project, people.make_records(1))
    people.make_unanimous(cast)
    assert [event for event, _ in noted()] == ["trajectory.resolved"]
    assert not other.webhooks.get().deliveries.exists()


def test_reopened_case_is_disputed_again(cast: Cast, receiver: WebhookReceiver) -> None:
    people.import_records(cast.project, people.make_records(1))
    people.make_disputed(cast)
    case = people.make_adjudicated(cast, Trajectory.objects.get())
    hear(cast, receiver)
    adjudicate.reopen_case(actor=cast.judith, adjudication=case)
    assert noted() == [("trajectory.disputed", str(case.trajectory_id))]


def test_gold_and_rechecks_are_never_heard_of(cast: Cast, receiver: WebhookReceiver) -> None:
    golden(cast)
    hear(cast, receiver)
    for _ in range(12):
        people.label_all(claimed := people.claim(cast.ann, cast.project))
        label.submit(actor=cast.ann, assignment=claimed)
    gold = Recheck.objects.filter(kind=RecheckKind.GOLD, state="done")
    assert gold.exists()
    told = {int(pk) for event, pk in noted() if event == "assignment.submitted"}
    turns = Assignment.stored.filter(annotator=cast.ann, state="submitted")
    assert told == set(turns.filter(recheck=None).values_list("pk", flat=True))


def test_reading_for_an_audit_is_not_heard_of_nor_does_its_reader_see_what_became_of_the_trajectory(
    cast: Cast, receiver: WebhookReceiver
) -> None:
    hear(cast, receiver)
    (trajectory,) = resolved(cast)
    before = noted()
    reader = cast.cleo
    made = claim_as_reader(reader, trajectory)
    Membership.objects.filter(user=reader).update(is_admin=True)
    about = WebhookDelivery.objects.filter(trajectory=trajectory)
    assert about.count() == 3 and not visible(reader, about).exists()
    assert visible(cast.admin, about).count() == 3
    people.label_all(made)
    label.submit(actor=reader, assignment=made)
    assert noted() == before


def test_what_is_rolled_back_was_never_noted(cast: Cast, receiver: WebhookReceiver, monkeypatch: Any) -> None:
    hear(cast, receiver)
    people.import_records(cast.project, people.make_records(1))
    turn = people.claim(cast.ann, cast.project)
    people.label_all(turn)

    def fails(**_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(audit, "record", fails)
    with pytest.raises(RuntimeError):
        label.submit(actor=cast.ann, assignment=turn)
    assert noted() == []
