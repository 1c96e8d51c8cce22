"""Looking again: what was labelled under older guidelines, queued for its own annotators; and what these do
with whatever they are asked."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.core.vocabulary import REASON_CODES
from annotation.language import translated
from annotation.models import Assignment, Subset
from annotation.models.data import with_trajectories
from annotation.reports.quality import look_again as report
from annotation.services import kept_figures, label
from annotation.services.even_time import evened
from frontend.pages.shared.common import open_project, person, whole_number
from frontend.pages.shared.errors import status_of

WHY: Final = {
    "queued": gettext_lazy("already queued"),
    "frozen": gettext_lazy("held by a release"),
    "discussed": gettext_lazy("their dispute is being discussed or decided; open the case again instead"),
    "seen": gettext_lazy("their annotators have seen others’ labels"),
    "away": gettext_lazy("their annotators cannot be asked"),
    "looked": gettext_lazy("looked at again since then"),
    "alone": gettext_lazy("gold and rechecks, which would be told if nothing else were queued"),
    "blind": gettext_lazy(
        "you are labelling them yourself or could claim them, so they are not filtered by others’ labels"
    ),
}
MAX_FILTER: Final = 80


def left_out(preview: report.RelabelPreview) -> list[tuple[str, int]]:
    """The number that cannot be queued, by reason."""
    return [(str(WHY[name]), count) for name, count in preview.left_out.items()]


@require_http_methods(["GET", "POST"])
def look_again(request: HttpRequest, slug: str) -> HttpResponse:
    """Submitted work by guideline version, matches of the filters, and queueing them."""
    opened = open_project(request, slug, "project.change")
    given = request.POST if request.method == "POST" else request.GET
    asked = {name: given.get(name, "")[:MAX_FILTER].replace("\x00", "") for name in report.RELABEL_FILTERS}
    refusal, status = "", 200
    # the form names every filter, also with all of them empty
    previewed = bool(set(asked) & set(given)) or report.few_are_older(
        actor=opened.user, project=opened.project
    )
    preview = report.RelabelPreview((), {})
    try:
        if request.method == "POST":
            expected = whole_number(request, "expected") or 0
            label.queue_again(actor=opened.user, project=opened.project, filters=asked, expected=expected)
            text = ngettext("%(n)s assignment is queued.", "%(n)s assignments are queued.", expected)
            messages.success(request, text % {"n": expected})
            return redirect("frontend:look-again", slug)
        if previewed:
            preview = report.preview(actor=opened.user, project=opened.project, filters=asked)
    except (Conflict, Invalid) as error:
        refusal, status = translated(error.message), status_of(error)
        if isinstance(error, Conflict):
            preview = report.preview(actor=opened.user, project=opened.project, filters=asked)
    current = report.current_version(opened.project)
    kept = kept_figures.versions(actor=opened.user, project=opened.project)
    return opened.render(
        "quality/look_again.html",
        "guidelines",
        status=status,
        title=_("Look again"),
        refusal=refusal,
        asked=asked,
        filtered=any(asked.values()),
        current=current,
        kept=kept,
        versions=kept.figures,
        found=preview,
        previewed=previewed,
        ready=len(preview.ready),
        left_out=left_out(preview),
        batches=report.batches(actor=opened.user, project=opened.project),
        subsets=with_trajectories(
            policies.visible(opened.user, Subset.objects.filter(project=opened.project))
        ),
        reasons=REASON_CODES,
    )


@require_POST
def undo(request: HttpRequest, slug: str, batch: UUID) -> HttpResponse:
    """Take back those not begun; back to the page of the member that `member` names, if it does."""
    opened = open_project(request, slug, "project.change")
    taken = label.unqueue(actor=opened.user, project=opened.project, batch=batch)
    messages.success(request, _("%(n)s taken back.") % {"n": taken})
    if (member := whole_number(request, "member")) is not None:
        return redirect("frontend:member-look-again", slug, member)
    return redirect("frontend:look-again", slug)


@require_POST
def begin(request: HttpRequest, pk: int) -> HttpResponse:
    """Look again at one's own submitted trajectory, as one was asked to."""
    user = person(request)
    rows = Assignment.stored.filter(annotator=user).select_related("project", "trajectory")
    mine = get_object_or_404(policies.visible(user, rows), pk=pk)
    with evened(mine.project):
        label.look_again(actor=user, assignment=mine)
    return redirect("frontend:workbench", pk)
