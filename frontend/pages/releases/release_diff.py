"""Two releases beside each other: what came, went and changed; and its changelog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation import policies
from annotation.core.agreement.figures import FIGURES
from annotation.core.releases.diff import WHATS, DiffCounts, RecordChange, What
from annotation.core.vocabulary import VALUES
from annotation.language import translated
from annotation.models import Release
from annotation.services import release as service
from frontend.pages.releases.release_pictures import distribution
from frontend.pages.shared.common import ProjectPage, open_project, release_trail
from frontend.pages.shared.heat import Heat, HeatCell
from frontend.pages.shared.list_page import Empty, Filter, ListPage
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, Table, cells
from frontend.templatetags.tristep import figure, percent, readable

RELEASE_DIFF_VERB = "release.view"
SHOWN_LABELS = 12
"""So many labels of one record stand in its row; the rest is counted."""

WHAT_TITLES = {
    "added": gettext_lazy("Added"),
    "removed": gettext_lazy("Removed"),
    "labels": gettext_lazy("Labels changed"),
    "outcome": gettext_lazy("Outcome changed"),
    "reasons": gettext_lazy("Root or reason changed"),
    "text": gettext_lazy("Messages changed"),
    "fields": gettext_lazy("Other fields changed"),
}
WHAT_KINDS = {"added": "good", "removed": "bad", "labels": "warn", "outcome": "warn"}


def _rows(opened: ProjectPage) -> Any:
    releases = Release.objects.filter(project=opened.project).select_related("project", "withdrawal")
    return policies.visible(opened.user, releases)


def others(opened: ProjectPage) -> list[Release]:
    """The releases of the project to choose a pair from, the newest first. One query."""
    return list(
        _rows(opened)
        .only("version", "number", "created_at", "project__slug", "withdrawal")
        .order_by("-number")
    )


def _compared(opened: ProjectPage, version: str, other: str) -> service.Comparison:
    new, old = (get_object_or_404(_rows(opened), version=name) for name in (version, other))
    return service.compare(actor=opened.user, old=old, new=new)


@require_GET
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Leads from a chosen pair to its page."""
    opened = open_project(request, slug, RELEASE_DIFF_VERB)
    if not request.GET.keys() >= {"new", "old"}:
        return redirect("frontend:releases", slug)
    new, old = (
        get_object_or_404(_rows(opened), version=request.GET.get(name, "").replace("\x00", ""))
        for name in ("new", "old")
    )
    return redirect("frontend:release-diff", slug, new.version, old.version)


@require_GET
def diff(request: HttpRequest, slug: str, version: str, other: str) -> HttpResponse:
    """Changes from the release `other` to the release `version`."""
    opened = open_project(request, slug, RELEASE_DIFF_VERB)
    comparison = _compared(opened, version, other)
    asked = request.GET.get("what", "")
    what = next((one for one in WHATS if one == asked), None)
    subsets = list(comparison.diff.subsets)
    choices = [(name, name) for name in subsets]
    listed = ListPage(
        request,
        _columns(comparison),
        lambda asked: comparison.listed(what=what, subset=asked.get("subset", "")),
        Empty(_("Nothing of this kind changed.")),
        filters=[Filter("subset", _("Subset"), choices)] if len(subsets) > 1 else [],
        items=lambda rows: service.shown(actor=opened.user, comparison=comparison, changes=rows),
        kept=["what"],
    )
    chosen = listed.asked.get("subset", "")
    outcomes = comparison.diff.moved_outcomes
    return opened.render(
        "releases/release_diff.html",
        "releases",
        title=_("%(new)s compared with %(old)s") % {"new": version, "old": other},
        trail=release_trail(slug, version),
        found=comparison,
        old=comparison.old,
        new=comparison.new,
        releases=others(opened),
        whole=comparison.diff.whole,
        by_subset=_by_subset(comparison),
        tabs=_tabs(comparison, what, chosen if chosen in subsets else ""),
        list=listed,
        sides=_sides(comparison),
        moved=_moved(comparison, comparison.diff.moved),
        moved_outcomes=_moved(comparison, outcomes) if any(was != now for was, now in outcomes) else None,
        agreement=_agreement(comparison),
        changelog=comparison.changelog(),
    )


