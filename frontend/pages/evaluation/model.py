"""One model on a release: its figures, and where it errs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.figures.figure import Figure
from annotation.core.figures.measure import MIN_TASKS, Measure
from annotation.core.kinds import Feature, available
from annotation.core.scoring import Scores
from annotation.core.scoring.decisions.facts import cue_title
from annotation.core.scoring.pairs import PairCounts
from annotation.core.scoring.question_figures import FIGURES
from annotation.core.scoring.scores import too_few_tasks
from annotation.core.text import escape
from annotation.core.vocabulary import SIGNS, VALUES
from annotation.language import translated
from annotation.models import PredictionSet
from annotation.reports.evaluation.leaderboard import CATEGORY, CUTS
from annotation.reports.evaluation.leaderboard_entries import title_of
from annotation.reports.evaluation.model_scores import ModelScores
from annotation.services import evaluate, noted_reads
from frontend.pages.evaluation.leaderboard import CHANGE, LEADERBOARD_VERB, dots_of, release_of
from frontend.pages.evaluation.question_parts import CUT_TITLES, VERDICT_TITLES, part_title
from frontend.pages.shared.common import ProjectPage, leaderboard_place, open_project, release_trail
from frontend.pages.shared.figure_cells import figure_column, figure_text, measure_cell
from frontend.pages.shared.heat import Heat, HeatCell
from frontend.rendering import charts
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, Table, at, cells
from frontend.templatetags.tristep import number, readable, signed

OFFSETS = {
    "same": gettext_lazy("at the right step"),
    "one_earlier": gettext_lazy("one step too early"),
    "far_earlier": gettext_lazy("two steps or more too early"),
    "one_later": gettext_lazy("one step too late"),
    "far_later": gettext_lazy("two steps or more too late"),
    "only_first": gettext_lazy("an error missed by the model"),
    "only_second": gettext_lazy("an error where the release has none"),
    "neither": gettext_lazy("no error, as in the release"),
}


def error_columns(slug: str, row: PredictionSet) -> list[Column]:
    """The columns of trajectories of a release, with how a model does on them."""

    def verdict(right: bool) -> str:
        return _("right") if right else _("wrong")

    def record(one: Any) -> str:
        name = short_identity(escape(one.record_id))
        return cells.link(name, at("release-predicted", slug, row.release.version, row.pk, one.ordinal))

    def wrong(one: Any) -> str:
        return _("%(n)s of %(all)s") % {"n": one.found.wrong, "all": one.found.steps}

    first_error = Column("first_error", _("First error"), lambda one: verdict(one.found.first_error))
    named = [
        Column("record_id", _("Record"), lambda one: escape(one.record_id), record, "main", "record_id"),
        Column("subset", _("Subset"), look="slug", sort="subset"),
    ]
    if row.release.project.of_kind.has(Feature.PAIRS):
        return [
            *named,
            Column("wrong_pairs", _("Pairs not right"), "found.wrong", wrong, "number", "-wrong_pairs"),
            Column("pairs", value="found.steps"),
        ]
    return [
        *named,
        Column("wrong_steps", _("Wrong steps"), "found.wrong", wrong, "number", "-wrong_steps"),
        Column("steps", value="found.steps"),
        *([first_error] if row.release.project.of_kind.has(Feature.SEQUENCE) else []),
        Column("outcome", _("Outcome"), lambda one: verdict(one.found.outcome)),
    ]


def set_of(opened: ProjectPage, version: str, pk: int) -> PredictionSet:
    """The prediction set of a model for a release of the project. Raises Http404."""
    rows = PredictionSet.objects.filter(release=release_of(opened, version)).select_related(
        "release__project", "created_by"
    )
    return get_object_or_404(policies.visible(opened.user, rows), pk=pk)


def _figure_columns(scored: ModelScores, *, few_tasks: bool) -> list[Column]:
    """Of rows (name, figure): the value, and what became of it by recalibration."""

    def of(figures: Mapping[str, Measure]) -> Callable[[tuple[str, Figure]], str]:
        def cell(row: tuple[str, Figure]) -> str:
            name, figure = row
            shown = measure_cell(figures[name], is_share=figure.percent)
            return figure_text(shown | {"low": ""} if few_tasks else shown, why=not few_tasks)

        return cell

    def change(row: tuple[str, Figure]) -> str | None:
        changed = after.changes[row[0]] if after else None
        if changed is None:
            return None
        ends = {"value": changed.value, "low": changed.low, "high": changed.high}
        shown = {name: "" if one is None else signed(one, row[1].percent) for name, one in ends.items()}
        return figure_text({"reason": "", "why": "", **shown})

    after = scored.recalibrated
    recalibrated = (
        [
            Column("recalibrated", _("Recalibrated"), cell=of(after.scores.figures), look="number"),
            Column("change", _("Change"), cell=change, look="number"),
        ]
        if after
        else []
    )
    return [
        Column("figure", _("Figure"), lambda row: translated(row[1].title), look="main"),
        Column("value", _("Value"), cell=of(scored.scores.figures), look="number"),
        *recalibrated,
        Column("n", "n", lambda row: scored.scores.figures[row[0]].n, look="number"),
        Column("definition", _("Definition"), lambda row: translated(row[1].convention), look="soft small"),
    ]


@require_GET
def model(request: HttpRequest, slug: str, version: str, pk: int) -> HttpResponse:
    """One model on a release: every figure, and where it errs."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    row = set_of(opened, version, pk)
    by_pairs = request.GET.get("by") == "pairs"
    scored = noted_reads.model_scores(actor=opened.user, row=row, by_pairs=by_pairs)
    few_tasks = too_few_tasks([scored.scores])
    records = reverse("frontend:release-errors", args=[slug, version, pk])
    return opened.render(
        "evaluation/model.html",
        "releases",
        title=readable(row.model),
        trail=[*release_trail(slug, version), leaderboard_place(slug, version)],
        release=row.release,
        row=row,
        found=scored,
        figures=Table(
            _figure_columns(scored, few_tasks=bool(few_tasks)),
            available(opened.project.of_kind, scored.scheme.figures).items(),
        ),
        few_tasks=few_tasks,
        least_tasks=MIN_TASKS,
        may_change=opened.may(CHANGE),
        records=records,
        worst=Table(error_columns(slug, row), scored.worst),
        parts=_parts(scored),
        cues=_cues(scored),
        verdicts=_verdicts(scored),
        **_pictures(scored, records),
    )


