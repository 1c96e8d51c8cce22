"""Links for people of a crowd service, and their places, for a project's admins."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Invalid, StaleVersion
from annotation.core.text import unescape
from annotation.core.vocabulary import CrowdState
from annotation.models import CrowdLink
from annotation.reports.work.crowd import crowd_links, crowd_places
from annotation.services import projects
from frontend.forms import add_errors
from frontend.forms.projects import CrowdLinkForm
from frontend.pages.projects.members import MEMBERS_VERB
from frontend.pages.shared.collision import collide
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import Empty, Filter, ListPage, act, ordered, show
from frontend.rendering.began import BEGAN, begun, read
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import badge_kind, minutes, readable, state_name

HOUR_MS = 3_600_000


def _trail(slug: str) -> tuple[str, str]:
    return _("Crowd links"), reverse("frontend:crowd-links", args=[slug])


def _find(opened: ProjectPage, pk: int) -> CrowdLink:
    rows = CrowdLink.objects.filter(project=opened.project).select_related("project")
    return get_object_or_404(policies.visible(opened.user, rows), pk=pk)


@require_GET
def links(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The links of a project: their places, what each asks for, and whether somebody new can begin."""
    opened = open_project(request, slug, MEMBERS_VERB)

    def state(row: CrowdLink) -> str:
        return (
            cells.badge(_("closed"), "badge--outline")
            if row.closed_at
            else cells.badge(_("open"), "badge--good")
        )

    columns = [
        Column(
            "name",
            _("Name"),
            cell=lambda row: cells.link(readable(row.name), at("crowd-link", slug, row.pk)),
            look="main",
            sort="name",
        ),
        Column("state", _("State"), lambda row: "closed" if row.closed_at else "open", state),
        Column("places", _("Places"), look="number"),
        Column("active", _("in use"), look="number"),
        Column("completed", _("completed"), look="number"),
        Column("trajectories", _("Trajectories each"), look="number"),
        Column("minutes", _("Time each"), cell=lambda row: minutes(row.minutes)),
        Column("created_at", _("Made"), sort="-created_at"),
    ]
    new = cells.link(_("New link"), at("crowd-link-new", slug), "button button--primary")
    empty = Empty(
        _("No link yet"),
        _(
            "A link gives people of Prolific or a like service an account, the work of one place, and a code "
            "at its end."
        ),
        new,
    )
    rows = crowd_links(actor=opened.user, project=opened.project)
    listed = ListPage(request, columns, rows, empty, order="-created_at", file="crowd-links")
    about = _("Only admins see the ids of the people who come by these links.")
    return show(
        opened,
        "members",
        listed,
        title=_("Crowd links"),
        about=about,
        actions=[new] if listed.page.object_list else [],
    )


