"""Trajectories as admins read them: the list, and one with everything that is known about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.errors import Invalid
from annotation.core.text import unescape
from annotation.core.vocabulary import Role, TrajectoryState
from annotation.language import translated
from annotation.models import Subset, Trajectory
from annotation.reports.cases import side_by_side
from annotation.reports.work import trajectory_list as report
from annotation.services import noted_reads
from frontend.pages.shared.common import ProjectPage, open_project, paginate
from frontend.rendering import csv_lines
from frontend.rendering.charts import strip
from frontend.rendering.transcript import escape_control_chars, facts, hints_and_source, lay_out, tools
from frontend.templatetags.tristep import MARK_KINDS, SIGNS

VERB = "trajectory.list"
MAX_SEARCH = 200
NOT_EXPORTED = ("page",)
BLOCK = 500
SHOWN_OF_QUESTION = {False: 140, True: 80}

# key -> (title, the natural direction), in the order in which they are offered
ORDERS = {
    "queue": (gettext_lazy("Queue"), ""),
    "record": (gettext_lazy("Record"), ""),
    "model": (gettext_lazy("Policy model"), ""),
    "steps": (gettext_lazy("Steps"), "-"),
    "state": (gettext_lazy("State"), ""),
    "annotators": (gettext_lazy("Annotators"), "-"),
    "agreement": (gettext_lazy("Agreement"), ""),
    "doubt": (gettext_lazy("Judges’ doubt"), "-"),
}
CSV_HEADING = ("record_id", "subset", "task", "policy_model", "steps", "state", "annotators", "question")
CSV_LABELS = ("agreement", "judges_doubt", "labels", "outcome")


@dataclass(frozen=True)
class Asked:
    """What the query string asks for: filters by name, an order, and whether labels are to be shown."""

    filters: dict[str, str]
    sort: str
    labels: bool

    @classmethod
    def of(cls, request: HttpRequest) -> Asked:
        """Read it; the report refuses what it does not know."""
        read = {name: request.GET.get(name, "").strip()[:MAX_SEARCH] for name in ("sort", *report.FILTERS)}
        read = {name: value.replace("\x00", "") for name, value in read.items()}
        return cls(
            filters={name: read[name] for name in report.FILTERS},
            sort=read["sort"] or "queue",
            labels="labels" in request.GET,
        )

    @property
    def filtered(self) -> bool:
        """Whether any filter is set."""
        return any(self.filters.values())

    def columns(self) -> dict[str, dict[str, str]]:
        """By order, what the heading of its column needs: title, the order that a click asks for, and the
        present direction as `aria-sort` says it."""
        found = {}
        for name, (title, natural) in ORDERS.items():
            present = self.sort.removeprefix("-") == name
            turned = "" if self.sort.startswith("-") else "-"
            said = "descending" if self.sort.startswith("-") else "ascending"
            found[name] = {
                "title": str(title),
                "sort": f"{turned if present else natural}{name}",
                "aria": said if present else "",
            }
        return found

    def orders(self) -> list[tuple[str, str]]:
        """(order, title) of those that a list offers, the present one among them."""
        offered = [
            (f"{natural}{name}", str(title))
            for name, (title, natural) in ORDERS.items()
            if self.labels or name not in report.TELLING
        ]
        known = ORDERS.get(self.sort.removeprefix("-"))
        if known and self.sort not in dict(offered):
            offered.append((self.sort, str(known[0])))
        return offered


def _found(opened: ProjectPage, asked: Asked) -> QuerySet[Trajectory]:
    return report.trajectories(
        actor=opened.user, project=opened.project, filters=asked.filters, sort=asked.sort, labels=asked.labels
    )


@require_GET
def trajectories(request: HttpRequest, slug: str) -> HttpResponse:
    """The trajectories of a project, filtered and in order; with labels, which is noted, when asked for."""
    opened = open_project(request, slug, VERB)
    project, user = opened.project, opened.user
    asked = Asked.of(request)
    everything = policies.visible(user, Trajectory.objects.filter(project=project))
    refusal = ""
    try:
        rows = _found(opened, asked)
    except Invalid as error:
        rows, refusal = everything.none(), translated(error.message)
    page = paginate(request, rows)
    said = noted_reads.listed(actor=user, project=project, rows=list(page)) if asked.labels else {}
    names = report.annotators(user, page)
    models = everything.order_by("policy_model").values_list("policy_model", flat=True).distinct()
    return opened.render(
        "work/trajectories.html",
        "trajectories",
        status=400 if refusal else 200,
        page=page,
        rows=[
            {
                "row": row,
                "annotators": names.get(row.pk, []),
                "kept": asked.labels and row.pk not in said,
                **(_strip(said[row.pk]) if row.pk in said else {}),
            }
            for row in page
        ],
        shown_of_question=SHOWN_OF_QUESTION[asked.labels],
        refusal=refusal,
        asked=asked,
        columns=asked.columns(),
        orders=asked.orders(),
        may_claim=Role.ANNOTATOR in opened.roles,
        subsets=policies.visible(user, Subset.objects.filter(project=project)),
        models=[name for name in models if name],
        people=report.annotators_of(project),
        states=[state.value for state in TrajectoryState],
        export=_export_address(request, slug),
    )


def _export_address(request: HttpRequest, slug: str) -> str:
    query = request.GET.copy()
    for name in NOT_EXPORTED:
        query.pop(name, None)
    return f"{reverse('frontend:trajectories-export', args=[slug])}?{query.urlencode()}"


def _kind(cell: report.Cell) -> str:
    return "differ" if isinstance(cell, report.Differ) else "none" if cell is None else MARK_KINDS[cell]


def _word(cell: report.Cell) -> str:
    if isinstance(cell, report.Differ):
        return _("differ")
    return _("no label") if cell is None else SIGNS[cell]


def _strip(said: report.Said) -> dict[str, Any]:
    """The strip of one trajectory, and the same in words: equal neighbours counted together."""
    cells = [cell for _index, cell in said.steps]
    runs = [(word, len(list(same))) for word, same in groupby(map(_word, cells))]
    steps = ", ".join(f"{word} × {count}" if count > 1 else word for word, count in runs)
    words = _("Steps: %(steps)s. Outcome: %(outcome)s.")
    return {
        "strip": strip([_kind(cell) for cell in cells], _kind(said.outcome)),
        "words": words % {"steps": steps, "outcome": _word(said.outcome)},
    }


@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The same rows as CSV, all pages of them, streamed."""
    opened = open_project(request, slug, VERB)
    asked = Asked.of(request)
    rows = _found(opened, asked)
    heading = (*CSV_HEADING, *(CSV_LABELS if asked.labels else ()))
    return csv_lines.download(f"{slug}-trajectories.csv", heading, _csv_rows(opened, rows, asked.labels))


