"""Set up webhooks, within what the operator of the server allows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation import dispatch
from annotation.core.errors import Conflict, Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.judging.addresses import normalised
from annotation.core.text import escape
from annotation.core.vocabulary import DeliveryState, WebhookEvent, WebhookPause
from annotation.core.webhooks import events
from annotation.models import Project, Webhook, WebhookDelivery
from annotation.models.connections.webhooks import MAX_NAME, MAX_URL, MAX_WEBHOOKS
from annotation.policies import Actor, recorded, require

from .. import audit
from ..transitions import require_version
from .events import JOB
from .secrets import OVERLAP, new_seed, secret_of
from .sending import allows


@transaction.atomic
def create_webhook(*, actor: Actor, project: Project, values: Mapping[str, Any]) -> tuple[Webhook, str]:
    """Make a webhook with `Webhook.EDITED`; it, and its secret, which is shown now and never again.

    Raises Invalid with the fields that are wrong, also for an address that the operator does not allow;
    Conflict when the project has as many as it may.
    """
    require(actor, "project.change", project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    checked = _checked(values)
    if project.webhooks.count() >= MAX_WEBHOOKS:
        raise Conflict(translatable("A project has at most {n} webhooks.", n=MAX_WEBHOOKS), code="too_many")
    webhook = Webhook.objects.create(
        project=project, seed=new_seed(), created_by=recorded(actor), created_at=timezone.now(), **checked
    )
    audit.record(actor=actor, verb="webhook.create", project=project, obj=webhook, name=webhook.name)
    return webhook, secret_of(webhook.seed)


@transaction.atomic
def change_webhook(
    *, actor: Actor, webhook: Webhook, values: Mapping[str, Any], version: str | None = None
) -> Webhook:
    """Change a webhook; what waits goes to the new address. Raises Invalid with the fields that are wrong,
    StaleVersion when it is no longer at the `version` that the actor began from."""
    require(actor, "project.change", webhook)
    row = _locked(webhook)
    checked = _checked({**row.edited(), **values})
    require_version(row, version, checked)
    changed = sorted(name for name, value in checked.items() if getattr(row, name) != value)
    if changed:
        Webhook.objects.filter(pk=row.pk).update(**checked)
        audit.record(actor=actor, verb="webhook.change", project=row.project, obj=row, fields=changed)
    row.refresh_from_db()
    return row


@transaction.atomic
def delete_webhook(*, actor: Actor, webhook: Webhook) -> None:
    """Delete a webhook with its log; nothing that waits is delivered."""
    require(actor, "project.change", webhook)
    row = _locked(webhook)
    audit.record(actor=actor, verb="webhook.delete", project=row.project, obj=row, name=row.name)
    row.delete()


@transaction.atomic
def new_secret(*, actor: Actor, webhook: Webhook, now: datetime | None = None) -> str:
    """Make a new secret, which is shown now and never again. The one that held so far signs too for a day;
    one from before that ends at once."""
    require(actor, "project.change", webhook)
    row = _locked(webhook)
    seed = new_seed()
    Webhook.objects.filter(pk=row.pk).update(
        seed=seed, old_seed=row.seed, old_until=(now or timezone.now()) + OVERLAP
    )
    audit.record(actor=actor, verb="webhook.secret", project=row.project, obj=row)
    return secret_of(seed)


@transaction.atomic
def pause_webhook(*, actor: Actor, webhook: Webhook) -> Webhook:
    """Send nothing until somebody resumes it; events are noted meanwhile. Repeating it changes nothing."""
    require(actor, "project.change", webhook)
    rows = Webhook.objects.filter(pk=webhook.pk, paused_at__isnull=True)
    reason = WebhookPause.ADMIN.value
    if rows.update(paused_at=timezone.now(), pause_reason=reason):
        audit.record(actor=actor, verb="webhook.pause", project=webhook.project, obj=webhook, reason=reason)
    webhook.refresh_from_db()
    return webhook


@transaction.atomic
def resume_webhook(*, actor: Actor, webhook: Webhook) -> Webhook:
    """Send what waits, each as if for the first time. Raises StaleState when it is not paused, Invalid for an
    address that the operator does not allow."""
    require(actor, "project.change", webhook)
    row = _locked(webhook)
    if row.paused_at is None:
        raise StaleState(translatable("This webhook is not paused."), code="not_paused")
    _checked(row.edited())
    now = timezone.now()
    Webhook.objects.filter(pk=row.pk).update(paused_at=None, pause_reason="", failures=0, rests_until=None)
    row.deliveries.filter(state=DeliveryState.WAITING).update(attempts=0, next_at=now)
    audit.record(actor=actor, verb="webhook.resume", project=row.project, obj=row)
    dispatch.send(JOB, row.pk)
    row.refresh_from_db()
    return row


@transaction.atomic
def send_test(*, actor: Actor, webhook: Webhook) -> WebhookDelivery:
    """Send an event that tells of nothing, whichever the webhook is told of. Raises StaleState while it is
    paused, Conflict while one waits."""
    require(actor, "project.change", webhook)
    row = _locked(webhook)
    if row.paused_at is not None:
        raise StaleState(translatable("This webhook is paused; resume it first."), code="paused")
    test = WebhookEvent.TEST
    if row.deliveries.filter(event=test, state=DeliveryState.WAITING).exists():
        raise Conflict(translatable("A test is waiting to be sent already."), code="test_waits")
    now = timezone.now()
    delivery = WebhookDelivery.objects.create(
        webhook=row,
        event=test.value,
        object_id=str(row.pk),
        subject=events.subject(test, str(row.pk)),
        created_at=now,
        next_at=now,
    )
    audit.record(actor=actor, verb="webhook.test", project=row.project, obj=row)
    dispatch.send(JOB, row.pk)
    return delivery


def _locked(webhook: Webhook) -> Webhook:
    rows = Webhook.objects.select_for_update(no_key=True, of=("self",)).select_related("project")
    return rows.get(pk=webhook.pk)


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they are stored."""
    fields: dict[str, str] = dict.fromkeys(
        set(values) - set(Webhook.EDITED), translatable("Unknown setting.")
    )
    name = escape(str(values.get("name", "")).strip())
    url = str(values.get("url", "")).strip()
    chosen = values.get("events", ())
    if not 1 <= len(name) <= MAX_NAME:
        fields["name"] = translatable("Enter a name of at most {name} characters.", name=MAX_NAME)
    if len(url) > MAX_URL or normalised(url) is None:
        fields["url"] = translatable(
            "Enter an address that begins with https:// or http://, without a user name, a query or spaces."
        )
    elif not allows(url):
        fields["url"] = translatable(
            "This address is not among those that the operator of this Tristep allows (TRISTEP_WEBHOOK_URLS)."
        )
    names = [event.value for event in events.CHOSEN]
    if not isinstance(chosen, list | tuple) or not chosen or set(map(str, chosen)) - set(names):
        fields["events"] = translatable("Choose at least one event.")
        chosen = ()
    if fields:
        raise Invalid(translatable("The webhook could not be saved; check the fields."), fields=fields)
    return {"name": name, "url": url, "events": [event for event in names if event in chosen]}
