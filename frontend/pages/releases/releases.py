"""Releases: the list, one release with its figures, verifying, exporting, withdrawing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import truncatechars
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.agreement.figures import FIGURES as AGREEMENT_FIGURES
from annotation.core.errors import Conflict, Invalid
from annotation.core.figures.measure import Measure
from annotation.core.kinds import Feature
from annotation.core.releases.exports import PLAIN, export_options
from annotation.core.releases.record_format import (
    MANIFEST,
    PUBLIC_KEY,
    SIGNATURE,
)
from annotation.core.text import unescape
from annotation.language import translated
from annotation.models import Release
from annotation.services import release as service
from frontend.forms import add_errors
from frontend.forms.releases import PublicForm, WithdrawForm
from frontend.pages.releases.release_diff import others
from frontend.pages.releases.release_files import export_form, files_context
from frontend.pages.releases.release_pictures import distribution, pictures
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.figure_cells import figure_column
from frontend.pages.shared.list_page import Empty, ListPage, show
from frontend.rendering.tables import Column, Table, at, cells

RELEASES_VERB = "release.view"
ARCHIVE = "all.zip"
CONTENT_TYPES = {
    MANIFEST: "application/json",
    SIGNATURE: "application/octet-stream",
    PUBLIC_KEY: "application/x-pem-file",
}
FIGURES = ("percent_agreement", "kappa", "linear_kappa", "quadratic_kappa")


AGREEMENT_TITLES = {
    "project": gettext_lazy("all resolved trajectories of the project, when it was frozen"),
    "release": gettext_lazy("this release"),
}


def _rows(opened: ProjectPage) -> Any:
    releases = Release.objects.filter(project=opened.project).select_related(
        "project", "created_by", "withdrawal", "public_release"
    )
    return policies.visible(opened.user, releases)


def _columns(slug: str, previous: dict[str, str]) -> list[Column]:
    def version(row: Release) -> str:
        withdrawn = cells.badge(_("withdrawn"), "badge--bad") if hasattr(row, "withdrawal") else ""
        open_ = hasattr(row, "public_release") and row.public_release.is_open
        public = cells.badge(_("public"), "badge--warn") if open_ else ""
        name = cells.beside(cells.link(row.version, at("release", slug, row.version)), withdrawn, public)
        note = truncatechars(unescape(row.note), 120)
        return cells.lines(name, cells.soft(note) if note else "")

    def changes(row: Release) -> str:
        before = previous.get(row.version, "")
        since = _("since %(version)s") % {"version": before}
        return before and cells.link(since, at("release-diff", slug, row.version, before))

    def frozen(row: Release) -> str:
        when = cells.when(row.created_at)
        return cells.beside(when, row.created_by or "")

    return [
        Column("version", _("Version"), cell=version, look="main"),
        Column("records", _("Records"), "record_count", look="number", sort="-record_count"),
        Column("labels", _("Labels"), "label_count", look="number"),
        Column("digest", _("Digest"), cell=lambda row: cells.code(f"{row.digest[:12]}…", row.digest)),
        Column("frozen", _("Frozen"), "created_at", frozen, sort="-created_at"),
        Column("changes_since", _("Changes"), lambda row: previous.get(row.version), changes),
        Column("note"),
    ]


@require_GET
def releases(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All releases of a project, newest first."""
    opened = open_project(request, slug, RELEASES_VERB)
    rows = _rows(opened).order_by("-number").defer("manifest")
    known = others(opened)
    may_freeze = opened.may("release.freeze")
    freeze, look = at("release-freeze", slug), "button button--primary"
    empty = Empty(
        _("No release yet"),
        _(
            "A release copies everything that is resolved at the moment it is frozen: unanimous and "
            "adjudicated trajectories."
        ),
        cells.link(_("Freeze the first release"), freeze, look) if may_freeze else "",
    )
    planned = opened.may("agreement.view") and opened.project.of_kind.has(Feature.STEP_SCORES)
    size_plan = cells.link(_("How many tasks?"), at("size-plan", slug), "button")
    previous = {new.version: old.version for new, old in pairwise(known)}
    listed = ListPage(request, _columns(slug, previous), rows, empty, order="-created_at", file="releases")
    return show(
        opened,
        "releases",
        listed,
        "releases/releases.html",
        about=_("Frozen, numbered, checksummed copies of the consensus labels. They never change."),
        actions=[
            *([size_plan] if planned else []),
            *([cells.link(_("Freeze a release"), freeze, look)] if may_freeze and known else []),
        ],
        releases=known,
    )


