"""Runs of judges: the list, what one would take, starting several side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.errors import Invalid, TristepError
from annotation.core.judging.kinds import KINDS, runnable_kinds
from annotation.language import translated
from annotation.models import Judge, SuggestionRun
from annotation.reports.judging import estimates
from annotation.reports.judging.run_selection import RunSelection
from annotation.services import suggest
from frontend.forms import add_errors
from frontend.forms.runs import RunForm
from frontend.pages.judging.judges import SECTION, judges_of, may_run, run_columns
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import Empty, ListPage, show
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.judging import money

RUNS_VERB = "suggest"


def _runs(opened: ProjectPage) -> Any:
    return policies.visible(opened.user, SuggestionRun.objects.filter(project=opened.project))


def one_run(opened: ProjectPage, pk: int) -> SuggestionRun:
    """A run of this project. Raises Http404."""
    rows = _runs(opened).select_related("judge", "project", "created_by", "prompts__release")
    run: SuggestionRun = get_object_or_404(rows, pk=pk)
    return run


@require_GET
def runs(request: HttpRequest, slug: str) -> HttpResponseBase:
    """All runs of a project, the newest first."""
    opened = open_project(request, slug, RUNS_VERB)
    start = cells.link(_("Start a run"), at("run-new", slug), "button button--primary")
    set_up = cells.link(_("Set up a judge"), at("judge-new", slug), "button button--primary")
    runnable = may_run(opened)
    empty = Empty(
        _("No run yet"),
        _("Choose judges and trajectories, check the estimated cost, and start."),
        start if runnable else set_up,
    )
    listed = ListPage(
        request,
        run_columns(slug),
        _runs(opened).select_related("judge"),
        empty,
        order="-created_at",
        file="runs",
    )
    return show(
        opened,
        SECTION,
        listed,
        title=_("Runs"),
        about=_("In a run, one judge suggests labels for many trajectories, or writes distractors."),
        actions=[start] if runnable else [],
    )


@dataclass(frozen=True, slots=True)
class RunRow:
    """One judge's estimate, or the reason why it has none."""

    judge: Judge
    estimate: Any = None
    problem: str = ""

    @property
    def free(self) -> bool:
        """Whether nobody has said what it costs."""
        return KINDS[self.judge.kind].priced and not self.judge.price_input and not self.judge.price_output


def _estimates(opened: ProjectPage, form: RunForm) -> list[RunRow]:
    chosen = RunSelection.of(form.selection())
    rows = []
    for judge in form.cleaned_data["judges"]:
        try:
            estimate = estimates.estimate(
                viewer=opened.user, judge=judge, selection=chosen, options=form.wanted_options()
            )
            rows.append(RunRow(judge, estimate))
        except TristepError as error:
            rows.append(RunRow(judge, problem=translated(error.message)))
    return rows


def _estimated(rows: list[RunRow], fit: list[RunRow]) -> Table:
    """The estimates, and the sum of those that can be started."""
    sizes = ("trajectories", "tokens_in", "tokens_out", "cost")
    lines = [(row.judge.name, row.problem, row.estimate, row.free) for row in rows]
    if fit and len(rows) > 1:
        total = {name: sum(getattr(row.estimate, name) for row in fit) for name in sizes}
        lines.append((_("Total"), "", SimpleNamespace(**total), False))

    def name(line: Any) -> str:
        return cells.lines(line[0], cells.soft(line[1]) if line[1] else "")

    def size(field: str) -> Callable[[Any], int | None]:
        return lambda line: getattr(line[2], field, None)

    def cost(line: Any) -> str | None:
        _name, _problem, estimate, free = line
        return None if estimate is None else _("no price set") if free else money(estimate.cost)

    columns = [
        Column("judge", _("Judge"), cell=name, look="main"),
        Column("trajectories", _("Trajectories"), size("trajectories"), look="number"),
        Column("tokens_in", _("Input tokens"), size("tokens_in"), look="number"),
        Column("tokens_out", _("Output tokens"), size("tokens_out"), look="number"),
        Column("cost", _("Cost"), cell=cost, look="number"),
    ]
    return Table(columns, lines)


def _new_page(opened: ProjectPage, form: RunForm, rows: list[RunRow]) -> HttpResponse:
    """The form, and beside it the estimate; what is started is what was estimated."""
    fit = [row for row in rows if row.estimate is not None and row.estimate.trajectories]
    hidden: list[tuple[str, Any]] = [("judges", row.judge.pk) for row in fit]
    if fit:
        hidden += [(name, value) for name, value in form.selection().items() if value is not None]
        hidden += [("options", form.wanted_options())] if form.wanted_options() is not None else []
    return opened.render(
        "judging/run_new.html",
        SECTION,
        status=400 if form.errors else 200,
        title=_("Start a run"),
        form=form,
        may_run=may_run(opened),
        estimates=rows,
        estimated=_estimated(rows, fit),
        hidden=hidden,
        startable=len(fit),
        writes=bool(rows) and form.wanted_options() is not None,
    )


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """First the estimate (by query, so that it can be looked at again), then the start, one run per judge."""
    opened = open_project(request, slug, RUNS_VERB)
    able = judges_of(opened).filter(kind__in=runnable_kinds(), retired_at__isnull=True)
    given = request.POST if request.method == "POST" else request.GET
    if not given:
        return _new_page(opened, RunForm(project=opened.project, judges=able), [])
    form = RunForm(given, project=opened.project, judges=able)
    if not form.is_valid():
        return _new_page(opened, form, [])
    rows = _estimates(opened, form)
    if request.method == "GET":
        return _new_page(opened, form, rows)
    started = _start(opened, form, rows)
    if not started:
        return _new_page(opened, form, rows)
    text = ngettext("%(n)d run started.", "%(n)d runs started.", len(started))
    messages.success(request, text % {"n": len(started)})
    if len(started) == 1:
        return redirect("frontend:run", slug, started[0].pk)
    return redirect("frontend:runs", slug)


def _start(opened: ProjectPage, form: RunForm, rows: list[RunRow]) -> list[SuggestionRun]:
    """One run for each judge; a judge that cannot begin does not keep the others from it."""
    started: list[SuggestionRun] = []
    refused: list[Invalid] = []
    for row in rows:
        try:
            started.append(
                suggest.start_run(
                    actor=opened.user,
                    judge=row.judge,
                    selection=RunSelection.of(form.selection()),
                    options=form.wanted_options(),
                    budget=form.cleaned_data["budget"],
                    estimate=row.estimate.as_dict() if row.estimate is not None else None,
                )
            )
        except TristepError as error:
            message = f"{row.judge.name}: {translated(error.message)}"
            refused.append(Invalid(message, fields=getattr(error, "fields", None)))
    for why in refused:
        if started:
            messages.error(opened.request, why.message)
        else:
            add_errors(form, why)
    return started
