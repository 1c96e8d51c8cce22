"""Connections to servers where runs lie and to stores of files: set up, pulled over, pushed over, for a
project's admins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.connections import KINDS, STORES
from annotation.core.errors import Conflict, Invalid, StaleState
from annotation.core.vocabulary import UNFINISHED_TRANSFERS, Direction
from annotation.language import translated
from annotation.models import Connection, Transfer
from annotation.services import connections as service
from frontend.forms import add_errors
from frontend.forms.connections import ConnectionForm, PushForm, StoreForm, VersionsForm
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import Empty, ListPage, act, show
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.tristep import badge_kind, state_name

VERB = "connections.change"
SECTION = "settings"
COUNTS = {
    "new": gettext_lazy("new"),
    "known": gettext_lazy("here already"),
    "replaced": gettext_lazy("replaced by a new version"),
    "versions": gettext_lazy("changed after labelling began"),
    "written": gettext_lazy("labels added"),
    "changed": gettext_lazy("labels changed"),
    "unchanged": gettext_lazy("labels as they were"),
    "withdrawn": gettext_lazy("labels withdrawn"),
    "left_out": gettext_lazy("left out"),
}
OF_STORES = {
    "files_new": gettext_lazy("new files"),
    "files_changed": gettext_lazy("changed files"),
    "files_known": gettext_lazy("files as they were"),
    "new": gettext_lazy("new trajectories"),
    "known": gettext_lazy("trajectories here already"),
    "replaced": gettext_lazy("trajectories replaced by a new version"),
    "versions": gettext_lazy("changed after labelling began"),
    "written": gettext_lazy("files written"),
    "changed": gettext_lazy("files written anew"),
    "unchanged": gettext_lazy("files as they were"),
    "withdrawn": gettext_lazy("releases marked as withdrawn"),
    "left_out": gettext_lazy("left out"),
}
FATES = {
    "new": gettext_lazy("new"),
    "changed": gettext_lazy("changed"),
    "written": gettext_lazy("written"),
}


def _side_by_side(parts: Iterable[Any]) -> str:
    return format_html_join(" ", "{}", ((part,) for part in parts))


def _trail(slug: str) -> tuple[str, str]:
    return _("Connections"), reverse("frontend:connections", args=[slug])


def _find(opened: ProjectPage, pk: int) -> Connection:
    rows = Connection.objects.filter(project=opened.project).select_related("project")
    return get_object_or_404(policies.visible(opened.user, rows), pk=pk)


def _transfer(opened: ProjectPage, pk: int) -> Transfer:
    rows = Transfer.objects.filter(project=opened.project).select_related(
        "connection", "project", "imported", "release"
    )
    return get_object_or_404(policies.visible(opened.user, rows), pk=pk)


def _what(row: Transfer) -> str:
    words = _("Pull") if row.is_pull else _("Push")
    if row.release is not None:
        words = _("Push of %(version)s") % {"version": row.release.version}
    return _("%(what)s (dry run)") % {"what": words} if row.dry else words


def _names(row: Transfer) -> Mapping[str, Any]:
    """The names of its counts."""
    return OF_STORES if row.connection.kind in STORES else COUNTS


def _counted(row: Transfer) -> str:
    names = _names(row)
    return " · ".join(f"{names[name]}: {row.counts[name]:,}" for name in names if row.counts.get(name))


@require_GET
def connections(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The connections of a project."""
    opened = open_project(request, slug, VERB)
    columns = [
        Column(
            "name",
            _("Name"),
            cell=lambda row: cells.link(row.name, at("connection", slug, row.pk)),
            look="main",
        ),
        Column("kind", _("Kind"), cell=lambda row: translated(KINDS[row.kind].title)),
        Column("base_url", _("Address"), cell=lambda row: cells.broken(row.base_url)),
        Column("source", _("Experiment, project or files")),
        Column("subset", _("Subset"), look="slug"),
    ]
    new_ones = [
        cells.link(_("New store"), at("connection-new-store", slug), "button"),
        cells.link(_("New connection"), at("connection-new", slug), "button button--primary"),
    ]
    about = _(
        "A connection pulls runs from a server and takes the consensus to their spans, or pulls files from a "
        "store and takes releases there."
    )
    listed = ListPage(
        request,
        columns,
        policies.visible(opened.user, Connection.objects.filter(project=opened.project)),
        Empty(_("No connection yet"), action=_side_by_side(reversed(new_ones))),
    )
    return show(
        opened,
        SECTION,
        listed,
        title=_("Connections"),
        about=about,
        actions=new_ones if listed.page.object_list else [],
    )


