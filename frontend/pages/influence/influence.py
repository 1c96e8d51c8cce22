"""The influence page, and the switches that belong to it: the experiment, the order of the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from annotation.core.errors import TristepError
from annotation.core.figures.measure import Measure
from annotation.core.influence.arm_figures import ArmDifference, ArmMeasure
from annotation.core.influence.experiment import ARMS
from annotation.core.influence.label_changes import FOLLOWED, WAYS
from annotation.language import joined, translated
from annotation.reports.influence import report
from annotation.reports.influence.annotator_effects import AnnotatorEffect
from annotation.reports.influence.triage import unclaimed
from annotation.reports.shared.experiment import experiment as experiment_of
from annotation.reports.shared.label_changes import ChangeRates
from annotation.services import kept_figures
from annotation.services import projects as service
from frontend.forms.experiment import RandomiseForm, TriageForm
from frontend.forms.projects import POLICIES
from frontend.pages.influence.effects import shown
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.figure_cells import ARM_NAMES, figure_column, figure_text, measure_cell
from frontend.rendering import charts
from frontend.rendering.tables import Column, Table
from frontend.templatetags.tristep import figure

CHANGE = "project.change"

UNITS = {"step": gettext_lazy("Steps"), "outcome": gettext_lazy("Outcomes")}


def _difference_cell(difference: ArmDifference, *, is_share: bool) -> dict[str, Any]:
    """A difference: of shares in hundredths (percentage points), else as it is."""
    times = 100 if is_share else 1
    places = 1 if is_share else 3

    def signed(value: float | None, sign: bool = True) -> str:
        if value is None:
            return "–"
        plus = "+" if sign and value > 0 else ""
        return plus + figure(value * times, places)

    bounds = difference.measure.interval
    bounded = bounds is not None and bounds.low is not None
    return {
        "value": signed(difference.measure.value),
        "reason": translated(difference.measure.reason),
        "low": signed(bounds.low) if bounds and bounded else "",
        "high": signed(bounds.high) if bounds and bounded else "",
        "why": "",
        "mde": signed(difference.mde, sign=False),
        "mde_reason": translated(difference.mde_reason),
    }


def _who(who: str, judge: str) -> str:
    if who == "people":
        return _("Annotators with each other")
    if who == "majority":
        return _("Annotators with the majority of judges")
    return judge if who == "judge" else _("Annotators with the judges, pooled")


def _columns(figures: report.Influence) -> list[dict[str, Any]]:
    """One column an arm; two where blind and final values differ."""
    return [
        {
            "arm": arm,
            "title": ARM_NAMES[arm.arm],
            "basis": basis,
            "note": {"blind": _("before seeing suggestions"), "final": _("final")}[basis]
            if len(bases) > 1
            else "",
        }
        for arm in figures.arms
        for bases in [sorted({line.basis for line in arm.lines})]
        for basis in bases
    ]


def _rows(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two rows a comparison: the share of equal labels, and κ."""
    if not columns:
        return []
    rows: list[dict[str, Any]] = []
    for line in columns[0]["arm"].lines:
        if line.basis != columns[0]["basis"]:
            continue
        for name, title in (("agreement", _("same label")), ("kappa", _("Cohen’s κ"))):
            cells = [_cell(column, line, name) for column in columns]
            first = name == "agreement"
            rows.append({"who": _who(line.who, line.judge), "first": first, "figure": title, "cells": cells})
    return rows


def _cell(column: dict[str, Any], line: report.ComparisonLine, name: str) -> dict[str, Any]:
    same = (
        one
        for one in column["arm"].lines
        if (one.who, one.judge, one.basis) == (line.who, line.judge, column["basis"])
    )
    estimate: ArmMeasure = getattr(next(same), name)
    return measure_cell(estimate.measure, is_share=name == "agreement")


def _before_after(arm: report.ArmFigures) -> dict[str, Any]:
    """Every comparison of an arm as a dot with its interval, and hollow as it was before suggestions were
    seen: the shares of equal labels, then κ."""
    before = {(line.who, line.judge): line for line in arm.lines if line.basis == "blind"}
    pairs = [(line, before[line.who, line.judge]) for line in arm.lines if line.basis == "final"]
    groups: list[dict[str, Any]] = [
        {"title": title, "percent": name == "agreement", "rows": [_pair(*pair, name) for pair in pairs]}
        for name, title in (("agreement", _("same label")), ("kappa", _("Cohen’s κ")))
    ]
    measures = [row[key] for group in groups for row in group["rows"] for key in ("before", "after")]
    on = charts.scale(end for one in measures for end in (one.value, *(one.ends or ())) if end is not None)
    for group in groups:
        for row in group["rows"]:
            was, now = row["before"].value, row["after"]
            row["dot"] = charts.dot(on, now.value, *(now.ends or (None, None)))
            row["was"] = None if was is None else on.at(was)
    return {"groups": groups, "ticks": [{"value": tick, "x": on.at(tick)} for tick in on.ticks]}


