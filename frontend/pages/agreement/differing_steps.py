"""The steps behind a number of the agreement page: what they say, and what annotators say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.defaultfilters import truncatechars
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET

from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_table import PLACES
from annotation.core.kinds import Feature, ProjectKind, available
from annotation.core.text import unescape
from annotation.core.vocabulary import REASON_CODES, SIGNS, VALUES
from annotation.language import translated
from annotation.reports.agreement import differing_steps as report
from annotation.services import noted_reads
from frontend.pages.agreement.charts import CUT_TITLES, FIRST_ERROR_TITLES, part_title
from frontend.pages.shared.common import open_project
from frontend.pages.shared.list_page import Empty, Filter, ListPage, Words, show
from frontend.rendering.identity import short_identity
from frontend.rendering.jinja import Macros
from frontend.rendering.run_parts import place_of
from frontend.rendering.step_names import step_inside
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import mark, reason_title

STEPS_VERB = "agreement.pairs"
SHOWN_OF_TEXT = 300
NO_FILTERS = frozenset({"page", "sort", "as", "by"})
label_cells = Macros("labels")

Choices = Sequence[tuple[str, Words]]
DIFFERENCES: Choices = [
    ("1", gettext_lazy("any difference")),
    ("sign_flip", gettext_lazy("sign flip (+1 against −1)")),
    ("neutral_boundary", gettext_lazy("neutral boundary (0 against ±1)")),
]


def _choices(differing: report.DifferingSteps) -> Iterator[tuple[str, Words, Choices]]:
    """Every filter with its title and choices."""
    values = [(str(value), SIGNS[value]) for value in VALUES]
    yield "differ", _("Difference"), DIFFERENCES
    yield "reason", _("Reason"), [(one.code, reason_title(one.code)) for one in REASON_CODES]
    yield "annotator", _("Annotator"), [(str(pk), name) for pk, name in differing.view.people.items()]
    for cut in differing.view.cuts:
        parts = differing.view.parts(cut)
        yield cut, CUT_TITLES[cut], [(part.key, part_title(cut, part)) for part in parts]
    yield "value", _("Label"), values
    yield (
        "labels",
        _("Labels"),
        [(f"{a},{b}", f"{SIGNS[int(a)]}, {SIGNS[int(b)]}") for a, _a in values for b, _b in values],
    )
    places = [(str(n), f"{n}+" if n == PLACES else str(n)) for n in range(1, PLACES + 1)]
    yield "place", translated(differing.view.kind.names.one), places
    yield "first_error", _("First error"), list(FIRST_ERROR_TITLES.items())
    yield (
        "figure",
        _("Figure"),
        [(name, translated(one.title)) for name, one in available(differing.view.kind, FIGURES).items()],
    )
    yield "of", _("Labels of"), [("outcome", _("outcomes"))]
    yield "when", _("Time"), [("after", _("after discussion"))]
    yield "changed", _("Discussion"), [("1", _("changed in discussion"))]


def _filters(differing: report.DifferingSteps) -> list[Filter]:
    """The filters of most lists, and further conditions that are asked for."""
    asked = differing.selection.asked
    offered = ("differ", "reason", "annotator", "subset")
    return [
        Filter(name, title, choices)
        for name, title, choices in _choices(differing)
        if name in offered or name in asked
    ]


def _of(number: int, attribute: str) -> Callable[[report.LabelsOfStep], Any]:
    """An attribute of the label in that place."""
    return lambda row: getattr(row.labels[number], attribute) if number < len(row.labels) else None


def _columns(slug: str, kind: ProjectKind, most_labels: int) -> list[Column]:
    def step(row: report.LabelsOfStep) -> str:
        record = short_identity(row.trajectory.record_id)
        name = _("%(record)s, outcome") % {"record": record}
        if row.number:
            name = _("%(record)s, %(step)s") % {"record": record, "step": step_inside(row.number, kind)}
        page = at("trajectory", slug, row.trajectory.pk) + place_of(row.message_index)
        return cells.lines(cells.link(name, page, "break"), cells.soft(row.trajectory.subset.name))

    def text(row: report.LabelsOfStep) -> str:
        beginning = truncatechars(" ".join(unescape(row.text).split()), SHOWN_OF_TEXT)
        return cells.content(beginning) if beginning else ""

    def labels(row: report.LabelsOfStep) -> str:
        return cells.stack(
            *(
                label_cells.said(
                    label.annotator,
                    mark(label.value),
                    "" if label.now is None else mark(label.now),
                    reason_title(label.reason) if label.reason else "",
                    unescape(label.note),
                )
                for label in row.labels
            )
        )

    each = {
        "annotator": "annotator",
        "label": "value",
        "after_discussion": "now",
        "reason": "reason",
        "note": "note",
    }
    return [
        Column("record_id", translated(kind.names.one), "trajectory.record_id", step, "record", "record"),
        Column("subset", value="trajectory.subset.name"),
        Column("step", value="number"),
        Column("message_index"),
        Column("text", _("Text"), cell=text, look="main"),
        Column("labels", _("Labels"), lambda row: len(row.labels), labels, "main", "-difference"),
        *(
            Column(f"{name}_{number + 1}", value=_of(number, attribute))
            for number in range(most_labels)
            for name, attribute in each.items()
        ),
    ]


@require_GET
def steps(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The steps that a number of the agreement page is made of, with both labels. Seeing them is noted."""
    opened = open_project(request, slug, STEPS_VERB)
    asked = {name: str(value) for name, value in request.GET.items() if name not in NO_FILTERS and value}
    differing = report.steps(
        viewer=opened.user,
        project=opened.project,
        asked=asked,
        sort=request.GET.get("sort") or report.STEP_SORTS[0],
    )
    listed = ListPage(
        request,
        _columns(slug, opened.project.of_kind, differing.most_labels),
        lambda _asked: range(differing.count),
        Empty(_("Nothing fits")),
        filters=_filters(differing),
        orders=[("step", _("Number"))],
        order=report.STEP_SORTS[0],
        items=lambda chosen: noted_reads.agreement_steps(
            actor=opened.user, project=opened.project, steps=differing, chosen=chosen
        ),
        file="steps",
    )
    return show(
        opened,
        "agreement",
        listed,
        title=_title(differing),
        about=_("Blind labels of one outcome, as the figures count them. Your viewing is recorded.")
        if differing.of_outcomes
        else _("Blind labels, as the figures count them. Your viewing is recorded."),
    )


def _title(differing: report.DifferingSteps) -> str:
    n = differing.count
    if differing.of_steps and differing.view.kind.has(Feature.PAIRS):
        return ngettext("%(n)d option", "%(n)d options", n) % {"n": n}
    if differing.of_steps:
        return ngettext("%(n)d step", "%(n)d steps", n) % {"n": n}
    return ngettext("%(n)d pair of labels", "%(n)d pairs of labels", n) % {"n": n}