_Part = tuple[str, Scores]


def _pair_columns(heading: str) -> list[Column]:
    """Of rows (name, scores): the pairs that are won, tied and lost, and pair accuracy."""

    def counted(name: str, title: str) -> Column:
        def value(row: _Part) -> float:
            pairs: PairCounts = row[1].pairs or PairCounts(0, 0, 0)
            share: float = getattr(pairs, name)
            return share

        return Column(name, title, value, lambda row: number(value(row)), "number")

    return [
        Column("name", heading, lambda row: row[0], lambda row: readable(row[0]), "main"),
        counted("pairs", _("Pairs of options")),
        counted("won", _("Won")),
        counted("tied", _("Tied")),
        counted("lost", _("Lost")),
        figure_column(
            "pair_accuracy", _("Pair accuracy"), lambda row: row[1].figures["pair_accuracy"], is_share=True
        ),
    ]


def _question_columns(heading: str, *, beside: bool = False) -> list[Column]:
    """Of rows (name, scores): the questions, and their main figures; `beside`: of what says no text."""

    def counted(name: str, title: str) -> Column:
        def value(row: _Part) -> int:
            n: int = getattr(row[1].questions, name)
            return n

        return Column(name, title, value, look="number")

    def share(name: str, title: str) -> Column:
        return figure_column(name, title, lambda row: row[1].figures[name], is_share=True)

    figures = ("accuracy", "accuracy_published", *(() if beside else ("rouge_l",)))
    return [
        Column("name", heading, lambda row: row[0], lambda row: readable(row[0]), "main"),
        counted("questions", _("Questions")),
        *(() if beside else (counted("empty", _("Empty")), counted("unreadable", _("Unreadable")))),
        *(share(name, translated(FIGURES[name].title)) for name in figures),
    ]


def _columns_of(scored: ModelScores, heading: str) -> list[Column]:
    return _pair_columns(heading) if scored.scores.questions is None else _question_columns(heading)


