"""The page that plans the size of a benchmark, before anything is labelled."""

from __future__ import annotations

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation.core.figures.measure import MIN_TASKS
from annotation.core.scoring.planning import Design
from annotation.reports.evaluation.size_plan import MOST_RUNS, MOST_TASKS, POINTS, SizePlan, size_plan
from frontend.pages.shared.common import open_project
from frontend.rendering.tables import Column, Table
from frontend.templatetags.judging import count
from frontend.templatetags.tristep import figure, percent


class SizeForm(forms.Form):
    """A size to plan for."""

    tasks = forms.IntegerField(
        label=gettext_lazy("Tasks"), min_value=MIN_TASKS, max_value=MOST_TASKS, required=False
    )
    runs = forms.IntegerField(
        label=gettext_lazy("Runs of each task"), min_value=1, max_value=MOST_RUNS, required=False
    )


@require_GET
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """The page: what a size brings, and what size it takes."""
    opened = open_project(request, slug, "agreement.view")
    form = SizeForm(request.GET or None)
    asked = form.cleaned_data if form.is_bound and form.is_valid() else {}
    planned = size_plan(viewer=opened.user, project=opened.project, **asked)
    if not form.is_bound:
        form = SizeForm(initial={"tasks": planned.design.tasks})
    return opened.render(
        "evaluation/size_plan.html",
        "releases",
        title=_("How many tasks?"),
        plan=planned,
        form=form,
        sizes=_sizes(planned),
        needed=_needed(planned),
    )


def _sizes(planned: SizePlan) -> Table:
    accuracy, difference = planned.variance.accuracy, planned.variance.difference

    def half(size: Design) -> str:
        return f"± {percent(accuracy.half_width(size))}"

    columns = [
        Column("tasks", _("Tasks"), cell=lambda size: count(size.tasks), look="number"),
        Column("runs", _("Runs"), cell=lambda size: figure(size.runs, 1), look="number"),
        Column("half", _("StepAcc of a model"), cell=half, look="number"),
        Column(
            "difference",
            _("Difference of two models"),
            cell=lambda size: percent(difference.detectable(size)),
            look="number",
        ),
    ]
    return Table(columns, planned.sizes, labelledby="sizes")


def _needed(planned: SizePlan) -> Table:
    accuracy, difference = planned.variance.accuracy, planned.variance.difference

    def number(tasks: int | None) -> str:
        return _("more than a million") if tasks is None else str(count(tasks))

    def within(points: float) -> str:
        return number(accuracy.tasks_within(points, planned.design))

    def showing(points: float) -> str:
        return number(difference.tasks_for(points, planned.design))

    columns = [
        Column("points", _("Share of steps"), cell=percent, look="main"),
        Column("within", _("Tasks for an interval of ± so much"), cell=within, look="number"),
        Column("showing", _("Tasks that show such a difference"), cell=showing, look="number"),
    ]
    return Table(columns, POINTS, labelledby="needed")