def _pair(line: report.ComparisonLine, before: report.ComparisonLine, name: str) -> dict[str, Any]:
    return {
        "who": _who(line.who, line.judge),
        "before": getattr(before, name).measure,
        "after": getattr(line, name).measure,
    }


def _contrasts(contrasts: Sequence[report.Contrast]) -> Table:
    rows = [
        {
            "arm": ARM_NAMES[one.arm],
            "who": _who(one.who, one.judge),
            "cells": [
                _difference_cell(one.agreement, is_share=True),
                _difference_cell(one.kappa, is_share=False),
            ],
        }
        for one in contrasts
    ]

    def detectable(cell: dict[str, Any]) -> str:
        return figure_text({**cell, "value": cell["mde"], "reason": cell["mde_reason"], "low": ""})

    columns = [
        Column("arm", _("Suggestions shown"), lambda row: row["arm"]),
        Column("who", _("Agreement"), lambda row: row["who"]),
        Column(
            "points", _("Difference, points"), cell=lambda row: figure_text(row["cells"][0]), look="number"
        ),
        Column(
            "mde", _("Minimum detectable effect"), cell=lambda row: detectable(row["cells"][0]), look="number"
        ),
        Column("kappa", _("Difference of κ"), cell=lambda row: figure_text(row["cells"][1]), look="number"),
        Column(
            "kappa_mde",
            _("Minimum detectable effect"),
            cell=lambda row: detectable(row["cells"][1]),
            look="number",
        ),
    ]
    return Table(columns, rows, labelledby="contrasts")


def _moves(rates: Iterable[ChangeRates]) -> Table:
    def share(name: str) -> Callable[[ChangeRates], Measure]:
        return lambda one: getattr(one.changes, name)

    columns = [
        Column("unit", _("Labels of"), lambda one: UNITS[one.unit]),
        Column("against", _("compared with"), lambda one: one.judge or _("the majority of the judges")),
        Column("labels", _("Labels"), "changes.labels", look="number"),
        *(
            figure_column(name, translated(one.title), share(name), is_share=True)
            for name, one in (WAYS | FOLLOWED).items()
        ),
    ]
    return Table(columns, rates, labelledby="moves")


def _annotators(figures: report.Influence) -> Table:
    """Each annotator's own effect: a difference where arms were dealt, and what they changed after a look."""

    def effect(one: AnnotatorEffect) -> str:
        return figure_text(_difference_cell(one.effect, is_share=True) if one.effect else {})

    def share(name: str) -> Column:
        return figure_column(
            name, translated((WAYS | FOLLOWED)[name].title), attrgetter(name), is_share=True, why=True
        )

    columns = [
        Column("name", _("Annotator"), look="main"),
        *(
            [
                Column("effect", _("Difference, points"), cell=effect, look="number"),
                Column("exposed", _("Tasks, always shown"), look="number"),
                Column("sealed", _("Tasks, never shown"), look="number"),
            ]
            if figures.randomised
            else []
        ),
        Column("labels", _("Labels changed or kept after seeing suggestions"), look="number"),
        share("changed"),
        share("followed"),
    ]
    return Table(columns, figures.annotators, labelledby="own-effects")


def _sizes(columns: list[dict[str, Any]], *, people: bool) -> list[dict[str, Any]]:
    """The sizes behind the figures of each column; `people`: people on tasks were dealt to the arms."""
    titles = {
        "allocated": _("People on tasks") if people else _("Tasks in total"),
        "tasks": _("Tasks with labels"),
        "trajectories": _("Trajectories"),
        "steps": _("Steps"),
        **({} if people else {"pairs": _("Pairs of labels")}),
    }
    return [
        {"title": title, "counts": [getattr(column["arm"], name) for column in columns]}
        for name, title in titles.items()
    ]


def _reasons(rows: Iterable[dict[str, Any]], key: str = "reason") -> list[str]:
    """The reasons for dashes in cells; each reason once."""
    return list(dict.fromkeys(cell[key] for row in rows for cell in row["cells"] if cell[key]))


