"""Judges of the project scored on a release: how much of it each has judged, and taking that over."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.core.errors import TristepError
from annotation.language import translated
from annotation.models import Judge
from annotation.reports.judging.judge_coverage import judge_coverage
from annotation.reports.shared.frozen_trajectories import frozen_trajectories
from annotation.services import evaluate
from frontend.pages.evaluation.leaderboard import release_of
from frontend.pages.shared.common import open_project
from frontend.templatetags.judging import count

VERB = "predictions.change"


@require_http_methods(["GET", "POST"])
def judges(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The judges of the project; one that is posted is scored on the release."""
    opened = open_project(request, slug, VERB)
    release = release_of(opened, version)
    status = 200
    if request.method == "POST":
        known = policies.visible(opened.user, Judge.objects.filter(project=opened.project))
        pk = request.POST.get("judge", "")
        judge = get_object_or_404(known, pk=int(pk) if pk.isdecimal() and len(pk) < 19 else 0)
        try:
            scored = evaluate.score_judge(actor=opened.user, release=release, judge=judge)
        except TristepError as error:
            messages.error(request, translated(error.message))
            status = 409
        else:
            messages.success(request, _said(scored))
            return redirect("frontend:model", slug, version, scored.prediction_set.pk)
    found = frozen_trajectories(release)
    return opened.render(
        "evaluation/scored_judges.html",
        "releases",
        status=status,
        release=release,
        rows=judge_coverage(actor=opened.user, release=release, found=found),
        changed=len(found.changed),
        gone=len(found.gone),
    )


def _said(found: evaluate.ScoredJudge) -> str:
    said = _("%(n)s records scored, %(same)s unchanged; %(failed)s judgements failed, %(absent)s missing.")
    return said % {
        "n": count(found.created),
        "same": count(found.unchanged),
        "failed": count(found.failed),
        "absent": count(found.absent),
    }
