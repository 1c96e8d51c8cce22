"""Judges of the project scored on a release: how much of it each has judged, and taking that over."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.core.errors import TristepError
from annotation.core.judging.kinds import KINDS
from annotation.language import translated
from annotation.models import Judge, Release
from annotation.reports.judging.judge_coverage import judge_coverage
from annotation.reports.shared.frozen_trajectories import frozen_trajectories
from annotation.services import evaluate
from frontend.pages.evaluation.leaderboard import release_of
from frontend.pages.judging.judges import failed_note
from frontend.pages.shared.common import leaderboard_place, open_project, release_trail
from frontend.pages.shared.list_page import Empty, ListPage, act, show
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.judging import count, run_badge, run_state

SCORED_JUDGES_VERB = "predictions.change"


def _columns(request: HttpRequest, slug: str, release: Release) -> list[Column]:
    def suggested(row: Any) -> str:
        share = _("%(n)s of %(all)s") % {"n": count(row.suggested), "all": count(release.record_count)}
        return cells.lines(share, failed_note(row.failed))

    def scored(row: Any) -> str:
        predictions = row.prediction_set
        return predictions and cells.link(
            count(predictions.record_count), at("model", slug, release.version, predictions.pk)
        )

    def actions(row: Any) -> str:
        asks = ""
        if row.run:
            asks = cells.badge(
                run_state(row.run.state), run_badge(row.run.state), at("run", slug, row.run.pk)
            )
        elif row.may_run:
            query = urlencode({"judges": row.judge.pk, "release": release.version})
            ask = ngettext(
                "Ask it about %(all)s trajectory", "Ask it about %(all)s trajectories", row.pending
            )
            address = f"{at('run-new', slug)}?{query}"
            asks = cells.link(ask % {"all": count(row.pending)}, address, "button button--small")
        if not row.suggested:
            return asks
        look = "button--small button--primary" if row.fresh else "button--small"
        judge = {"name": "judge", "value": row.judge.pk, "of": row.judge.name}
        return cells.cluster(asks, act(request, _("Score"), "", look=look, **judge))

    return [
        Column(
            "judge",
            _("Judge"),
            "judge.name",
            lambda row: cells.link(row.judge.name, at("judge", slug, row.judge.pk)),
            "main",
        ),
        Column("kind", _("Kind"), "judge.kind", lambda row: translated(KINDS[row.judge.kind].title)),
        Column("suggestions", _("Suggestions"), "suggested", suggested, "number"),
        Column("scored", _("Scored"), "prediction_set", scored, "number"),
        Column("", _("Actions"), cell=actions, look="actions"),
    ]


@require_http_methods(["GET", "POST"])
def judges(request: HttpRequest, slug: str, version: str) -> HttpResponseBase:
    """The judges of the project; one that is posted is scored on the release."""
    opened = open_project(request, slug, SCORED_JUDGES_VERB)
    release = release_of(opened, version)
    status = 200
    if request.method == "POST":
        judges_seen = policies.visible(opened.user, Judge.objects.filter(project=opened.project))
        pk = request.POST.get("judge", "")
        judge = get_object_or_404(judges_seen, pk=int(pk) if pk.isdecimal() and len(pk) < 19 else 0)
        try:
            scored = evaluate.score_judge(actor=opened.user, release=release, judge=judge)
        except TristepError as error:
            messages.error(request, translated(error.message))
            status = 409
        else:
            messages.success(request, _said(scored))
            return redirect("frontend:model", slug, version, scored.prediction_set.pk)
    frozen = frozen_trajectories(release)
    rows = judge_coverage(actor=opened.user, release=release, frozen=frozen)
    about = _(
        "A judge’s suggestions for the %(n)s trajectories of release %(version)s become its predictions on "
        "the leaderboard. The release does not change."
    )
    below = _(
        "A trajectory counts if its content is still that of the release; trajectories without suggestions "
        "stay without a prediction. A run that is started from here scores the judge when it has finished."
    )
    empty = Empty(
        _("No judge yet"),
        _("Set up a judge on a server, import one from a file, or train the baseline."),
        cells.link(_("New judge"), at("judge-new", slug), "button button--primary"),
    )
    listed = ListPage(request, _columns(request, slug, release), rows, empty, below=cells.note(below))
    return show(
        opened,
        "releases",
        listed,
        "evaluation/scored_judges.html",
        status=status,
        title=_("Score a judge of this project"),
        trail=[*release_trail(slug, version), leaderboard_place(slug, version)],
        about=about % {"n": count(release.record_count), "version": version},
        changed=len(frozen.changed),
        gone=len(frozen.gone),
    )


def _said(result: evaluate.ScoredJudge) -> str:
    text = _("%(n)s records scored, %(same)s unchanged; %(failed)s judgements failed, %(absent)s missing.")
    return text % {
        "n": count(result.created),
        "same": count(result.unchanged),
        "failed": count(result.failed),
        "absent": count(result.absent),
    }
