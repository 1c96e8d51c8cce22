"""The prompt workshop of a judge: samples, the prompts tried on one, and the labels that they change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.core.errors import Invalid, TristepError
from annotation.core.figures.measure import Measure
from annotation.core.vocabulary import VALUES
from annotation.language import translated
from annotation.models import Judge, Project, WorkshopSample
from annotation.reports.judging import prompt_workshop as report
from annotation.services import noted_reads, suggest
from frontend.forms import add_errors
from frontend.forms.workshop import SampleForm, TrialForm
from frontend.pages.judging.judges import SECTION, judge_place, judges_of
from frontend.pages.judging.runs import RunRow
from frontend.pages.shared.common import ProjectPage, open_project, paginate
from frontend.pages.shared.figure_cells import figure_column
from frontend.rendering.identity import short_identity
from frontend.rendering.run_parts import place_of
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.judging import money, run_state
from frontend.templatetags.tristep import mark

WORKSHOP_VERB = "suggest"
PER_PAGE = 50


@require_http_methods(["GET", "POST"])
def workshop(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The samples of a judge; a new one is drawn here."""
    opened = open_project(request, slug, WORKSHOP_VERB)
    judge: Judge = get_object_or_404(judges_of(opened), pk=pk)
    form = SampleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            sample = suggest.draw_sample(actor=opened.user, judge=judge, **form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        else:
            return redirect("frontend:workshop-sample", slug, sample.pk)
    rows = report.samples(viewer=opened.user, judge=judge)
    page = paginate(request, rows, PER_PAGE)
    status = 400 if form.errors else 200
    return opened.render(
        "judging/workshop.html",
        SECTION,
        status=status,
        title=_("Prompt workshop"),
        trail=[judge_place(opened.project.slug, judge)],
        judge=judge,
        form=form,
        page=page,
    )


@require_http_methods(["GET", "POST"])
def sample(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One sample: the prompts side by side, and every label that one of them (`?trial=`) changes."""
    opened = open_project(request, slug, WORKSHOP_VERB)
    samples = WorkshopSample.objects.filter(judge__project=opened.project)
    row: WorkshopSample = get_object_or_404(
        policies.visible(opened.user, samples).select_related("judge__project"), pk=pk
    )
    form = TrialForm(request.POST or None, of_kind=opened.project.of_kind)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["prompt_version"]
        expected = report.estimate(viewer=opened.user, sample=row, prompt_version=chosen)
        if "estimate" in request.POST:
            return _sample_page(opened, row, form, RunRow(row.judge, expected))
        try:
            run = suggest.try_prompt(
                actor=opened.user, sample=row, estimate=expected.as_dict(), **form.cleaned_data
            )
        except TristepError as error:
            add_errors(form, error) if isinstance(error, Invalid) else form.add_error(
                None, translated(error.message)
            )
        else:
            messages.success(request, _("The prompt is being tried."))
            return redirect("frontend:run", slug, run.pk)
    return _sample_page(opened, row, form)


def _sample_page(
    opened: ProjectPage, sample: WorkshopSample, form: TrialForm, expected: RunRow | None = None
) -> HttpResponse:
    judge, tried = sample.judge, report.tried(viewer=opened.user, sample=sample)
    trials = {str(prompt.trial.pk): prompt for prompt in tried if prompt.trial is not None}
    newest = list(trials.values())[-1] if trials else None
    trial = trials.get(opened.request.GET.get("trial", ""), newest)
    changes: list[Any] = []
    if trial is not None and trial.trial is not None:
        changes = noted_reads.changed_labels(actor=opened.user, sample=sample, trial=trial.trial)
    page = paginate(opened.request, changes, PER_PAGE)
    return opened.render(
        "judging/workshop_sample.html",
        SECTION,
        status=400 if form.errors else 200,
        title=_("Sample %(n)s") % {"n": sample.pk},
        trail=[
            judge_place(opened.project.slug, judge),
            (_("Prompt workshop"), at("judge-workshop", opened.project.slug, judge.pk)),
        ],
        sample=sample,
        judge=judge,
        size=sample.trajectories.count(),
        form=form,
        expected=expected,
        prompts=Table(_prompt_columns(opened.project), tried, labelledby="prompts"),
        changes=_changes(opened.project.slug, judge, trial, page),
        tried=[{"one": prompt, "confusion": _confusion(prompt)} for prompt in tried],
        shown=trial,
        page=page,
        better=sum(change.better is True for change in changes),
        worse=sum(change.better is False for change in changes),
    )


def _prompt_columns(project: Project) -> list[Column]:
    def name(one: report.TriedPrompt) -> str:
        if one.trial:
            return cells.link(one.prompt_version, f"?trial={one.trial.pk}")
        return _("%(version)s, the judge’s own") % {"version": one.prompt_version}

    def run(one: report.TriedPrompt) -> str | None:
        return cells.link(run_state(one.run.state), at("run", project.slug, one.run.pk)) if one.run else None

    def score(key: str) -> Callable[[report.TriedPrompt], Measure]:
        return lambda one: one.scores.figures[key]

    return [
        Column("prompt", _("Prompt"), cell=name, look="main"),
        figure_column("kappa", "κ", score("kappa"), is_share=False),
        figure_column("step_accuracy", _("StepAcc"), score("step_accuracy"), is_share=True),
        Column("steps", translated(project.of_kind.names.many), "scores.steps", look="number"),
        Column("missing", _("Without a label"), "scores.missing", look="number"),
        Column("cost", _("Cost"), cell=lambda one: one.cost and money(one.cost), look="number"),
        Column("run", _("Run"), cell=run),
    ]


def _changes(slug: str, judge: Judge, trial: report.TriedPrompt | None, page: Page[Any]) -> Table | None:
    """The labels that a trial changes, beside those of the judge's own prompt."""

    def place(one: Any) -> str:
        address = at("trajectory", slug, one.trajectory) + place_of(one.message_index)
        return cells.beside(
            cells.link(short_identity(one.record_id), address), cells.soft(f"#{one.message_index}")
        )

    columns = (
        [
            Column("trajectory", _("Trajectory"), cell=place),
            Column("resolved", _("Resolved"), cell=lambda one: mark(one.consensus)),
            Column("old", judge.prompt_version, cell=lambda one: mark(one.old)),
            Column("new", trial.prompt_version, cell=lambda one: mark(one.new)),
        ]
        if trial
        else []
    )
    return Table(columns, page, labelledby="changes", look="table--tight")


def _confusion(one: report.TriedPrompt) -> list[tuple[int, list[int]]]:
    """Resolved label, and how often each label was suggested for it, in the order of VALUES."""
    return list(zip(VALUES, one.scores.confusion.tolist(), strict=True))