@require_GET
def connection(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """A connection: where it leads, what can be asked of it, and what came of that."""
    opened = open_project(request, slug, VERB)
    return _page(opened, _find(opened, pk))


def _page(
    opened: ProjectPage,
    row: Connection,
    *,
    versions: VersionsForm | None = None,
    push: PushForm | None = None,
    status: int = 200,
) -> HttpResponseBase:
    request, slug = opened.request, opened.project.slug
    columns = [
        Column(
            "what",
            _("Transfer"),
            _what,
            lambda one: cells.link(_what(one), at("connection-transfer", slug, one.pk)),
            "main",
        ),
        Column(
            "state", _("State"), cell=lambda one: cells.badge(state_name(one.state), badge_kind(one.state))
        ),
        Column("result", _("Result"), _counted),
        Column("created_at", _("Time")),
    ]
    transfers = policies.visible(opened.user, Transfer.objects.filter(connection=row))
    transfers = transfers.select_related("connection", "release")
    listed = ListPage(
        request,
        columns,
        transfers,
        Empty(_("Nothing was pulled yet"), _("A dry run says what would come, and does nothing.")),
    )
    place = at("connection-ask", slug, row.pk)
    buttons = [
        act(request, _("Dry run of a pull"), place, look="", name="dry-pull"),
        act(request, _("Pull what is new"), place, look="button--primary", name="pull"),
    ]
    kind = KINDS[row.kind]
    if not kind.store:
        buttons += [
            act(request, _("Dry run of a push"), place, look="", name="dry-push"),
            act(request, _("Push the consensus"), place, look="button--primary", name="push"),
        ]
    elif push is None:
        push = PushForm(project=opened.project)
    delete_it = cells.asked_act(
        get_token(request),
        _("Delete"),
        at("connection-delete", slug, row.pk),
        _("Delete the connection?"),
        _("What was pulled stays here, and what was pushed stays there."),
        "delete",
    )
    return show(
        opened,
        SECTION,
        listed,
        "projects/connection.html",
        status=status,
        title=row.name,
        trail=[_trail(slug)],
        connection=row,
        kind=kind,
        kind_title=translated(kind.title),
        source_label=translated(kind.source_label),
        push=push,
        hint=translated(kind.hint) if kind.hint else "",
        buttons=buttons,
        place=place,
        versions=versions or VersionsForm(initial={"subset": f"{row.subset[:61]}-2"}),
        actions=[cells.link(_("Edit"), at("connection-edit", slug, row.pk), "button"), delete_it],
    )


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a new connection to a server where runs lie."""
    opened = open_project(request, slug, VERB)
    return _new(opened, ConnectionForm(request.POST or None), title=_("New connection"))


@require_http_methods(["GET", "POST"])
def new_store(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a new connection to a store of files."""
    opened = open_project(request, slug, VERB)
    form = StoreForm(request.POST or None, project_kind=opened.project.of_kind)
    return _new(opened, form, title=_("New store"))


def _new(opened: ProjectPage, form: ConnectionForm, *, title: str) -> HttpResponse:
    slug = opened.project.slug
    if form.is_valid():
        try:
            made = service.create_connection(actor=opened.user, project=opened.project, **form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            form.add_error(None, translated(error.message))
        else:
            messages.success(opened.request, _("The connection is made. A dry run says what it would bring."))
            return redirect("frontend:connection", slug, made.pk)
    return _form(opened, form, title=title)


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change a connection."""
    opened = open_project(request, slug, VERB)
    row = _find(opened, pk)
    of_kind: type[ConnectionForm] = StoreForm if row.kind in STORES else ConnectionForm
    more = {"project_kind": opened.project.of_kind} if row.kind in STORES else {}
    values = {name: getattr(row, name) for name in of_kind.base_fields if name != "kind"}
    form = of_kind(request.POST or None, initial=values, changing=True, **more)
    if form.is_valid():
        try:
            service.update_connection(actor=opened.user, connection=row, values=form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            form.add_error(None, translated(error.message))
        else:
            messages.success(request, _("The connection is saved."))
            return redirect("frontend:connection", slug, pk)
    return _form(opened, form, title=_("Edit"), place=(row.name, at("connection", slug, pk)))


def _form(
    opened: ProjectPage, form: ConnectionForm, *, title: str, place: tuple[str, str] | None = None
) -> HttpResponse:
    above = _trail(opened.project.slug)
    return opened.render(
        "projects/edit_form.html",
        SECTION,
        status=400 if form.is_bound else 200,
        title=title,
        trail=[above, place] if place else [above],
        back=(place or above)[1],
        form=form,
    )


@require_POST
def delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Forget a connection."""
    opened = open_project(request, slug, VERB)
    try:
        service.delete_connection(actor=opened.user, connection=_find(opened, pk))
    except Conflict as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:connection", slug, pk)
    messages.success(request, _("The connection is deleted."))
    return redirect("frontend:connections", slug)


@require_POST
def ask(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """Ask for a pull or a push, or for a dry run of one."""
    opened = open_project(request, slug, VERB)
    row = _find(opened, pk)
    versions = VersionsForm(request.POST) if "versions" in request.POST else None
    if versions is not None and not versions.is_valid():
        return _page(opened, row, versions=versions, status=400)
    push = "push" in request.POST or "dry-push" in request.POST
    wanted = PushForm(request.POST, project=opened.project) if push and row.kind in STORES else None
    if wanted is not None and not wanted.is_valid():
        return _page(opened, row, push=wanted, status=400)
    release = None
    if wanted is not None:
        release = opened.project.releases.get(version=wanted.cleaned_data["release"])
    try:
        made = service.ask_for(
            actor=opened.user,
            connection=row,
            direction=Direction.PUSH if push else Direction.PULL,
            dry="dry-pull" in request.POST or "dry-push" in request.POST,
            subset=versions.cleaned_data["subset"] if versions else "",
            versions=versions is not None,
            release=release,
        )
    except Invalid as error:
        if versions is None:
            raise
        add_errors(versions, error)
        return _page(opened, row, versions=versions, status=400)
    except Conflict as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:connection", slug, pk)
    return redirect("frontend:connection-transfer", slug, made.pk)


@require_GET
def transfer(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A transfer: how far it is, what it has come to, and what was left out and why."""
    opened = open_project(request, slug, VERB)
    row = _transfer(opened, pk)
    left_out = Table(
        [
            Column(
                "id",
                _("File") if row.connection.kind in STORES else _("Trace"),
                lambda one: one["id"],
                lambda one: cells.broken(one["id"]),
                "main",
            ),
            Column("reason", _("Why"), lambda one: translated(one["reason"])),
        ],
        row.left_out,
    )
    unfinished = row.state in UNFINISHED_TRANSFERS
    stop_it = act(request, _("Stop"), at("connection-stop", slug, row.pk), look="", name="stop")
    return opened.render(
        "projects/transfer.html",
        SECTION,
        title=_what(row),
        trail=[_trail(slug), (row.connection.name, at("connection", slug, row.connection_id))],
        transfer=row,
        unfinished=unfinished,
        progress=_progress(row),
        counts=[(name, row.counts[key]) for key, name in _names(row).items() if key in row.counts],
        files=_files(row, slug),
        error=translated(row.error) if row.error else "",
        left_out=left_out,
        more=row.counts.get("left_out", 0) - len(row.left_out),
        actions=[stop_it] if unfinished else [],
    )


@never_cache
@require_GET
def status(request: HttpRequest, slug: str, pk: int) -> JsonResponse:
    """The progress of a transfer, as JSON for the script on the page."""
    row = _transfer(open_project(request, slug, VERB), pk)
    job = {
        "id": row.pk,
        "state": row.state,
        "title": _progress(row),
        "done": row.progress_done,
        "total": row.progress_total,
        "finished": row.state not in UNFINISHED_TRANSFERS,
    }
    return JsonResponse({"jobs": [job]})


def _progress(row: Transfer) -> str:
    if read := row.counts.get("read"):
        words = _("Spans read: %(n)s") % {"n": f"{read:,}"}
    elif row.connection.kind in STORES:
        words = _("Files looked at: %(n)s") % {"n": f"{row.progress_done:,}"}
    else:
        words = _("Traces looked at: %(n)s") % {"n": f"{row.progress_done:,}"}
    return f"{state_name(row.state)} · {words}"


def _files(row: Transfer, slug: str) -> Table | None:
    """The files of a store that were pulled or written."""
    if not row.files:
        return None

    def brought(file: Any) -> str:
        titles = {name: OF_STORES[name] for name in ("new", "known", "replaced", "versions")}
        counts = {"versions" if name == "version" else name: n for name, n in file["records"].items()}
        return " · ".join(f"{titles[name]}: {counts[name]:,}" for name in titles if counts.get(name))

    columns = [
        Column("name", _("File"), lambda file: file["name"], lambda file: cells.broken(file["name"]), "main"),
        Column("what", _("State"), lambda file: FATES.get(file["what"], file["what"])),
    ]
    if row.is_pull:
        columns += [
            Column("records", _("Trajectories"), brought),
            Column(
                "imports",
                _("Import"),
                cell=lambda file: _side_by_side(
                    cells.link(str(pk), at("import-detail", slug, pk)) for pk in file["imports"][:20]
                ),
            ),
        ]
    else:
        columns.append(Column("bytes", _("Size"), lambda file: filesizeformat(file["bytes"]), look="number"))
    return Table(columns, row.files)


@require_POST
def stop(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Stop a transfer."""
    opened = open_project(request, slug, VERB)
    try:
        service.cancel(actor=opened.user, transfer=_transfer(opened, pk))
    except StaleState as error:
        messages.error(request, translated(error.message))
    return redirect("frontend:connection-transfer", slug, pk)
