"""Importing a person's labels: the upload, and the list of such files."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.core.errors import Invalid
from annotation.core.label_files import LABEL_FORMAT, MAX_FILE, MAX_REQUEST
from annotation.models import Membership, Subset, User
from annotation.models.data import with_trajectories
from annotation.services import label
from frontend.forms import add_errors
from frontend.forms.imports import LabelImportForm
from frontend.pages.shared.common import ProjectPage, may_send, open_project, receives_files
from frontend.pages.shared.list_page import Empty, ListPage, show
from frontend.pages.work import imports
from frontend.pages.work.label_previews import members_named, person_named
from frontend.rendering.tables import Column, at, cells


def _form(opened: ProjectPage, *given: Any) -> LabelImportForm:
    members = Membership.objects.filter(project=opened.project, is_annotator=True, user__is_active=True)
    rows = policies.visible(opened.user, members.select_related("user").order_by("user__username"))
    subsets = policies.visible(opened.user, Subset.objects.filter(project=opened.project))
    return LabelImportForm(
        *given,
        members=[(row.user.username, str(row.user)) for row in rows],
        subsets=with_trajectories(subsets).order_by("name").values_list("name", flat=True),
    )


def _page(opened: ProjectPage, form: LabelImportForm) -> HttpResponseBase:
    rows = imports.rows(opened).filter(format=LABEL_FORMAT).defer("errors")
    people = members_named(opened, rows)
    slug = opened.project.slug
    columns = [
        Column(
            "file",
            _("File"),
            "filename",
            lambda row: cells.link(row.filename, at("import-detail", slug, row.pk)),
            "main",
            "filename",
        ),
        Column("annotator", _("Annotator"), lambda row: person_named(row, people)),
        Column("subset", _("Subset"), lambda row: row.subset.name if row.subset else "", look="slug"),
        imports.state_column(),
        Column("errors", value="error_count"),
        Column("new", _("Labelled trajectories"), "created_count", look="number"),
        Column("steps", _("Step labels"), "step_count", look="number"),
        Column("received", _("Time"), "created_at", sort="-created_at"),
    ]
    empty = Empty(
        _("No labels imported yet"),
        _("Labels that people gave elsewhere, one trajectory a line, become their submitted work here."),
    )
    return show(
        opened,
        "import",
        ListPage(opened.request, columns, rows, empty, order="-created_at", file="label-imports"),
        "work/imports.html",
        status=400 if form.errors else 200,
        title=_("Import labels"),
        about=_(
            "A file is imported completely or not at all. Nothing is stored before you have seen a preview."
        ),
        form=form,
        of_labels=True,
        max_bytes=MAX_FILE,
    )


def _gate(user: User, slug: str) -> int:
    may_send(user, slug, imports.IMPORTS_VERB)
    return MAX_REQUEST


@receives_files(_gate)
@require_http_methods(["GET", "POST"])
def label_imports(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The list of files of labels, and the form that uploads one to be looked at first."""
    opened = open_project(request, slug, imports.IMPORTS_VERB)
    if request.method == "GET":
        return _page(opened, _form(opened))
    form = _form(opened, request.POST, request.FILES)
    if form.is_valid():
        values = form.cleaned_data
        file = values.pop("file")
        try:
            row = label.receive_labels(
                actor=opened.user,
                project=opened.project,
                filename=file.name or "upload",
                chunks=file.chunks(),
                enqueue=False,
                **values,
            )
        except Invalid as error:
            add_errors(form, error)
        else:
            target = reverse("frontend:import-detail", args=[slug, row.pk])
            return redirect(target) if request.accepts("text/html") else JsonResponse({"next": target})
    if not request.accepts("text/html"):
        return JsonResponse({"fields": form.errors}, status=400)
    return _page(opened, form)