@require_GET
def places(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """The address of a link for the service, and its places: ids, states, work, codes; a file to pay by."""
    opened = open_project(request, slug, MEMBERS_VERB)
    link = _find(opened, pk)
    columns = [
        Column(
            "participant",
            _("Id at the service"),
            "outside_id",
            lambda row: cells.broken(row.outside_id),
            "main",
            "outside_id",
        ),
        Column("account", _("Account"), "user.username"),
        Column(
            "state",
            _("State"),
            cell=lambda row: cells.badge(state_name(row.state), badge_kind(row.state)),
            sort="state",
        ),
        Column("submitted", pgettext("how many", "Submitted"), "done", look="number", sort="-done"),
        Column(
            "hours",
            _("Active hours"),
            lambda row: f"{row.active_ms / HOUR_MS:.2f}",
            look="number",
            sort="-active_ms",
        ),
        Column("begun_at", _("Begun"), sort="-begun_at"),
        Column("ended_at", _("Ended"), sort="-ended_at"),
        Column("code", _("Code"), cell=lambda row: row.code and cells.code(row.code)),
    ]

    def rows(asked: dict[str, str]) -> QuerySet[Any]:
        queryset = crowd_places(actor=opened.user, link=link)
        queryset = queryset.filter(state=asked["state"]) if asked["state"] else queryset
        queryset = queryset.filter(outside_id__icontains=asked["q"]) if asked["q"] else queryset
        return ordered(queryset, columns, asked["sort"])

    states = [(state.value, state_name(state)) for state in CrowdState]
    listed = ListPage(
        request,
        columns,
        rows,
        Empty(_("Nobody has come yet"), _("Give the address above to the service as that of the study.")),
        filters=[Filter("state", _("State"), states), Filter("q", _("Id contains"))],
        order="-begun_at",
        file=f"crowd-{link.pk}",
    )
    address = request.build_absolute_uri(reverse("frontend:crowd-arrival", args=[link.token]))
    closed = link.closed_at is not None
    close = act(
        request,
        _("Open again") if closed else _("Close the link"),
        at("crowd-link-close", slug, link.pk),
        look="",
        name="open" if closed else "close",
    )
    return show(
        opened,
        "members",
        listed,
        "projects/crowd_link.html",
        title=unescape(link.name),
        trail=[_trail(slug)],
        link=link,
        # as Prolific writes what it fills in; other services have words of their own
        address=f"{address}?{link.id_parameter}={{{{%{link.id_parameter}%}}}}",
        actions=[cells.link(_("Edit"), at("crowd-link-edit", slug, link.pk), "button"), close],
    )


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a new link."""
    opened = open_project(request, slug, MEMBERS_VERB)
    form = CrowdLinkForm(request.POST or None)
    if form.is_valid():
        try:
            link = projects.create_crowd_link(
                actor=opened.user, project=opened.project, values=form.cleaned_data
            )
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(request, _("The link is made. Copy its address for the service."))
            return redirect("frontend:crowd-link", slug, link.pk)
    return _form(opened, form, title=_("New crowd link"))


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change a link; whoever has a place keeps its time."""
    opened = open_project(request, slug, MEMBERS_VERB)
    link, collision = _find(opened, pk), None
    values = {**link.edited(), "name": unescape(link.name)}
    form = CrowdLinkForm(request.POST or None, initial=values)
    if form.is_valid():
        try:
            projects.change_crowd_link(
                actor=opened.user, link=link, values=form.cleaned_data, version=read(request.POST).version
            )
        except Invalid as error:
            add_errors(form, error)
        except StaleVersion:
            link.refresh_from_db()
            values = {**link.edited(), "name": unescape(link.name)}
            collision = collide(opened, link, form, values, take=request.path)
            form = CrowdLinkForm(initial=collision.values)
        else:
            messages.success(request, _("The link is saved."))
            return redirect("frontend:crowd-link", slug, pk)
    began = request.POST.get(BEGAN, "") if form.is_bound else begun(link.version, values)
    place = (unescape(link.name), at("crowd-link", slug, pk))
    return _form(opened, form, title=_("Edit"), place=place, began=began, collision=collision)


def _form(
    opened: ProjectPage,
    form: CrowdLinkForm,
    *,
    title: str,
    place: tuple[str, str] | None = None,
    **context: Any,
) -> HttpResponse:
    status = 409 if context.get("collision") else 400 if form.is_bound else 200
    above = _trail(opened.project.slug)
    return opened.render(
        "projects/edit_form.html",
        "members",
        status=status,
        title=title,
        trail=[above, place] if place else [above],
        back=(place or above)[1],
        form=form,
        **context,
    )


@require_POST
def close(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let nobody new begin, or open the link again."""
    opened = open_project(request, slug, MEMBERS_VERB)
    closed = "open" not in request.POST
    projects.close_crowd_link(actor=opened.user, link=_find(opened, pk), closed=closed)
    words = _("The link is closed: who has a place can finish.") if closed else _("The link is open again.")
    messages.success(request, words)
    return redirect("frontend:crowd-link", slug, pk)
