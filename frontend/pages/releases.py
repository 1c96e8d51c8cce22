"""Releases: the list, one release with its figures, verifying, exporting, withdrawing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Invalid
from annotation.core.release_exports import export_options
from annotation.core.release_format import (
    AGENTPROCESSBENCH,
    MANIFEST,
    PUBLIC_KEY,
    SIGNATURE,
    agreement_of,
)
from annotation.core.vocabulary import VALUES
from annotation.models import Release
from annotation.services import release as service
from frontend.forms import add_errors
from frontend.forms.releases import WithdrawForm
from frontend.pages.common import ProjectPage, open_project, paginate
from frontend.pages.release_files import export_form, files_context
from frontend.rendering.charts import stacked
from frontend.templatetags.tristep import MARK_KINDS

VERB = "release.view"
ARCHIVE = "all.zip"
CONTENT_TYPES = {
    MANIFEST: "application/json",
    SIGNATURE: "application/octet-stream",
    PUBLIC_KEY: "application/x-pem-file",
}
WRITTEN = {1: "+1", 0: "0", -1: "-1"}
FIGURES = (
    ("percent_agreement", "percent"),
    ("kappa", "plain"),
    ("linear_kappa", "linear"),
    ("quadratic_kappa", "quadratic"),
)


def _rows(opened: ProjectPage) -> Any:
    found = Release.objects.filter(project=opened.project).select_related(
        "project", "created_by", "withdrawal"
    )
    return policies.visible(opened.user, found)


def distribution(counts: Mapping[Any, int]) -> dict[str, Any]:
    """Counts by value (−1, 0, 1, or as a manifest writes them) as rows with shares, and as a bar."""
    by_value = {value: int(counts.get(value, counts.get(WRITTEN[value], 0))) for value in reversed(VALUES)}
    total = sum(by_value.values())
    return {
        "total": total,
        "rows": [
            {"value": value, "count": count, "share": count / total if total else None}
            for value, count in by_value.items()
        ],
        "bars": stacked([(MARK_KINDS[value], count) for value, count in by_value.items()]),
    }


@require_GET
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    """All releases of a project, newest first."""
    opened = open_project(request, slug, VERB)
    page = paginate(request, _rows(opened).order_by("-number"))
    return opened.render(
        "results/releases.html", "releases", page=page, may_freeze=opened.may("release.freeze")
    )


def _detail(opened: ProjectPage, release: Release, **extra: Any) -> HttpResponse:
    manifest = json.loads(release.manifest)
    said = (agreement_of(manifest)["project"] or {}).get("overall", {})
    extra.setdefault("form", WithdrawForm())
    return opened.render(
        "results/release.html",
        "releases",
        release=release,
        withdrawal=getattr(release, "withdrawal", None),
        manifest=manifest,
        signature=service.check_release(release),
        documents=list(service.documents(release)),
        archive=ARCHIVE,
        labels=distribution(manifest["label_distribution"]),
        outcomes=distribution(manifest["outcome_distribution"]),
        subsets=[
            {"name": name, "records": part["records"], "counts": distribution(part["label_distribution"])}
            for name, part in manifest["subsets"].items()
        ],
        agreement=[
            {"key": key, "measure": said.get(key, {}), "percent": kind == "percent"} for key, kind in FIGURES
        ],
        may_withdraw=opened.may("release.withdraw"),
        **{**files_context(opened, manifest), **extra},
    )


@require_GET
def release(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """One release: counts, distribution, agreement at the time, checksums, signature, files."""
    opened = open_project(request, slug, VERB)
    return _detail(opened, get_object_or_404(_rows(opened), version=version))


@require_POST
def verify(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Recompute every checksum now and say what came of it."""
    opened = open_project(request, slug, VERB)
    row = get_object_or_404(_rows(opened), version=version)
    return _detail(opened, row, verification=service.verify(actor=opened.user, release=row))


@require_POST
def withdraw(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Say that a release is faulty; it stays as it is."""
    opened = open_project(request, slug, "release.withdraw")
    row = get_object_or_404(_rows(opened), version=version)
    form = WithdrawForm(request.POST)
    if form.is_valid():
        try:
            service.withdraw(actor=opened.user, release=row, reason=form.cleaned_data["reason"])
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(request, _("Release %(version)s is withdrawn.") % {"version": row.version})
            return redirect("frontend:release", slug, version)
    return _detail(opened, row, form=form, status=400)


@require_GET
def export(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponseBase:
    """One file: `<subset>.jsonl` in the AgentProcessBench shape, streamed, the manifest, its signature or the
    public key; or all of them in one ZIP file."""
    opened = open_project(request, slug, VERB)
    row = get_object_or_404(_rows(opened), version=version)
    documents = service.documents(row)
    if name == ARCHIVE:
        return _archive(request, opened, row)
    if name in documents:
        response: HttpResponseBase = HttpResponse(documents[name], content_type=CONTENT_TYPES[name])
    else:
        subset = name.removesuffix(".jsonl")
        if subset == name or subset not in json.loads(row.manifest)["subsets"]:
            raise Http404
        lines = service.export_lines(actor=opened.user, release=row, subset=subset)
        response = StreamingHttpResponse(_bytes(lines), content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="{opened.project.slug}-{row.version}-{name}"'
    return response


def _archive(request: HttpRequest, opened: ProjectPage, row: Release) -> HttpResponseBase:
    """All files of the chosen format; the page with the form again when the choices cannot be."""
    try:
        options = export_options(request.GET.dict())
        whole = service.export_zip(actor=opened.user, release=row, options=options)
    except Invalid as error:
        form = export_form(opened, json.loads(row.manifest), request.GET)
        form.full_clean()
        add_errors(form, error)
        return _detail(opened, row, export_form=form, status=400)
    kind = "" if options.format == AGENTPROCESSBENCH else f"-{options.format}"
    response = StreamingHttpResponse(whole, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{opened.project.slug}-{row.version}{kind}.zip"'
    return response


def _bytes(lines: Iterator[tuple[str, bytes]]) -> Iterator[bytes]:
    for _subset, line in lines:
        yield line