@require_GET
def changelog(request: HttpRequest, slug: str, version: str, other: str) -> HttpResponse:
    """The changelog as a file."""
    comparison = _compared(open_project(request, slug, RELEASE_DIFF_VERB), version, other)
    name = f"{slug}-{comparison.old.version}-{comparison.new.version}.md"
    return HttpResponse(
        comparison.changelog(),
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _tabs(comparison: service.Comparison, what: str | None, subset: str) -> list[dict[str, Any]]:
    counts = comparison.diff.subsets[subset] if subset else comparison.diff.whole
    changed = counts.changed + counts.records["added"] + counts.records["removed"]
    tabs = [{"key": "", "title": gettext_lazy("All changes"), "count": changed, "current": what is None}]
    return tabs + [
        {"key": one, "title": WHAT_TITLES[one], "count": counts.records[one], "current": one == what}
        for one in WHATS
        if counts.records[one] or one == what
    ]


def _by_subset(comparison: service.Comparison) -> Table:
    def of(what: What) -> Callable[[tuple[str, DiffCounts]], int]:
        return lambda row: row[1].records[what]

    rows = list(comparison.diff.subsets.items())
    if len(rows) > 1:
        rows.append((_("All subsets"), comparison.diff.whole))
    columns = [
        Column("subset", _("Subset"), lambda row: row[0]),
        Column("before", comparison.old.version, lambda row: row[1].before, look="number"),
        Column("after", comparison.new.version, lambda row: row[1].after, look="number"),
        Column("added", _("Added"), of("added"), look="number"),
        Column("removed", _("Removed"), of("removed"), look="number"),
        Column("labels", _("Step labels changed"), lambda row: row[1].labels, look="number"),
        Column("outcome", _("Outcomes changed"), of("outcome"), look="number"),
        Column("text", _("Messages changed"), of("text"), look="number"),
    ]
    return Table(columns, rows, labelledby="subsets", title=_("By subset"))


def _agreement(comparison: service.Comparison) -> Table:
    """The figures of agreement of both: rows (figure, before, after)."""

    def shown(key: str, value: float | None) -> str:
        return percent(value) if FIGURES[key].percent else figure(value)

    columns = [
        Column("figure", _("Figure"), lambda row: translated(FIGURES[row[0]].title)),
        Column("before", comparison.old.version, cell=lambda row: shown(row[0], row[1]), look="number"),
        Column("after", comparison.new.version, cell=lambda row: shown(row[0], row[2]), look="number"),
    ]
    return Table(columns, comparison.agreement(), look="table--dense")


def _sides(comparison: service.Comparison) -> list[dict[str, Any]]:
    """Both distributions, of steps and of outcomes, the older release first."""
    diff = comparison.diff
    return [
        {"release": release, "labels": distribution(steps), "outcomes": distribution(outcomes)}
        for release, steps, outcomes in zip(
            (comparison.old, comparison.new), diff.values, diff.outcomes, strict=True
        )
    ]


def _moved(comparison: service.Comparison, moved: Counter[tuple[int, int]]) -> Heat:
    """The counts of (before, after), tinted where they differ."""
    counts = [HeatCell(was, now, moved[was, now]) for was in VALUES for now in VALUES]
    return Heat(counts, (comparison.old.version, comparison.new.version), tints_equal=False)


def _reading(comparison: service.Comparison, change: RecordChange) -> str:
    """The address of a record: in the newer release, and of a removed one in the older."""
    removed = change.after is None
    release, ordinal = (comparison.old, change.before) if removed else (comparison.new, change.after)
    return reverse("frontend:release-record", args=[release.project.slug, release.version, ordinal])


def _columns(comparison: service.Comparison) -> list[Column]:
    def record(one: service.ShownChange) -> str:
        name, model = short_identity(one.change.record_id), one.change.policy_model
        shown = (
            cells.broken(name) if one.kept else cells.link(name, _reading(comparison, one.change), "break")
        )
        return cells.lines(shown, cells.soft(readable(model)) if model else "")

    def changes(one: service.ShownChange) -> str:
        if one.kept:
            return cells.soft(_("Hidden, since you are labelling this trajectory."))
        looks = [
            (WHAT_TITLES[what], WHAT_KINDS.get(what, "outline")) for what in WHATS if what in one.change.what
        ]
        return cells.cluster(*(cells.badge(title, f"badge--{kind}") for title, kind in looks))

    return [
        Column("record", _("Record"), cell=record, look="record"),
        Column("subset", _("Subset"), "change.subset"),
        Column("changes", _("Changes"), cell=changes),
        Column("labels", _("Labels, before and after"), cell=lambda one: _labels(comparison, one.change)),
    ]


def _labels(comparison: service.Comparison, change: RecordChange) -> str | None:
    labels = [label for label in change.labels if label.message_index is not None]
    if not change.labels:
        return None
    context = {
        "project": comparison.new.project,
        "reading": _reading(comparison, change),
        "of_one": change.before is None or change.after is None,
        "labels": labels[:SHOWN_LABELS],
        "more": max(len(labels) - SHOWN_LABELS, 0),
        "outcome": next((label for label in change.labels if label.message_index is None), None),
    }
    return render_to_string("frontend/releases/release_change.html", context)