def agreement(manifest: dict[str, Any]) -> Table:
    """The figures of agreement that a manifest states: over the project, and over the release itself."""
    parts = [
        (AGREEMENT_TITLES[name], {key: Measure.of_json(figures["overall"].get(key, {})) for key in FIGURES})
        for name, figures in manifest["agreement"].items()
    ]
    measures = [measure for _title, part in parts for measure in part.values()]
    intervals = [one.interval for one in measures if one.value is not None and one.interval is not None]
    lacking = {one.reason for one in intervals} if all(one.low is None for one in intervals) else set()
    undefined = [one.reason for one in measures if one.reason]
    foot = []
    if len(lacking) == 1:  # said once, where it holds of every figure
        foot.append(_("There are no intervals: %(reason)s.") % {"reason": translated(lacking.pop())})
    if undefined:
        foot.append(_("Agreement is undefined:") + f" {translated(undefined[0])}.")

    def column(key: str) -> Column:
        figure = AGREEMENT_FIGURES[key]
        title = translated(figure.title)
        return figure_column(key, title, lambda part: part[1][key], is_share=figure.percent, why=not foot)

    columns = [
        Column("included", _("Blind labels included"), lambda part: part[0]),
        *map(column, FIGURES),
        Column("n", "n", lambda part: part[1][FIGURES[0]].n, look="number"),
    ]
    return Table(columns, parts, labelledby="agreement", title=_("Agreement of annotators"), foot=foot)


def _pictures(opened: ProjectPage, release: Release) -> dict[str, Any]:
    try:
        return pictures(service.statistics(actor=opened.user, release=release), opened.project.of_kind)
    except Conflict as error:
        return {"damaged": translated(error.message)}


def _address(request: HttpRequest, release: Release) -> str:
    place = reverse("frontend:public-release", args=[release.project.slug, release.version])
    return request.build_absolute_uri(place)


def _detail(opened: ProjectPage, release: Release, **extra: Any) -> HttpResponse:
    manifest = release.parsed_manifest()
    extra.setdefault("form", WithdrawForm())
    switches = service.switches(release)
    extra.setdefault("public_form", PublicForm(initial=asdict(switches)))
    known = others(opened)
    previous = next((one for one in known if one.number < release.number), None)
    return opened.render(
        "releases/release.html",
        "releases",
        title=_("Release %(version)s") % {"version": release.version},
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
        agreement=agreement(manifest),
        switches=switches,
        address=_address(opened.request, release),
        releases=known,
        previous=previous,
        may_publish=opened.may("release.publish"),
        may_derive=opened.may("release.derive")
        and opened.project.of_kind.has(Feature.DERIVATION)
        and not hasattr(release, "withdrawal"),
        may_withdraw=opened.may("release.withdraw"),
        **{**files_context(opened, release, manifest), **_pictures(opened, release), **extra},
    )


@require_GET
def release(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """One release: counts, distribution, agreement at the time, checksums, signature, files."""
    opened = open_project(request, slug, RELEASES_VERB)
    return _detail(opened, get_object_or_404(_rows(opened), version=version))


@require_POST
def verify(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Recompute every checksum now and say what came of it."""
    opened = open_project(request, slug, RELEASES_VERB)
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


@require_POST
def public(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """Switch the public address of a release on or off."""
    opened = open_project(request, slug, "release.publish")
    row = get_object_or_404(_rows(opened), version=version)
    form = PublicForm(request.POST)
    if not form.is_valid():
        return _detail(opened, row, public_form=form, status=400)
    service.set_public(actor=opened.user, release=row, switches=service.PublicSwitches(**form.cleaned_data))
    is_open = form.cleaned_data["is_open"]
    messages.success(request, _("The public address is on.") if is_open else _("The public address is off."))
    return redirect(reverse("frontend:release", args=[slug, version]) + "#public")


@require_GET
def export(request: HttpRequest, slug: str, version: str, name: str) -> HttpResponseBase:
    """One file: `<subset>.jsonl` in the AgentProcessBench shape, streamed, the manifest, its signature or the
    public key; or all of them in one ZIP file."""
    opened = open_project(request, slug, RELEASES_VERB)
    row = get_object_or_404(_rows(opened), version=version)
    documents = service.documents(row)
    if name == ARCHIVE:
        return _archive(request, opened, row)
    if name in documents:
        response: HttpResponseBase = HttpResponse(documents[name], content_type=CONTENT_TYPES[name])
    else:
        subset = name.removesuffix(".jsonl")
        if subset == name or subset not in row.parsed_manifest()["subsets"]:
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
        form = export_form(opened, request.GET)
        form.full_clean()
        add_errors(form, error)
        return _detail(opened, row, export_form=form, status=400)
    kind = "" if options.format is PLAIN.format else f"-{options.format.name}"
    response = StreamingHttpResponse(whole, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{opened.project.slug}-{row.version}{kind}.zip"'
    return response


def _bytes(lines: Iterator[tuple[str, bytes]]) -> Iterator[bytes]:
    for _subset, line in lines:
        yield line
