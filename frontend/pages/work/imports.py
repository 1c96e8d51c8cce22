"""Importing: upload, progress, and what came of each file."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Invalid, TristepError
from annotation.core.kinds import Feature, ProjectKind
from annotation.core.label_files import LABEL_FORMAT
from annotation.core.vocabulary import ImportState
from annotation.language import translated
from annotation.models import EDITED_FORMAT, ImportFile, User
from annotation.services import ingest, suggest
from frontend.forms.imports import ImportForm
from frontend.pages.shared.common import ProjectPage, may_send, open_project, paginate, receives_files
from frontend.pages.shared.list_page import Empty, ListPage, show
from frontend.pages.work import label_previews, previews
from frontend.rendering.jinja import Macros
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import badge_kind, state_name

IMPORTS_VERB = "import"
POLLED_STATES = (ImportState.QUEUED.value, ImportState.RUNNING.value)
POLLED = 50
import_cells = Macros("imports")
SHOWN_NAMES = 5
SHOWN_REFUSALS = 20


def rows(opened: ProjectPage) -> Any:
    """The imports of a project, of either kind, with what lists show."""
    imports = ImportFile.objects.filter(project=opened.project).exclude(format=EDITED_FORMAT)
    return policies.visible(opened.user, imports.select_related("subset", "created_by"))


def state_column() -> Column:
    """The column of an import's state, with its progress."""

    def state(row: ImportFile) -> str:
        unfinished = row.state in POLLED_STATES
        return import_cells.state(row, state_name(row.state), badge_kind(row.state), unfinished)

    return Column("state", _("State"), cell=state, sort="state")


def _columns(slug: str, kind: ProjectKind) -> list[Column]:
    def file(row: ImportFile) -> str:
        return cells.link(row.filename, at("import-detail", slug, row.pk))

    return [
        Column("file", _("File"), "filename", file, "main", "filename"),
        Column("subset", _("Subset"), "subset.name", look="slug", sort="subset__name"),
        state_column(),
        Column("errors", value="error_count"),
        Column("new", _("New"), "created_count", look="number"),
        Column("steps", translated(kind.names.many), "step_count", look="number"),
        Column("received", _("Time"), "created_at", sort="-created_at"),
    ]


def _page(opened: ProjectPage, form: ImportForm) -> HttpResponseBase:
    runs = opened.project.of_kind.has(Feature.RUNS)
    empty = Empty(
        _("Nothing imported yet"),
        _("Choose a file of agent logs: AgentProcessBench records, or plain chat messages.")
        if runs
        else _("Choose a file of decisions: pairs of actions, or what Tristep writes itself."),
    )
    listed = rows(opened).exclude(format=LABEL_FORMAT).defer("errors")
    columns = _columns(opened.project.slug, opened.project.of_kind)
    previews_ = rows(opened).filter(state=ImportState.UPLOADED).count()
    return show(
        opened,
        "import",
        ListPage(opened.request, columns, listed, empty, order="-created_at", file="imports"),
        "work/imports.html",
        status=400 if form.errors else 200,
        title=_("Import trajectories") if runs else _("Import decisions"),
        about=_(
            "A file is imported completely or not at all. Importing the same file again changes nothing."
        ),
        actions=[_discarding(opened, previews_)] if previews_ else [],
        form=form,
        max_bytes=settings.MAX_UPLOAD_BYTES,
    )


def _discarding(opened: ProjectPage, n: int) -> str:
    return cells.asked_act(
        get_token(opened.request),
        ngettext("Discard %(n)d preview", "Discard %(n)d previews", n) % {"n": n},
        at("imports-discard", opened.project.slug),
        _("Discard all files that are not imported yet?"),
        _("What you uploaded to preview is deleted. Imported files stay."),
        "discard",
    )


@require_POST
def discard_previews(request: HttpRequest, slug: str) -> HttpResponse:
    """Discard all files that were uploaded to be looked at first."""
    opened = open_project(request, slug, IMPORTS_VERB)
    n = len(ingest.discard_previews(actor=opened.user, project=opened.project))
    text = ngettext("%(n)d preview was discarded.", "%(n)d previews were discarded.", n)
    messages.success(request, text % {"n": n})
    return redirect("frontend:imports", slug)


def _receive(opened: ProjectPage, file: UploadedFile, options: dict[str, Any]) -> ingest.ReceivedFiles:
    """Hand one uploaded file to the service; without a name for the subset, the file's own is used."""
    name = file.name or "upload"
    return ingest.receive_upload(
        actor=opened.user,
        project=opened.project,
        subset=options["subset"] or ingest.default_subset(name),
        filename=name,
        chunks=file.chunks(),
        format=options["format"],
        replace=options["replace"],
        policy_models=options["policy_models"],
        enqueue="preview" not in opened.request.POST,
    )


def _gate(user: User, slug: str) -> int:
    may_send(user, slug, IMPORTS_VERB)
    return int(settings.MAX_UPLOAD_BYTES)


