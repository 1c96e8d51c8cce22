"""Delivering: at least once, in order, signed; retries, pauses and sending again; servers that misbehave."""

from __future__ import annotations

import random
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook as Reference
from standardwebhooks.webhooks import WebhookVerificationError

from annotation.core.errors import Conflict, Denied, Invalid, StaleState
from annotation.core.vocabulary import DeliveryState, WebhookEvent
from annotation.core.webhooks import schedule
from annotation.models import AuditEvent, Notice, Webhook, WebhookDelivery
from annotation.services import job_lease, webhooks
from annotation.services.webhooks.events import note_each
from annotation.services.webhooks.sending import headers
from tests import people
from tests.people import Cast
from tests.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.django_db
RESOLVED = WebhookEvent.RESOLVED.value
VALUES = {"name": "House", "events": [RESOLVED]}


@pytest.fixture
def made(cast: Cast, receiver: WebhookReceiver) -> tuple[Webhook, str]:
    """A webhook and its secret."""
    values = {**VALUES, "url": receiver.url}
    return webhooks.create_webhook(actor=cast.admin, project=cast.project, values=values)


def happen(hook: Webhook, *keys: int) -> None:
    """So many trajectories are resolved, of which the tests need no more than their keys."""
    for key in keys:
        note_each(WebhookEvent.RUN_FINISHED, project=hook.project_id, keys=[key])


@pytest.fixture
def hook(made: tuple[Webhook, str]) -> Webhook:
    """A webhook that hears of runs, which need no rows here."""
    Webhook.objects.update(events=[WebhookEvent.RUN_FINISHED.value])
    return made[0]


def later() -> None:
    """The waits are over."""
    WebhookDelivery.objects.filter(state="waiting").update(next_at=timezone.now())
    Webhook.objects.update(rests_until=None, lease_until=None)


def deliver(hook: Webhook) -> int:
    attempts = webhooks.deliver(webhook_id=hook.pk, rng=random.Random(1))
    hook.refresh_from_db()
    return attempts


def states(hook: Webhook) -> list[str]:
    return list(hook.deliveries.order_by("pk").values_list("state", flat=True))


