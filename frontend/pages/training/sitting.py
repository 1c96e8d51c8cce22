"""A proficiency test, for who sits it: where one stands, and the result of an attempt."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.errors import Conflict
from annotation.core.vocabulary import AttemptState
from annotation.language import translated
from annotation.models import ProficiencyTest, TestAttempt
from annotation.reports.training import proficiency as report
from annotation.services import assign, proficiency
from frontend.forms.training import MARKS
from frontend.pages.shared.common import open_project, page_of
from frontend.rendering import markdown
from frontend.rendering.step_names import step_title
from frontend.rendering.tables import at
from frontend.templatetags.tristep import percent


@require_http_methods(["GET", "POST"])
@never_cache
def test(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """One's own standing before a test; POST begins an attempt, or goes on with the one that is running."""
    opened = open_project(request, slug, "claim")
    row = get_object_or_404(
        ProficiencyTest.objects.select_related("project"), project=opened.project, number=number
    )
    if request.method == "POST":
        try:
            proficiency.begin_attempt(actor=opened.user, test=row)
            claimed = assign.claim_next(actor=opened.user, project=opened.project)
        except Conflict as error:
            messages.error(request, translated(error.message))
            return redirect("frontend:test", slug, number)
        return redirect("frontend:workbench", claimed.pk)
    stands = report.standing(opened.user, row)
    ended = (AttemptState.PASSED, AttemptState.FAILED)
    return opened.render(
        "training/sit.html",
        "work",
        title=_("Test %(n)s") % {"n": row.number},
        test=row,
        stands=stands,
        marks=_marks(row),
        attempts=[(one, _marks(one) if one.state in ended else []) for one in stands.attempts],
    )


def _marks(row: Any) -> list[tuple[str, str]]:
    titles = (_("Agreement"), _("Errors found"), _("First errors found"))
    return [
        (title, percent(getattr(row, name)))
        for name, title in zip(MARKS, titles, strict=True)
        if getattr(row, name) is not None
    ]


@require_GET
@never_cache
def attempt(request: HttpRequest, pk: int) -> HttpResponse:
    """The result of an attempt: what it came to, and where its labels differ from the keys, and why."""
    rows = TestAttempt.objects.select_related("test__project", "annotator")
    row = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    project = row.test.project
    own = row.annotator_id == request.user.pk
    opened = page_of(request, project, "project.view" if own else "training.view")
    if own and row.state not in (AttemptState.PASSED, AttemptState.FAILED):
        return redirect("frontend:test", project.slug, row.test.number)
    titles = (_("Agreement"), _("Errors found"), _("First errors found"))
    marks = [
        (title, getattr(row, name), getattr(row.test, name))
        for name, title in zip(MARKS, titles, strict=True)
        if getattr(row.test, name) is not None
    ]
    where = ("test", _("Test %(n)s") % {"n": row.test.number}) if own else ("test-detail", _("Tests"))
    return opened.render(
        "training/attempt.html",
        "work" if own else "training",
        title=_("Test %(n)s, attempt %(attempt)s") % {"n": row.test.number, "attempt": row.number},
        trail=[(where[1], at(where[0], project.slug, row.test.number))],
        attempt=row,
        own=own,
        marks=[
            (title, percent(reached), percent(asked), reached is not None and reached >= asked - 1e-9)
            for title, reached, asked in marks
        ],
        items=[_item(one, project) for one in report.result(viewer=opened.user, attempt=row)],
    )


def _item(one: report.ItemResult, project: Any) -> dict[str, Any]:
    return {
        "record_id": one.trajectory.record_id,
        "assignment": one.assignment,
        "right": one.labels - len(one.differences),
        "labels": one.labels,
        "differences": [
            {
                "name": _("Outcome") if row.number is None else step_title(row.number, project.of_kind),
                "own": row.own,
                "key": row.key,
                "reason": row.reason,
                "note": markdown.render(row.note) if row.note else "",
            }
            for row in one.differences
        ],
    }