@receives_files(_gate)
@require_http_methods(["GET", "POST"])
def imports(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The list of imports, and the form that starts one.

    A script that shows the progress of the upload asks for JSON: where to go, or what is wrong and what was
    taken all the same.
    """
    opened = open_project(request, slug, IMPORTS_VERB)
    if request.method == "GET":
        subset = request.GET.get("subset", "")[:64]
        return _page(opened, ImportForm(kind=opened.project.of_kind, initial={"subset": subset}))
    form = ImportForm(request.POST, request.FILES, kind=opened.project.of_kind)
    queued: list[ImportFile] = []
    if form.is_valid():
        for file in form.cleaned_data["file"]:
            try:
                received = _receive(opened, file, form.cleaned_data)
                queued += received.files
                for name, reason in received.refused[:SHOWN_REFUSALS]:
                    form.add_error("file", f"{name}: {translated(reason)}")
            except Invalid as error:
                form.add_error("file", f"{file.name}: {translated(error.message)}")
    text = _said(queued)
    if form.errors and not request.accepts("text/html"):
        return JsonResponse({"fields": form.errors, "uploaded": text}, status=400)
    if text:
        messages.success(request, text)
    if form.errors:
        return _page(opened, form)
    target = (
        reverse("frontend:import-detail", args=[slug, queued[0].pk])
        if len(queued) == 1
        else reverse("frontend:imports", args=[slug])
    )
    return redirect(target) if request.accepts("text/html") else JsonResponse({"next": target})


def _said(queued: list[ImportFile]) -> str:
    """The names of the taken files in a sentence; empty when none was taken."""
    if not queued:
        return ""
    names = ", ".join(row.filename for row in queued[:SHOWN_NAMES])
    if (more := len(queued) - SHOWN_NAMES) > 0:
        return _("Uploaded: %(names)s and %(n)s more.") % {"names": names, "n": more}
    return _("Uploaded: %(names)s.") % {"names": names}


def _status(row: ImportFile) -> dict[str, Any]:
    return {
        "id": row.pk,
        "state": row.state,
        "title": state_name(row.state),
        "done": row.progress_done,
        "total": row.progress_total,
        "finished": row.state not in POLLED_STATES,
    }


@never_cache
@require_GET
def status(request: HttpRequest, slug: str) -> JsonResponse:
    """The progress of the imports asked for by id, as JSON for the script on the page."""
    opened = open_project(request, slug, IMPORTS_VERB)
    wanted = [
        int(pk) for pk in request.GET.get("ids", "").split(",")[:POLLED] if pk.isdecimal() and len(pk) < 19
    ]
    imports = policies.visible(opened.user, ImportFile.objects.filter(project=opened.project, pk__in=wanted))
    shown = imports.only("pk", "state", "progress_done", "progress_total", "project")
    return JsonResponse({"jobs": [_status(row) for row in shown]})


@require_GET
def detail(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One import: its progress, its counts, or everything that is wrong with the file."""
    opened = open_project(request, slug, IMPORTS_VERB)
    row = get_object_or_404(rows(opened), pk=pk)
    of_labels = row.format == LABEL_FORMAT
    if row.state == ImportState.UPLOADED:
        return label_previews.preview(opened, row) if of_labels else previews.page(opened, row)
    return opened.render(
        "work/import.html",
        "import",
        title=row.filename,
        row=row,
        of_labels=of_labels,
        annotator=label_previews.person_named(row, label_previews.members_named(opened, [row]))
        if of_labels
        else "",
        running=row.state in POLLED_STATES,
        errors=paginate(request, row.errors, per_page=100),
        labelled=not row.derived_from and suggest.has_source_labels(source=row),
        listed=len(row.errors),
    )


@require_POST
def suggestions(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make the labels that stood in the file a judge's suggestions."""
    opened = open_project(request, slug, IMPORTS_VERB)
    row = get_object_or_404(rows(opened).select_related("project", "subset"), pk=pk)
    name = request.POST.get("judge", "").strip()[:120] or row.filename[:120]
    try:
        imported = suggest.suggest_source_labels(actor=opened.user, source=row, judge_name=name)
    except TristepError as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:import-detail", slug, pk)
    text = _("%(judge)s now suggests labels of %(n)s trajectories.")
    messages.success(
        request, text % {"judge": imported.judge.name, "n": imported.created + imported.unchanged}
    )
    return redirect("frontend:judge", slug, imported.judge.pk)


@require_POST
def abandon(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Stop an import; nothing of it stays."""
    opened = open_project(request, slug, IMPORTS_VERB)
    row = get_object_or_404(rows(opened).select_related("project"), pk=pk)
    try:
        ingest.abandon(actor=opened.user, source=row)
    except TristepError as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(request, _("The import was stopped; nothing was imported."))
    return redirect("frontend:import-detail", slug, pk)