# ── The standard ──────────────────────────
def test_signature_is_that_of_the_standards_own_example() -> None:
    """The vector that the libraries of Standard Webhooks are tested with."""
    said = headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        datetime.fromtimestamp(1614265330, UTC),
    )
    assert said["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert said["webhook-timestamp"] == "1614265330"
    assert said["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_two_secrets_sign_for_a_day_and_then_the_new_one_alone(
    cast: Cast, hook: Webhook, made: tuple[Webhook, str], receiver: WebhookReceiver
) -> None:
    first = made[1]
    second = webhooks.new_secret(actor=cast.admin, webhook=hook)
    happen(hook, 1)
    deliver(hook)
    assert len(receiver.verified(first, second)) == 1
    receiver.seen.clear()

    Webhook.objects.update(old_until=timezone.now() - timedelta(seconds=1))
    happen(hook, 2)
    deliver(hook)
    receiver.verified(second)
    with pytest.raises(WebhookVerificationError):
        receiver.verified(first)
    receiver.seen.clear()

    third = webhooks.new_secret(actor=cast.admin, webhook=hook)
    fourth = webhooks.new_secret(actor=cast.admin, webhook=hook)
    happen(hook, 3)
    deliver(hook)
    receiver.verified(third, fourth)
    with pytest.raises(WebhookVerificationError):
        receiver.verified(second)


def test_secret_of_the_key_before_signs_too_while_that_is_listed(
    hook: Webhook, made: tuple[Webhook, str], receiver: WebhookReceiver, settings: Any
) -> None:
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another key " * 5
    happen(hook, 1)
    deliver(hook)
    receiver.verified(made[1])


# ── At least once, in order ───────────────
def test_later_event_of_an_object_waits_and_others_go_on(
    hook: Webhook, made: tuple[Webhook, str], receiver: WebhookReceiver
) -> None:
    happen(hook, 7, 7, 8)
    receiver.behave("http_500", "ok")
    assert deliver(hook) == 2
    assert states(hook) == ["waiting", "waiting", "delivered"]
    assert deliver(hook) == 0, "not before its time"
    later()
    assert deliver(hook) == 2
    said = receiver.verified(made[1])
    assert [one["data"]["id"] for one in said] == ["7", "8", "7", "7"]
    ids = [request.headers["webhook-id"] for request in receiver.seen]
    assert ids[0] == ids[2] != ids[3], "a repetition has the id of the first"
    assert states(hook) == ["delivered"] * 3 and hook.failures == 0


@pytest.mark.postgres
def test_server_that_fails_hangs_goes_away_and_comes_back_gets_every_event_in_order(
    hook: Webhook, made: tuple[Webhook, str], receiver: WebhookReceiver
) -> None:
    bad = ("http_500", "ok", "hang", "reset", "ok", "redirect", "http_404", "ok", "http_429", "http_500")
    receiver.behave(*bad)
    for number in range(20):
        happen(hook, number % 3)
    for round_ in range(60):
        if round_ == 4:
            receiver.stop()
        if round_ == 6:
            receiver.start()
        if not receiver.script[1:]:
            receiver.behave("ok")
        deliver(hook)
        later()
    assert states(hook) == ["delivered"] * 20
    for key in ("0", "1", "2"):
        order = hook.deliveries.filter(object_id=key).order_by("pk").values_list("message", flat=True)
        got: dict[str, None] = {}
        for request in receiver.seen:
            if request.answered == "ok":
                got.setdefault(request.headers["webhook-id"])
        assert [one for one in got if one in (mine := [f"msg_{pk.hex}" for pk in order])] == mine
    assert len(receiver.taken(made[1])) == 20


@pytest.mark.postgres
def test_webhook_that_another_worker_holds_is_left_alone_until_its_lease_runs_out(
    hook: Webhook, receiver: WebhookReceiver
) -> None:
    happen(hook, 1)
    assert job_lease.take(Webhook.objects.filter(pk=hook.pk))
    assert deliver(hook) == 0 and webhooks.sweep() == 0
    now = timezone.now() + timedelta(seconds=61)
    assert webhooks.sweep(now=now) == 1, "what a dead worker held is sent for again"
    assert webhooks.sweep(now=now) == 0, "by one reaper"
    later()
    assert deliver(hook) == 1


# ── Servers that misbehave ────────────────
@pytest.mark.parametrize(
    ("behaviour", "status", "says"),
    [
        ("http_500", 500, "said http_500"),
        ("http_404", 404, "said http_404"),
        ("hang", None, "did not answer in full within 0.5 seconds"),
        ("reset", None, "connection broke"),
        ("redirect", 302, "not followed"),
    ],
)
def test_failed_attempt_says_why_and_is_tried_again_later(
    hook: Webhook, receiver: WebhookReceiver, behaviour: str, status: int | None, says: str
) -> None:
    receiver.behave(behaviour)
    happen(hook, 1)
    assert deliver(hook) == 1
    row = hook.deliveries.get()
    assert (row.state, row.attempts, row.status) == ("waiting", 1, status) and says in row.answer
    assert timedelta(seconds=3) < row.next_at - timezone.now() < timedelta(seconds=6)
    assert [request.path for request in receiver.seen] == ["/hooks"]


@pytest.mark.parametrize("behaviour", ["endless", "drip"])
def test_answer_without_an_end_counts_by_its_status_and_costs_no_more_than_the_limit(
    hook: Webhook, receiver: WebhookReceiver, behaviour: str
) -> None:
    receiver.behave(behaviour)
    happen(hook, 1)
    begun = timezone.now()
    deliver(hook)
    assert timezone.now() - begun < timedelta(seconds=5)
    row = hook.deliveries.get()
    assert row.state == "delivered" and set(row.answer) == {"a"} and len(row.answer) <= 500


def test_server_says_how_long_it_wants_to_be_left_alone(hook: Webhook, receiver: WebhookReceiver) -> None:
    receiver.behave("http_503")
    happen(hook, 1)
    deliver(hook)
    wait = hook.deliveries.get().next_at - timezone.now()
    assert timedelta(seconds=1200) < wait <= timedelta(seconds=1234)


def test_waits_grow_to_a_day_and_three_failures_in_a_row_let_the_webhook_rest() -> None:
    waits = [schedule.next_wait(attempts, random.Random(1)) for attempts in range(1, 10)]
    assert all(wait is not None for wait in waits) and waits == sorted(waits, key=lambda one: one or 0)
    assert sum((wait for wait in waits if wait), timedelta()) > timedelta(days=3)
    assert schedule.next_wait(10, random.Random(1)) is None
    assert schedule.next_wait(1, random.Random(1), 1e9) == timedelta(days=1)
    rests = [schedule.rest(failures).total_seconds() for failures in (2, 3, 4, 12, 999)]
    assert rests == [0, 10, 20, 3600, 3600]
    whole = sum((schedule.rest(n) for n in range(schedule.MAX_FAILURES)), timedelta())
    assert timedelta(days=1) < whole < timedelta(days=3)


def test_server_that_is_away_is_asked_for_one_event_at_a_time(
    hook: Webhook, receiver: WebhookReceiver
) -> None:
    receiver.behave("http_500")
    happen(hook, *range(10))
    assert deliver(hook) == 3 and deliver(hook) == 0
    Webhook.objects.update(rests_until=None)
    assert deliver(hook) == 1
    assert hook.rests_until is not None and hook.rests_until - timezone.now() > timedelta(seconds=15)


def test_event_that_a_working_server_refuses_is_given_up_and_lets_the_next_go(
    hook: Webhook, receiver: WebhookReceiver
) -> None:
    happen(hook, 1, 1)
    for number in range(10):
        receiver.behave("http_500", "ok")
        happen(hook, 100 + number)
        deliver(hook)
        later()
    deliver(hook)
    assert states(hook) == ["given_up", *["delivered"] * 11]
    assert hook.paused_at is None and hook.deliveries.earliest("pk").attempts == 10


def test_server_that_fails_for_long_pauses_the_webhook_tells_admins_and_loses_nothing(
    cast: Cast, hook: Webhook, receiver: WebhookReceiver
) -> None:
    receiver.behave("http_500")
    happen(hook, 1, 1)
    for _ in range(12):
        deliver(hook)
        later()
    assert (hook.pause_reason, states(hook)) == ("failing", ["waiting", "waiting"])
    assert len(receiver.seen) == 10
    told = Notice.objects.filter(kind="webhook", webhook=hook)
    assert [notice.user for notice in told] == [cast.admin]
    assert AuditEvent.objects.filter(verb="webhook.pause", detail__reason="failing").count() == 1
    with pytest.raises(StaleState, match="paused"):
        webhooks.send_test(actor=cast.admin, webhook=hook)
    happen(hook, 2)

    receiver.behave("ok")
    webhooks.resume_webhook(actor=cast.admin, webhook=hook)
    deliver(hook)
    assert states(hook) == ["delivered"] * 3
    with pytest.raises(StaleState, match="not paused"):
        webhooks.resume_webhook(actor=cast.admin, webhook=hook)


def test_many_failures_pause_although_each_event_has_attempts_left(
    hook: Webhook, receiver: WebhookReceiver
) -> None:
    receiver.behave("http_500")
    happen(hook, 1)
    Webhook.objects.update(failures=schedule.MAX_FAILURES - 1)
    deliver(hook)
    assert hook.pause_reason == "failing"


def test_server_that_is_gone_pauses_at_once(hook: Webhook, receiver: WebhookReceiver) -> None:
    receiver.behave("http_410")
    happen(hook, 1, 2)
    deliver(hook)
    assert hook.pause_reason == "gone" and len(receiver.seen) == 1 and states(hook) == ["waiting"] * 2


def test_address_that_the_operator_allows_no_more_pauses_and_is_not_asked(
    cast: Cast, hook: Webhook, receiver: WebhookReceiver, settings: Any
) -> None:
    settings.WEBHOOK_URLS = []
    happen(hook, 1)
    deliver(hook)
    assert hook.pause_reason == "forbidden" and not receiver.seen
    with pytest.raises(Invalid):
        webhooks.resume_webhook(actor=cast.admin, webhook=hook)


def test_name_that_leads_into_a_private_network_pauses_and_is_not_asked(
    hook: Webhook, receiver: WebhookReceiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def within(host: str, *more: Any, **rest: Any) -> Any:
        return real("127.0.0.1" if host == "hooks.example.org" else host, *more, **rest)

    monkeypatch.setattr(socket, "getaddrinfo", within)
    settings.WEBHOOK_URLS = [f"http://hooks.example.org:{receiver.port}"]
    Webhook.objects.update(url=settings.WEBHOOK_URLS[0])
    happen(hook, 1)
    deliver(hook)
    assert hook.pause_reason == "forbidden" and not receiver.seen
    assert "TRISTEP_PRIVATE_NETWORKS" in hook.deliveries.get().answer


# ── By hand ───────────────────────────────
def test_event_is_sent_again_under_its_id(cast: Cast, hook: Webhook, receiver: WebhookReceiver) -> None:
    happen(hook, 1)
    row = hook.deliveries.get()
    with pytest.raises(StaleState, match="waiting"):
        webhooks.send_again(actor=cast.admin, delivery=row)
    deliver(hook)
    row.refresh_from_db()
    with pytest.raises(Denied):
        webhooks.send_again(actor=cast.judith, delivery=row)
    webhooks.send_again(actor=cast.admin, delivery=row)
    deliver(hook)
    ids = [request.headers["webhook-id"] for request in receiver.seen]
    assert ids == [f"msg_{row.message.hex}"] * 2
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("delivered", 1)


def test_test_is_sent_whatever_the_webhook_hears_of_and_one_at_a_time(
    cast: Cast, made: tuple[Webhook, str], receiver: WebhookReceiver
) -> None:
    hook, secret = made
    webhooks.send_test(actor=cast.admin, webhook=hook)
    with pytest.raises(Conflict, match="waiting"):
        webhooks.send_test(actor=cast.admin, webhook=hook)
    deliver(hook)
    (said,) = receiver.taken(secret)
    assert said["type"] == "webhook.test" and said["data"]["kind"] == "webhook"


def test_old_entries_leave_the_log_and_what_waits_stays(hook: Webhook, receiver: WebhookReceiver) -> None:
    happen(hook, 1)
    deliver(hook)
    happen(hook, 2)
    webhooks.pause_webhook(actor=people.make_user("root2", is_superuser=True), webhook=hook)
    webhooks.sweep(now=timezone.now() + timedelta(days=29))
    assert states(hook) == ["delivered", "waiting"]
    webhooks.sweep(now=timezone.now() + timedelta(days=31))
    assert states(hook) == [DeliveryState.WAITING]


# ── Setting up ────────────────────────────
@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("https://elsewhere.example.org/hooks", "not among those"),
        ("http://169.254.169.254/latest/meta-data", "not among those"),
        ("http://127.0.0.1:1/hooks", "not among those"),
        ("ftp://127.0.0.1/hooks", "begins with https"),
        ("file:///etc/passwd", "begins with https"),
        ("https://user:pass@example.org/", "begins with https"),
        ("", "begins with https"),
    ],
)
def test_address_has_to_be_plain_and_allowed(
    cast: Cast, receiver: WebhookReceiver, url: str, says: str
) -> None:
    with pytest.raises(Invalid) as refused:
        webhooks.create_webhook(actor=cast.admin, project=cast.project, values={**VALUES, "url": url})
    assert says in refused.value.fields["url"]


