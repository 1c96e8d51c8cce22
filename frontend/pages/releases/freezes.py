"""Freezing a release: the list of what to know beforehand, and how far it is."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid, TristepError
from annotation.core.kinds import Feature
from annotation.core.vocabulary import UNFINISHED_FREEZES, FreezeState
from annotation.language import translated
from annotation.models import Freeze, Project
from annotation.reports.judging.difficulty import difficulties
from annotation.reports.releases import release_preview as report
from annotation.reports.releases.freeze_checklist import THRESHOLD, FreezeChecklist, SubsetLine, checklist
from annotation.services import kept_figures
from annotation.services import release as service
from frontend.forms import add_errors
from frontend.forms.releases import BAND, FreezeForm, ThresholdForm
from frontend.pages.releases.release_pictures import distribution
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.figure_cells import figure_column
from frontend.rendering import charts
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.judging import count
from frontend.templatetags.tristep import state_name

FREEZE_VERB = "release.freeze"
FIFTHS = 5
MOST_COUNTED = 20_000
"""Of more decisions their difficulty is counted only when it is asked for."""


def _rows(opened: ProjectPage) -> Any:
    freezes = Freeze.objects.filter(project=opened.project).select_related("release", "created_by")
    return policies.visible(opened.user, freezes)


@require_http_methods(["GET", "POST"])
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    """The check-list of a freeze, its contents, and the button that freezes. Pressing twice makes one."""
    opened = open_project(request, slug, FREEZE_VERB)
    threshold = ThresholdForm(request.GET if "threshold" in request.GET else {"threshold": THRESHOLD})
    chosen = threshold.cleaned_data["threshold"] if threshold.is_valid() else THRESHOLD
    kept: list[kept_figures.Kept[Any]] = []
    if request.method == "POST":  # what is decided on is never old
        summary = checklist(actor=opened.user, project=opened.project, threshold=chosen)
        candidate = report.candidate(actor=opened.user, project=opened.project)
    else:
        of_list = kept_figures.checklist(actor=opened.user, project=opened.project, threshold=chosen)
        of_candidate = kept_figures.candidate(actor=opened.user, project=opened.project)
        kept = [of_list, of_candidate]
        summary, candidate = of_list.figures, of_candidate.figures
    kind = opened.project.of_kind
    form = FreezeForm(request.POST if request.method == "POST" else None, summary, kind=kind)
    status = 200 if threshold.is_valid() else 400
    if request.method == "POST" and form.is_valid():
        try:
            job = service.start_freeze(actor=opened.user, project=opened.project, **form.asked())
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            form.add_error("version" if error.code == "version_taken" else None, translated(error.message))
            status = 409
        else:
            return redirect("frontend:freeze-detail", slug, job.pk)
    if form.errors and status == 200:
        status = 400
    return opened.render(
        "releases/freeze.html",
        "releases",
        kept=kept_figures.oldest(kept),
        status=status,
        title=_("Freeze a release"),
        form=form,
        threshold=threshold,
        checklist=summary,
        items=_items(opened, summary),
        words=[form[name] for name in ("version", "title", "licence", "own_licence", "note")],
        band=[form[name] for name in BAND] if kind.has(Feature.PAIRS) else None,
        difficulty=_difficulty(opened.project, candidate) if kind.has(Feature.PAIRS) else None,
        boxes=[
            form[name]
            for name, shown in (
                ("unresolved", summary.unresolved()),
                ("doubtful", summary.doubtful()),
                ("final", True),
            )
            if shown
        ],
        subsets=Table(
            _subset_columns(slug, form["leave_out"].value() or []), summary.subsets, labelledby="subsets"
        ),
        running=_rows(opened).filter(state__in=UNFINISHED_FREEZES).first(),
        candidate=candidate,
        labels=distribution(candidate.labels),
        outcomes=distribution(candidate.outcomes),
    )


def _difficulty(project: Project, candidate: report.ReleaseCandidate) -> dict[str, Any]:
    """The number of decisions in each fifth of difficulty; not of so many that counting would be long."""
    if candidate.records > MOST_COUNTED:
        return {"uncounted": True}
    measured = difficulties(project)
    fifths = [0] * FIFTHS
    for share in measured.shares.values():
        fifths[min(int(share * FIFTHS), FIFTHS - 1)] += 1
    most = max(fifths)
    return {
        "judges": measured.judges,
        "known": len(measured.shares),
        "all": candidate.records,
        "bars": [
            {
                "low": at / FIFTHS,
                "high": (at + 1) / FIFTHS,
                "n": n,
                "width": charts.bar(n, most),
            }
            for at, n in enumerate(fifths)
        ],
    }


def _subset_columns(slug: str, left_out: Sequence[str]) -> list[Column]:
    """Of each subset what is resolved and what not, its agreement, and a box to leave it out."""

    def name(line: SubsetLine) -> str:
        badge = ""
        if line.low:
            badge = cells.badge(_("below the threshold"), "badge--bad")
        elif line.unknown:
            badge = cells.badge(_("agreement unknown"), "badge--warn")
        return cells.beside(line.name, badge)

    def linked(field: str, title: str, state: str) -> Column:
        def cell(line: SubsetLine) -> Any:
            n = getattr(line, field)
            address = f"{at('trajectories', slug)}?{urlencode({'subset': line.name, 'state': state})}"
            return cells.link(count(n), address) if n else 0

        return Column(field, title, cell=cell, look="number")

    def box(line: SubsetLine) -> str:
        title = _("Leave out %(name)s") % {"name": line.name}
        return cells.choice("leave_out", line.name, "freeze", title, line.name in left_out)

    return [
        Column("subset", _("Subset"), cell=name),
        Column("resolved", _("Resolved"), look="number"),
        linked("unclaimed", _("Not begun"), "labelling"),
        linked("labelling", _("Being labelled"), "labelling"),
        linked("waiting", _("Waiting for adjudication"), "disputed"),
        linked("cases", _("With an adjudicator"), "disputed"),
        figure_column("alpha", "α", attrgetter("alpha"), is_share=False),
        Column("leave_out", _("Leave out"), cell=box),
    ]


def _items(opened: ProjectPage, summary: FreezeChecklist) -> list[dict[str, Any]]:
    """Items of the check-list, ticked where all is well, with links."""
    project = opened.project

    def item(fine: bool, title: str, about: str, link: Any = "", name: str = "", query: str = "") -> Any:
        url = reverse(f"frontend:{name}", args=[project.slug]) + query if name and not fine else ""
        return {"fine": fine, "title": title, "about": about, "link": link, "url": url}

    unresolved, doubtful = summary.unresolved(), summary.doubtful()
    names = ", ".join(line.name for line in doubtful)
    return [
        item(
            not unresolved,
            _("Everything is resolved.")
            if not unresolved
            else ngettext(
                "%(n)s trajectory is not resolved and is left out.",
                "%(n)s trajectories are not resolved and are left out.",
                unresolved,
            )
            % {"n": count(unresolved)},
            _(
                "Not begun: %(unclaimed)s; being labelled: %(labelling)s; disputed: %(disputed)s. "
                "Open claims: %(claims)s."
            )
            % {
                "unclaimed": count(sum(line.unclaimed for line in summary.subsets)),
                "labelling": count(sum(line.labelling for line in summary.subsets)),
                "disputed": count(sum(line.waiting + line.cases for line in summary.subsets)),
                "claims": count(summary.claims),
            },
            _("Claims"),
            "claims",
        ),
        item(
            not summary.cases and not summary.discussions,
            _("Open cases: %(cases)s; open discussions: %(discussions)s.")
            % {"cases": count(summary.cases), "discussions": count(summary.discussions)},
            "",
            _("Adjudication"),
            "adjudication-queue",
        ),
        item(
            not doubtful,
            _("Agreement of every subset lies at %(threshold)s or above.")
            % {"threshold": f"{summary.threshold:g}"}
            if not doubtful
            else _("Agreement lies below %(threshold)s, or is unknown: %(names)s.")
            % {"threshold": f"{summary.threshold:g}", "names": names},
            "",
            _("Agreement"),
            "agreement",
        ),
        item(
            not summary.older,
            _("Guidelines in force: version %(n)s.") % {"n": summary.guideline_version},
            _("%(older)s of %(labels)s labels were given under earlier ones.")
            % {"older": count(summary.older), "labels": count(summary.labels)}
            if summary.older
            else "",
            _("Guidelines"),
            "guidelines",
        ),
        item(
            not summary.in_sight,
            _("Labels given in sight of a suggestion or of others’ labels: %(n)s of %(labels)s.")
            % {"n": count(summary.in_sight), "labels": count(summary.labels)},
            _("They are part of the consensus, and of no figure of agreement.") if summary.in_sight else "",
            _("Influence"),
            "influence",
        ),
        item(
            not summary.flagged and not summary.asked_again,
            _(
                "Resolved trajectories that an annotator flagged: %(flagged)s; "
                "to be looked at again: %(again)s."
            )
            % {"flagged": count(summary.flagged), "again": count(summary.asked_again)},
            "",
            _("Trajectories"),
            "trajectories",
            "?state=unanimous",
        ),
    ]


@require_GET
def detail(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The progress of a freeze, or the reason for its end; of a finished one, the page of its release."""
    opened = open_project(request, slug, FREEZE_VERB)
    row = get_object_or_404(_rows(opened), pk=pk)
    if row.release is not None:
        return redirect("frontend:release", slug, row.release.version)
    running = row.state in UNFINISHED_FREEZES
    cancelled = row.state == FreezeState.CANCELLED
    return opened.render(
        "releases/freezing.html",
        "releases",
        title=_("Freezing release %(version)s") % {"version": row.version},
        row=row,
        running=running,
        cancelled=cancelled,
    )


@never_cache
@require_GET
def status(request: HttpRequest, slug: str, pk: int) -> JsonResponse:
    """The progress of a freeze, as JSON for the script on the page."""
    opened = open_project(request, slug, FREEZE_VERB)
    row = get_object_or_404(_rows(opened), pk=pk)
    return JsonResponse(
        {
            "jobs": [
                {
                    "id": row.pk,
                    "state": row.state,
                    "title": state_name(row.state),
                    "done": row.progress_done,
                    "total": row.progress_total,
                    "finished": row.state not in UNFINISHED_FREEZES,
                }
            ]
        }
    )


@require_POST
def cancel(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Stop it; nothing of it stays."""
    opened = open_project(request, slug, FREEZE_VERB)
    row = get_object_or_404(_rows(opened).select_related("project"), pk=pk)
    try:
        service.cancel_freeze(actor=opened.user, job=row)
    except TristepError as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(
            request, _("Freezing was stopped; there is no release %(version)s.") % {"version": row.version}
        )
    return redirect("frontend:freeze-detail", slug, pk)
