"""The overview of one project, by role."""

from __future__ import annotations

import secrets
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from annotation import policies
from annotation.core.vocabulary import AssignmentState, Role
from annotation.models import Assignment
from annotation.reports import home, progress
from frontend.pages.common import open_project
from frontend.rendering.charts import stacked


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: progress and team. Annotators: their own work. Adjudicators: what waits for them."""
    opened = open_project(request, slug)
    user, project = opened.user, opened.project
    shown: dict[str, Any] = {}
    if Role.ANNOTATOR in opened.roles:
        own = policies.visible(user, Assignment.objects.filter(project=project, annotator=user))
        rows = list(own.values_list("state", "returned_at"))
        states = [state for state, _moment in rows]
        shown |= {
            "ended": home.ended_lately(rows, timezone.now()),
            "own_open": states.count(AssignmentState.OPEN),
            "own_submitted": states.count(AssignmentState.SUBMITTED),
            "can_claim": home.can_claim(user, project),
            "claim_key": secrets.token_urlsafe(12),
        }
    if Role.ADJUDICATOR in opened.roles:
        shown["disputes"] = home.disputes(user, [project.pk]).count()
    if Role.ADMIN in opened.roles:
        figures = progress.progress(actor=user, project=project)
        shown["progress"] = figures
        shown["states"] = progress.STATES
        shown["rows"] = [
            {"counts": counts, "cells": [(state, counts.by_state[state]) for state in progress.STATES]}
            for counts in figures.subsets
        ]
        for row in shown["rows"]:
            row["bars"] = stacked(row["cells"])
        shown["bars"] = stacked([(state, figures.all.by_state[state]) for state in progress.STATES])
    return opened.render("projects/overview.html", "overview", **shown)
