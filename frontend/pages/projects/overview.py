"""The overview of one project, by role."""

from __future__ import annotations

import secrets
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.core.kinds import Feature
from annotation.core.vocabulary import Role
from annotation.reports.agreement import report as agreement
from annotation.reports.cases import disputes, home
from annotation.reports.quality import label_audit
from annotation.reports.work import board, first_steps, progress
from annotation.reports.work.crowd import own_progress
from annotation.reports.work.my_progress import own_work
from annotation.services import projects
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.rendering.charts import stacked


def _first_steps(opened: ProjectPage) -> list[dict[str, Any]]:
    """The list of first steps with their links; empty when it is done or closed."""
    done = first_steps.first_steps(actor=opened.user, project=opened.project)
    if done is None:
        return []
    people = _("Each trajectory is labelled by %(n)d people. Invite them by a link.")
    data = (
        _("A file of decisions; the candidates for the next action become steps.")
        if opened.project.of_kind.has(Feature.PAIRS)
        else _("A file of agent logs; its assistant messages become steps.")
    )
    entries = (
        (
            done.guidelines,
            "guidelines",
            _("Read the guidelines, and make them yours"),
            _("A new project starts with guidelines that you can change; every change is a version."),
        ),
        (
            done.data,
            "imports",
            _("Import trajectories"),
            data,
        ),
        (
            done.people,
            "members",
            _("Invite annotators"),
            people % {"n": opened.project.annotators_per_trajectory},
        ),
        (done.judges, "judges", _("Add a judge, if you want suggestions"), _("Suggestions are optional.")),
        (
            done.label,
            "trajectories",
            _("See the first label"),
            _("It appears as soon as an annotator labels a step."),
        ),
    )
    return [
        {
            "done": ticked,
            "url": reverse(f"frontend:{name}", args=[opened.project.slug]),
            "title": title,
            "about": about,
        }
        for ticked, name, title, about in entries
    ]


@require_POST
def close_first_steps(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the list of first steps no more, to none of the project's admins."""
    opened = open_project(request, slug, "project.change")
    projects.close_checklist(actor=opened.user, project=opened.project)
    return redirect("frontend:project", slug)


def _tiles(opened: ProjectPage) -> dict[str, Any]:
    """The figure of agreement to go by, and the disputes that no adjudicator has."""
    title, measure, _name = agreement.headline(viewer=opened.user, project=opened.project)
    untaken = disputes.waiting_to_see(opened.user, opened.project)
    return {"agreement_title": title, "agreement": measure, "untaken": untaken.count()}


@require_GET
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """Admins: progress. Annotators: their own work. Adjudicators: what waits for them."""
    opened = open_project(request, slug)
    user, project = opened.user, opened.project
    context: dict[str, Any] = {}
    if Role.ANNOTATOR in opened.roles:
        context |= {
            "own": own_work(user, [project.pk])[project.pk],
            "queue": home.queue_for(user, project),
            "claim_key": secrets.token_urlsafe(12),
            "crowd": own_progress(user, project),
        }
    if Role.ADJUDICATOR in opened.roles:
        context["disputes"] = disputes.waiting_to_decide(user, [project.pk]).count()
    if Role.ADMIN in opened.roles:
        context["first_steps"] = _first_steps(opened)
        figures = progress.progress(actor=user, project=project, now=False)
        context["progress"] = figures
        if figures.all.total:
            context |= _tiles(opened)
            zone = timezone.get_current_timezone()
            context["outlook"] = board.outlook(actor=user, project=project, zone=zone)
        if figures.second_reading is not None and (audit := label_audit.newest_audit(project)) is not None:
            context["audit"] = label_audit.audit_report(viewer=user, audit=audit)
        states = context["states"] = progress.states_of(project.of_kind)
        context["rows"] = [
            {
                "counts": counts,
                "cells": [(state, counts.by_state[state]) for state in states],
            }
            for counts in figures.subsets
        ]
        for row in context["rows"]:
            row["bars"] = stacked(row["cells"])
        context["bars"] = stacked([(state, figures.all.by_state[state]) for state in states])
    return opened.render("projects/overview.html", "overview", **context)
