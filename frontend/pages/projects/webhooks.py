"""Webhooks: where a project's events go, and what became of them, for its admins."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid, StaleState, StaleVersion
from annotation.core.text import unescape
from annotation.core.vocabulary import DeliveryState, WebhookEvent, WebhookPause
from annotation.language import translated
from annotation.models import Webhook, WebhookDelivery
from annotation.services import webhooks as service
from frontend.forms import add_errors
from frontend.forms.webhooks import EVENT_NAMES, WebhookForm
from frontend.pages.shared.collision import collide
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import Empty, Filter, ListPage, act, show
from frontend.rendering.began import BEGAN, begun, read
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import badge_kind, readable, state_name

VERB = "project.change"
SECTION = "settings"
PAUSED = {
    WebhookPause.ADMIN: gettext_lazy("It is paused. Events wait until it is resumed."),
    WebhookPause.FAILING: gettext_lazy(
        "It is paused, because its server has not taken an event for long. Events wait until it is resumed."
    ),
    WebhookPause.GONE: gettext_lazy(
        "It is paused, because its server answered that it wants no more events (410). Events wait until it "
        "is resumed."
    ),
    WebhookPause.FORBIDDEN: gettext_lazy(
        "It is paused, because the operator does not allow its address any more. Events wait until it is "
        "resumed."
    ),
}


def _trail(slug: str) -> tuple[str, str]:
    return _("Webhooks"), reverse("frontend:webhooks", args=[slug])


def _find(opened: ProjectPage, pk: int) -> Webhook:
    rows = Webhook.objects.filter(project=opened.project).select_related("project")
    return get_object_or_404(policies.visible(opened.user, rows), pk=pk)


def _values(webhook: Webhook) -> dict[str, Any]:
    return {**webhook.edited(), "name": unescape(webhook.name)}


def _counted(opened: ProjectPage, state: DeliveryState) -> Any:
    """The number of deliveries of a webhook in a state, of those that the person may see."""
    of_it = WebhookDelivery.objects.filter(webhook=OuterRef("pk"), state=state).order_by()
    seen = policies.visible(opened.user, of_it).values("webhook")
    return Coalesce(Subquery(seen.annotate(n=Count("pk")).values("n")), 0)


@require_GET
def webhooks(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The webhooks of a project: whether each is working, what waits and what was given up."""
    opened = open_project(request, slug, VERB)

    def state(row: Webhook) -> str:
        if row.paused_at is not None:
            return cells.badge(_("paused"), "badge--warn")
        if row.failures:
            text = ngettext("%(n)d attempt failed", "%(n)d attempts failed", row.failures)
            return cells.badge(text % {"n": row.failures}, "badge--bad")
        return cells.badge(_("working"), "badge--good")

    columns = [
        Column(
            "name",
            _("Name"),
            cell=lambda row: cells.link(readable(row.name), at("webhook", slug, row.pk)),
            look="main",
        ),
        Column("url", _("Address"), cell=lambda row: cells.broken(row.url)),
        Column("state", _("State"), lambda row: "paused" if row.paused_at else "", state),
        Column("waiting", _("Waiting"), look="number"),
        Column("given_up", _("Given up"), look="number"),
    ]
    new = cells.link(_("New webhook"), at("webhook-new", slug), "button button--primary")
    about = _("A webhook tells another server when something has happened in this project.")
    rows = Webhook.objects.filter(project=opened.project).annotate(
        waiting=_counted(opened, DeliveryState.WAITING), given_up=_counted(opened, DeliveryState.GIVEN_UP)
    )
    listed = ListPage(
        request, columns, policies.visible(opened.user, rows), Empty(_("No webhook yet"), action=new)
    )
    return show(
        opened,
        SECTION,
        listed,
        title=_("Webhooks"),
        about=about,
        actions=[new] if listed.page.object_list else [],
    )


@require_GET
def webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """A webhook: what it is told of, and what became of each event."""
    opened = open_project(request, slug, VERB)
    return _page(opened, _find(opened, pk))


