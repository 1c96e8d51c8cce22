"""The trajectories of a release on which a model errs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.vocabulary import SIGNS, VALUES
from annotation.models import PredictionSet
from annotation.reports.evaluation import predicted_records as report
from annotation.reports.evaluation.answered_questions import holds_questions
from annotation.services import noted_reads
from frontend.pages.evaluation import model_answers as answers
from frontend.pages.evaluation.leaderboard import LEADERBOARD_VERB
from frontend.pages.evaluation.model import OFFSETS, error_columns, set_of
from frontend.pages.shared.common import open_project, release_trail
from frontend.pages.shared.list_page import Empty, Filter, ListPage, ordered, show
from frontend.rendering.run_parts import place_of
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.judging import count

SHOWN_STEPS = 12
VALUES_BY_WORD = {str(value): value for value in VALUES}
PREDICTED_BY_WORD: dict[str, int | None] = {**VALUES_BY_WORD, "none": None}


def _asked(filters: dict[str, str]) -> report.PredictedRecordFilter:
    """The records that filters ask for. Raises Invalid for a value that there is not."""
    released, predicted, first = (filters.get(name, "") for name in ("released", "predicted", "first"))
    choices: Mapping[str, Mapping[str, Any]] = {
        "released": VALUES_BY_WORD,
        "predicted": PREDICTED_BY_WORD,
        "first": OFFSETS,
    }
    for name, values in choices.items():
        if (given := filters.get(name, "")) and given not in values:
            sentence = "“{value}” is no value of the filter “{name}”."
            raise Invalid(translatable(sentence, value=given[:40], name=name), code="unknown_filter")
    cell = (VALUES_BY_WORD[released], PREDICTED_BY_WORD[predicted]) if released and predicted else None
    return report.PredictedRecordFilter(cell, first, filters["subset"])


def _filters(row: PredictionSet) -> list[Filter]:
    signs = [(word, SIGNS[value]) for word, value in VALUES_BY_WORD.items()]
    subsets = row.release.parsed_manifest()["subsets"]
    in_order = row.release.project.of_kind.has(Feature.SEQUENCE)
    return [
        Filter("released", _("In the release"), signs),
        Filter("predicted", _("By the model"), [*signs, ("none", _("no label"))]),
        *([Filter("first", _("First error"), OFFSETS.items())] if in_order else []),
        Filter("subset", _("Subset"), [(name, name) for name in subsets]),
    ]


def _title(asked: report.PredictedRecordFilter, *, of_pairs: bool) -> str:
    if asked.cell is not None:
        released, predicted = asked.cell
        if predicted is None:
            text = _("Steps labelled %(released)s in the release, and not at all by the model")
            return text % {"released": SIGNS[released]}
        text = _("Steps labelled %(released)s in the release, and %(predicted)s by the model")
        return text % {"released": SIGNS[released], "predicted": SIGNS[predicted]}
    if asked.first:
        return _("The first error: %(first)s") % {"first": OFFSETS[asked.first]}
    return (
        _("Decisions with a pair that is not right")
        if of_pairs
        else _("Trajectories with an error of the model")
    )


def _count(
    asked: report.PredictedRecordFilter, rows: Sequence[report.ListedRecord], *, of_pairs: bool
) -> str:
    if of_pairs:
        return ngettext("%(n)s decision", "%(n)s decisions", len(rows)) % {"n": count(len(rows))}
    if asked.cell is None:
        text = ngettext("%(rows)s trajectory", "%(rows)s trajectories", len(rows))
        return text % {"rows": count(len(rows))}
    steps = sum(one.count for one in rows)
    text = ngettext(
        "%(steps)s step in %(rows)s trajectories", "%(steps)s steps in %(rows)s trajectories", steps
    )
    return text % {"steps": count(steps), "rows": count(len(rows))}


@require_GET
def records(request: HttpRequest, slug: str, version: str, pk: int) -> HttpResponseBase:
    """The trajectories on which a model errs, or those of one cell of its confusion or of one class of first
    errors."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    row = set_of(opened, version, pk)
    if request.GET.get("by") != "pairs" and holds_questions(row.release):
        return answers.answered(opened, row)
    of_cell = bool(request.GET.get("released") and request.GET.get("predicted"))
    columns = [*error_columns(slug, row), *([_steps_column(slug, row)] if of_cell else [])]
    of_pairs = opened.project.of_kind.has(Feature.PAIRS)
    order = "-count" if of_cell else f"-{columns[2].name}"

    def rows(filters: dict[str, str]) -> list[report.ListedRecord]:
        page = report.model_records(actor=opened.user, row=row, asked=_asked(filters))
        return page if filters["sort"] == order else ordered(page, columns, filters["sort"])

    listed = ListPage(
        request,
        columns,
        rows,
        Empty(_("No such trajectory"), _("The model has none of these errors on this release.")),
        filters=_filters(row),
        order=order,
        items=lambda page: noted_reads.model_errors(actor=opened.user, release=row.release, rows=page),
        file="errors",
    )
    everything = cast(Sequence[report.ListedRecord], listed.page.paginator.object_list)
    asked = report.PredictedRecordFilter() if listed.refusal else _asked(listed.asked)
    trail = release_trail(slug, row.release.version, row)
    about = _count(asked, everything, of_pairs=of_pairs)
    return show(opened, "releases", listed, title=_title(asked, of_pairs=of_pairs), trail=trail, about=about)


def _steps_column(slug: str, row: PredictionSet) -> Column:
    def steps(one: report.ListedRecord) -> str:
        read = at("release-predicted", slug, row.release.version, row.pk, one.ordinal)
        shown = [cells.link(f"#{index}", f"{read}{place_of(index)}") for index in one.indexes[:SHOWN_STEPS]]
        return cells.cluster(*shown, cells.soft("…") if one.count > SHOWN_STEPS else "")

    return Column("count", _("Steps"), cell=steps, sort="-count")