def _parts(scored: ModelScores) -> list[dict[str, Any]]:
    """Tables of the subsets and of the other parts of decisions, as far as there are any."""
    cuts = {
        cut: {part_title(cut, name): scores for name, scores in named.items()}
        for cut, named in scored.cuts.items()
        # a question has every part but a category
        if cut == CATEGORY or len(named) > 1
    }
    parts = [("subsets", _("Subset"), scored.subsets)]
    parts += [(CUTS[cut], str(CUT_TITLES[cut]), named) for cut, named in cuts.items()]
    return [
        {"id": name, "title": title, "table": Table(_columns_of(scored, title), of.items(), labelledby=name)}
        for name, title, of in parts
        if of
    ]


def _verdicts(scored: ModelScores) -> list[dict[str, Any]]:
    """The number of questions of each verdict, for the links to them."""
    most = max(scored.verdicts.values(), default=0)
    return [
        {"title": VERDICT_TITLES[name], "count": n, "query": f"?verdict={name}", "width": charts.bar(n, most)}
        for name, n in scored.verdicts.items()
    ]


def _cues(scored: ModelScores) -> Table | None:
    """The model beside choices by what merely shows, or without reading, where there are decisions."""
    if scored.scores.questions is not None:
        rows = [(translated(title_of(name)), scores) for name, scores in scored.cues.items()]
        columns = _question_columns(_("Baseline"), beside=True)
        return Table(columns, rows, labelledby="cues") if rows else None
    if scored.scores.pairs is None:
        return None
    own = (_("This model"), scored.scores)
    cues = [(translated(cue_title(name)), scores) for name, scores in scored.cues.items()]
    return Table(_pair_columns(_("Choice")), [own, *cues], labelledby="cues")


def _pictures(scored: ModelScores, address: str) -> dict[str, Any]:
    confusion = (
        [
            HeatCell(
                value,
                predicted,
                n,
                address + _cell_query(value, predicted) if n else "",
                _cell_words(value, predicted, n),
            )
            for value, counts in zip(VALUES, scored.confusion.tolist(), strict=True)
            for predicted, n in zip((*VALUES, None), counts, strict=True)
        ]
        if scored.confusion is not None
        else []
    )
    counts = {} if scored.offsets is None else asdict(scored.offsets)
    most = max(counts.values(), default=0)
    parts = [part.scores.figures["step_accuracy"] for part in scored.lengths]
    dots, ticks = dots_of(parts)
    return {
        "heat": Heat(confusion, (_("Release"), _("Model"))) if confusion else None,
        "offsets": [
            {
                "title": title,
                "count": counts[name],
                "query": f"?first={name}",
                "width": charts.bar(counts[name], most),
            }
            for name, title in OFFSETS.items()
            if name in counts
        ],
        "ticks": ticks,
        "lengths": [
            {
                "part": part,
                "dot": dot,
                "measure": measure,
                "first": part.scores.figures.get("first_error_accuracy"),
            }
            for part, dot, measure in zip(scored.lengths, dots, parts, strict=True)
        ],
        "places": [
            {"place": one, "share": one.right / one.steps, "width": charts.bar(one.right, one.steps)}
            for one in scored.places
        ],
    }


def _cell_query(value: int, predicted: int | None) -> str:
    return f"?released={value}&predicted={'none' if predicted is None else predicted}"


def _cell_words(value: int, predicted: int | None, count: int) -> str:
    words = _("%(released)s in the release, %(predicted)s by the model: %(n)d")
    return words % {
        "released": SIGNS[value],
        "predicted": _("no label") if predicted is None else SIGNS[predicted],
        "n": count,
    }


@require_POST
def delete(request: HttpRequest, slug: str, version: str, pk: int) -> HttpResponse:
    """Take the predictions of a model away; the release stays as it is."""
    opened = open_project(request, slug, CHANGE)
    row = set_of(opened, version, pk)
    evaluate.delete_predictions(actor=opened.user, prediction_set=row)
    messages.success(request, _("The predictions of %(model)s are deleted.") % {"model": row.model})
    return redirect("frontend:leaderboard", slug, version)