def _page(opened: ProjectPage, row: Webhook, *, secret: str = "", status: int = 200) -> HttpResponseBase:
    request, slug = opened.request, opened.project.slug

    def answer(delivery: WebhookDelivery) -> str:
        parts = [str(delivery.status)] if delivery.status is not None else []
        if delivery.answer:
            parts.append(cells.soft(translated(delivery.answer)))
        return cells.lines(*parts) if parts else ""

    def resend(delivery: WebhookDelivery) -> str:
        if delivery.state == DeliveryState.WAITING:
            return ""
        name = f"{EVENT_NAMES[WebhookEvent(delivery.event)]} {delivery.object_id}"
        return act(request, _("Send again"), at("delivery-send", slug, delivery.pk), of=name)

    def when(delivery: WebhookDelivery) -> Any:
        waits = delivery.state == DeliveryState.WAITING and row.paused_at is None
        return delivery.next_at if waits and delivery.attempts else None

    columns = [
        Column("event", _("Event"), cell=lambda one: EVENT_NAMES[WebhookEvent(one.event)], look="main"),
        Column("object_id", _("Object"), cell=lambda one: cells.broken(one.object_id)),
        Column("created_at", _("Happened")),
        Column(
            "state", _("State"), cell=lambda one: cells.badge(state_name(one.state), badge_kind(one.state))
        ),
        Column("attempts", _("Attempts"), look="number"),
        Column("tried_at", _("Last attempt")),
        Column("status", _("Answer"), cell=answer),
        Column("", _("Next attempt"), cell=when),
        Column("", _("Actions"), cell=resend, look="actions"),
    ]
    deliveries = policies.visible(opened.user, WebhookDelivery.objects.filter(webhook=row))

    def rows(asked: dict[str, str]) -> QuerySet[WebhookDelivery]:
        return deliveries.filter(state=asked["state"]) if asked["state"] else deliveries

    listed = ListPage(
        # the page that shows a secret is the answer to a POST
        request,
        columns,
        rows,
        Empty(_("Nothing was sent yet"), _("Send a test to see whether the server takes what is sent.")),
        filters=[Filter("state", _("State"), [(one.value, state_name(one)) for one in DeliveryState])],
        file=f"deliveries-{row.pk}" if not secret else "",
    )
    paused = row.paused_at is not None
    place = at("webhook-act", slug, row.pk)
    test = [] if paused else [act(request, _("Send a test"), place, look="", name="test")]
    pause = act(
        request,
        _("Resume") if paused else _("Pause"),
        place,
        look="button--primary" if paused else "",
        name="resume" if paused else "pause",
    )
    delete = cells.asked_act(
        get_token(request),
        _("Delete"),
        at("webhook-delete", slug, row.pk),
        _("Delete the webhook?"),
        _("Its log goes too, and what waits is not delivered."),
        "delete",
    )
    return show(
        opened,
        SECTION,
        listed,
        "projects/webhook.html",
        status=status,
        title=unescape(row.name),
        trail=[_trail(slug)],
        webhook=row,
        secret=secret,
        events=cells.cluster(*(cells.badge(EVENT_NAMES[WebhookEvent(event)]) for event in row.events)),
        paused=PAUSED[WebhookPause(row.pause_reason)] if paused else "",
        renew=cells.asked_act(
            get_token(request),
            _("New secret"),
            at("webhook-secret", slug, row.pk),
            _("Make a new secret?"),
            _("For a day both secrets sign, so that the server can change to the new one."),
            "new-secret",
        ),
        actions=[cells.link(_("Edit"), at("webhook-edit", slug, row.pk), "button"), *test, pause, delete],
    )


@never_cache
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A form for a new webhook; its secret is shown once it is made."""
    opened = open_project(request, slug, VERB)
    form = WebhookForm(request.POST or None)
    if form.is_valid():
        try:
            row, secret = service.create_webhook(
                actor=opened.user, project=opened.project, values=form.cleaned_data
            )
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            form.add_error(None, translated(error.message))
        else:
            return _page(opened, row, secret=secret)
    return _form(opened, form, title=_("New webhook"))


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change a webhook; what waits goes to the new address."""
    opened = open_project(request, slug, VERB)
    row, collision = _find(opened, pk), None
    values = _values(row)
    form = WebhookForm(request.POST or None, initial=values)
    if form.is_valid():
        try:
            service.change_webhook(
                actor=opened.user, webhook=row, values=form.cleaned_data, version=read(request.POST).version
            )
        except Invalid as error:
            add_errors(form, error)
        except StaleVersion:
            row.refresh_from_db()
            values = _values(row)
            collision = collide(opened, row, form, values, take=request.path)
            form = WebhookForm(initial=collision.values)
        else:
            messages.success(request, _("The webhook is saved."))
            return redirect("frontend:webhook", slug, pk)
    began = request.POST.get(BEGAN, "") if form.is_bound else begun(row.version, values)
    place = (unescape(row.name), at("webhook", slug, pk))
    return _form(opened, form, title=_("Edit"), place=place, began=began, collision=collision)


def _form(
    opened: ProjectPage,
    form: WebhookForm,
    *,
    title: str,
    place: tuple[str, str] | None = None,
    **context: Any,
) -> HttpResponse:
    status = 409 if context.get("collision") else 400 if form.is_bound else 200
    above = _trail(opened.project.slug)
    return opened.render(
        "projects/edit_form.html",
        SECTION,
        status=status,
        title=title,
        trail=[above, place] if place else [above],
        back=(place or above)[1],
        form=form,
        **context,
    )


@never_cache
@require_POST
def secret(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """Make a new secret and show it, once."""
    opened = open_project(request, slug, VERB)
    row = _find(opened, pk)
    made = service.new_secret(actor=opened.user, webhook=row)
    row.refresh_from_db()
    return _page(opened, row, secret=made)


@require_POST
def act_on(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Send a test, pause or resume."""
    opened = open_project(request, slug, VERB)
    row = _find(opened, pk)
    try:
        if "test" in request.POST:
            service.send_test(actor=opened.user, webhook=row)
            messages.success(request, _("The test is on its way; reload the page to see the answer."))
        elif "pause" in request.POST:
            service.pause_webhook(actor=opened.user, webhook=row)
            messages.success(request, _("The webhook is paused."))
        elif "resume" in request.POST:
            service.resume_webhook(actor=opened.user, webhook=row)
            messages.success(request, _("The webhook is resumed; what waits is being sent."))
    except (Conflict, Invalid) as error:
        why = (
            next(iter(error.fields.values()))
            if isinstance(error, Invalid) and error.fields
            else error.message
        )
        messages.error(request, translated(why))
    return redirect("frontend:webhook", slug, pk)


@require_POST
def delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Delete a webhook with its log."""
    opened = open_project(request, slug, VERB)
    service.delete_webhook(actor=opened.user, webhook=_find(opened, pk))
    messages.success(request, _("The webhook is deleted."))
    return redirect("frontend:webhooks", slug)


@require_POST
def send_again(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Deliver an event once more."""
    opened = open_project(request, slug, VERB)
    rows = WebhookDelivery.objects.filter(webhook__project=opened.project)
    deliveries = policies.visible(opened.user, rows.select_related("webhook__project"))
    delivery = get_object_or_404(deliveries, pk=pk)
    try:
        service.send_again(actor=opened.user, delivery=delivery)
    except StaleState as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(request, _("The event is on its way again; reload the page to see the answer."))
    return redirect("frontend:webhook", slug, delivery.webhook_id)