def _csv_rows(opened: ProjectPage, rows: QuerySet[Trajectory], labels: bool) -> Iterator[tuple[Any, ...]]:
    """The cells of each row; labels are noted as seen block by block, before they are sent."""
    left = rows.iterator(BLOCK)
    while block := list(islice(left, BLOCK)):
        names = report.annotators(opened.user, block)
        said = noted_reads.listed(actor=opened.user, project=opened.project, rows=block) if labels else {}
        for row in block:
            task, question = (unescape(text) for text in (row.task.key, row.beginning))  # type: ignore[attr-defined]
            cells = (
                unescape(row.record_id),
                row.subset.name,
                task,
                unescape(row.policy_model),
                row.step_count,
                row.state,
                "; ".join(names.get(row.pk, [])),
                question,
            )
            yield (*cells, *(_csv_labels(row, said.get(row.pk)) if labels else ()))


def _csv_labels(row: Trajectory, said: report.Said | None) -> tuple[Any, ...]:
    """Agreement, doubt, `message index:label` of each labelled step, and the outcome; `?` where they
    differ."""
    if said is None:
        return (None,) * len(CSV_LABELS)

    def written(cell: report.Cell) -> str:
        return "?" if isinstance(cell, report.Differ) else str(cell)

    steps = " ".join(f"{index}:{written(cell)}" for index, cell in said.steps if cell is not None)
    outcome = None if said.outcome is None else written(said.outcome)
    return row.agreement, row.doubt, steps, outcome


@require_http_methods(["GET", "POST"])
def trajectory(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One trajectory with its labels. Seeing them is noted; an admin who also labels is asked first."""
    opened = open_project(request, slug, VERB)
    found = Trajectory.objects.filter(project=opened.project).select_related(
        "project", "subset", "task", "source"
    )
    row = get_object_or_404(policies.visible(opened.user, found), pk=pk)
    sealed = not policies.field_access(opened.user, row).others_labels
    costs = not sealed and noted_reads.costs_the_claim(actor=opened.user, trajectory=row)
    asks = costs and request.method == "GET"
    read = side_by_side.plain if sealed or asks else noted_reads.inspection
    shown = read(actor=opened.user, trajectory=row)
    if request.method == "POST":
        return redirect("frontend:trajectory", slug, pk)
    return opened.render("work/trajectory.html", "trajectories", asks=asks, sealed=sealed, **laid_out(shown))


@require_GET
def atif(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The trajectory as an ATIF document, to be saved. An admin who could still claim it is asked first."""
    opened = open_project(request, slug, VERB)
    found = Trajectory.objects.filter(project=opened.project).select_related("project", "content")
    row = get_object_or_404(policies.visible(opened.user, found), pk=pk)
    may = policies.field_access(opened.user, row).raw
    if may and noted_reads.costs_the_claim(actor=opened.user, trajectory=row):
        return redirect("frontend:trajectory", slug, pk)
    document = noted_reads.atif(actor=opened.user, trajectory=row)
    return HttpResponse(
        json.dumps(document),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="trajectory-{row.pk}.atif.json"'},
    )


def laid_out(shown: side_by_side.SideBySide) -> dict[str, Any]:
    """What the partials of a trajectory need, with the labels of each step beside its message."""
    transcript = shown.transcript
    items = {item.step.message_index: item for item in shown.steps if item.step}
    messages = lay_out(transcript, [item.step for item in shown.steps if item.step])
    return {
        "shown": shown,
        "trajectory": shown.trajectory,
        "items": items,
        "run": messages,
        "question": escape_control_chars(transcript.question),
        "tools": tools(transcript),
        "task_description": facts(transcript.task_description),
        "reference_answer": facts(transcript.reference_answer),
        **hints_and_source(transcript.hints),
    }