def _few_of(annotators: Iterable[AnnotatorEffect]) -> list[str]:
    """The reasons for dashes among annotators' own figures; each reason once."""
    reasons = [
        measure.reason
        for one in annotators
        for measure in (*([one.effect.measure] if one.effect else []), one.changed, one.followed)
    ]
    return list(dict.fromkeys(translated(reason) for reason in reasons if reason))


@require_GET
def influence(request: HttpRequest, slug: str) -> HttpResponse:
    """The page of influence: figures by arm, as differences, and label by label."""
    opened = open_project(request, slug, "influence.view")
    kept = kept_figures.influence(actor=opened.user, project=opened.project)
    queue = kept_figures.triage_so_far(actor=opened.user, project=opened.project)
    figures = kept.figures
    columns = _columns(figures)
    rows, contrasts = _rows(columns), _contrasts(figures.contrasts)
    return opened.render(
        "influence/influence.html",
        "influence",
        kept=kept_figures.oldest([kept, queue]),
        report=figures,
        labelled=any(arm.steps for arm in figures.arms),
        policy=dict(POLICIES)[opened.project.suggestion_policy],
        columns=columns,
        rows=rows,
        dots=None if figures.randomised else _before_after(figures.arms[0]),
        reasons=_reasons(rows),
        sizes=_sizes(columns, people=figures.trial is not None),
        trial=None if figures.trial is None else shown(figures.trial),
        contrasts=contrasts,
        few=_reasons(contrasts.rows, "mde_reason"),
        moves=_moves(figures.change_rates),
        annotators=_annotators(figures),
        few_of_annotator=_few_of(figures.annotators),
        looked=any(one.changes.labels for one in figures.change_rates),
        queue=queue.figures,
    )


# ── The switches, on the settings page ────
def switches(opened: ProjectPage) -> dict[str, Any]:
    """The experiment and triage as the settings page shows them."""
    queue = {"seed": opened.project.triage_seed, "waiting": unclaimed(opened.project).count()}
    experiment = experiment_of(viewer=opened.user, project=opened.project)
    return {
        "experiment": experiment,
        "arms": [
            {"title": ARM_NAMES[arm], "tasks": experiment.tasks.get(arm), "dealt": experiment.dealt.get(arm)}
            for arm in experiment.arms
        ],
        "randomise_form": RandomiseForm(initial={"arms": len(experiment.arms) or len(ARMS)}),
        "queue": queue,
        "triage_form": TriageForm(initial={"batch_size": opened.project.triage_batch_size}),
    }


@require_POST
def experiment(request: HttpRequest, slug: str) -> HttpResponse:
    """Randomise exposure, with a new seed each time, or let the project's setting decide again."""
    opened = open_project(request, slug, CHANGE)
    try:
        if "stop" in request.POST:
            service.stop_randomising(actor=opened.user, project=opened.project)
            messages.success(request, _("The time at which suggestions are shown is no longer randomised."))
        else:
            form = RandomiseForm(request.POST)
            arms = form.cleaned_data["arms"] if form.is_valid() else len(ARMS)
            service.randomise(actor=opened.user, project=opened.project, arms=arms)
            messages.success(request, _("The time at which suggestions are shown is now randomised."))
    except TristepError as error:
        messages.error(request, translated(error.message))
    return redirect("frontend:project-settings", slug)


@require_POST
def triage(request: HttpRequest, slug: str) -> HttpResponse:
    """Serve what judges contest first, or go back to the order of chance."""
    opened = open_project(request, slug, CHANGE)
    if "undo" in request.POST:
        service.undo_triage(actor=opened.user, project=opened.project)
        messages.success(request, _("The queue is back in random order."))
        return redirect("frontend:project-settings", slug)
    form = TriageForm(request.POST)
    if not form.is_valid():
        reasons = joined(*(str(reason) for errors in form.errors.values() for reason in errors))
        messages.error(request, reasons)
        return redirect("frontend:project-settings", slug)
    done = service.triage(actor=opened.user, project=opened.project, **form.cleaned_data)
    messages.success(
        request,
        _(
            "Contested trajectories come first: %(contested)d contested, then %(unanimous)d "
            "unanimous, then %(unscored)d without suggestions from two judges."
        )
        % {"contested": done.contested, "unanimous": done.unanimous, "unscored": done.unscored},
    )
    return redirect("frontend:project-settings", slug)