def test_webhook_is_for_admins_and_hears_only_of_known_events(
    cast: Cast, receiver: WebhookReceiver, made: tuple[Webhook, str]
) -> None:
    values = {**VALUES, "url": receiver.url}
    for who in (cast.ann, cast.judith):
        with pytest.raises(Denied):
            webhooks.create_webhook(actor=who, project=cast.project, values=values)
        with pytest.raises(Denied):
            webhooks.new_secret(actor=who, webhook=made[0])
    for events in ([], ["webhook.test"], ["label.saved"], "trajectory.resolved"):
        with pytest.raises(Invalid) as refused:
            webhooks.create_webhook(
                actor=cast.admin, project=cast.project, values={**values, "events": events}
            )
        assert set(refused.value.fields) == {"events"}


def test_secret_is_long_random_and_stands_nowhere(
    cast: Cast, made: tuple[Webhook, str], receiver: WebhookReceiver
) -> None:
    hook, secret = made
    assert secret.startswith("whsec_") and len(Reference(secret)._whsecret) == 32
    other = webhooks.create_webhook(
        actor=cast.admin, project=cast.project, values={**VALUES, "url": receiver.url}
    )[1]
    assert other != secret
    stored = str(list(Webhook.objects.values())) + str(list(AuditEvent.objects.values()))
    assert secret not in stored and secret.removeprefix("whsec_") not in stored
    assert hook.seed not in str(list(AuditEvent.objects.values()))
