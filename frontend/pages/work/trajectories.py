"""Trajectories as admins read them: the list, and one with everything that is known about it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import truncatechars
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation import policies
from annotation.core.kinds import Feature, ProjectKind
from annotation.core.text import unescape
from annotation.core.vocabulary import SIGNS, VALUE_NAMES, Role, TrajectoryState
from annotation.language import translated
from annotation.models import Subset, Tag, Trajectory
from annotation.models.data import with_trajectories
from annotation.policies.lookups import TRAJECTORIES, Lookup
from annotation.reports.cases import side_by_side
from annotation.reports.work import tags as tag_report
from annotation.reports.work import trajectory_list as report
from annotation.reports.work.progress import states_of
from annotation.services import noted_reads
from frontend.pages.shared.columns import record_column, subset_column
from frontend.pages.shared.common import ProjectPage, open_project, there
from frontend.pages.shared.list_page import BulkAct, Empty, Field, Filter, ListPage, show
from frontend.pages.shared.saved_views import SavedViews
from frontend.pages.work import assigning, tags, training_items
from frontend.pages.work.reading import is_part, run
from frontend.rendering.beside import beside
from frontend.rendering.charts import strip
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.identity import title_of
from frontend.rendering.run_strip import run_strip
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import badge_kind, percent, state_name

TRAJECTORIES_VERB = "trajectory.list"
SHOWN_OF_QUESTION = {False: 140, True: 80}

TRAJECTORY_CSV_COLUMNS = (
    *("record_id", "subset", "task", "policy_model", "steps", "state", "annotators", "assigned", "tags"),
    "question",
    *("agreement", "judges_doubt", "labels", "outcome"),
)


@dataclass(frozen=True)
class ListedTrajectory:
    """A trajectory of the list; `said` is what was said of it, None where that is not shown."""

    row: Trajectory
    annotators: list[str]
    assigned: list[str]
    said: report.TrajectoryLabels | None
    tags: list[str]

    @property
    def pk(self) -> int:
        """The trajectory's key, by which it is chosen."""
        return self.row.pk


def _listed(opened: ProjectPage, rows: list[Trajectory], *, labels: bool) -> list[ListedTrajectory]:
    """Rows with what is shown beside them; that their labels are seen is noted."""
    names, assigned = report.annotators(opened.user, rows), report.assigned(opened.user, rows)
    labels_of = noted_reads.listed(actor=opened.user, project=opened.project, rows=rows) if labels else {}
    tags = tag_report.tags_of(opened.user, rows)
    return [
        ListedTrajectory(
            row, names.get(row.pk, []), assigned.get(row.pk, []), labels_of.get(row.pk), tags.get(row.pk, [])
        )
        for row in rows
    ]


def _columns(slug: str, kind: ProjectKind, *, labels: bool) -> list[Column]:
    def question(one: ListedTrajectory) -> str:
        beginning: str = one.row.beginning  # type: ignore[attr-defined]
        shown = truncatechars(escape_control_chars(unescape(beginning)), SHOWN_OF_QUESTION[labels])
        tags = (
            cells.cluster(*(cells.badge(tag, "badge--outline badge--tag") for tag in one.tags))
            if one.tags
            else ""
        )
        return cells.stack(shown, cells.strip(*_strip(one.said)) if one.said else "", tags)

    def state(one: ListedTrajectory) -> str:
        shown: str = one.row.shown_state  # type: ignore[attr-defined]
        return cells.badge(state_name(shown), badge_kind(shown))

    def annotators(one: ListedTrajectory) -> str:
        kept = _("assigned: %(names)s") % {"names": ", ".join(one.assigned)} if one.assigned else ""
        return cells.lines(", ".join(one.annotators), cells.soft(kept) if kept else "")

    columns = [
        record_column(lambda one: at("trajectory", slug, one.row.pk), "row", sort="record"),
        Column("question", _("Question"), "row.beginning", question, "main"),
        subset_column("row.subset.name"),
        Column("task", value="row.task.key"),
        Column("policy_model", _("Policy model"), "row.policy_model", look="slug", sort="model")
        if kind.has(Feature.RUNS)
        else Column("policy_model", value="row.policy_model"),
        Column(
            "steps",
            translated(kind.names.many),
            "row.step_count",
            look="number",
            sort="-steps",
        ),
        Column("state", _("State"), "row.shown_state", state, sort="state"),
        Column(
            "annotators",
            _("Annotators"),
            lambda one: "; ".join(one.annotators),
            annotators,
            "people",
            "-annotators",
        ),
        Column("assigned", value=lambda one: "; ".join(one.assigned)),
        Column("tags", value=lambda one: "; ".join(one.tags)),
    ]
    if not labels:
        return columns
    return [
        *columns,
        Column(
            "agreement",
            _("Agreement"),
            lambda one: one.said and one.row.agreement,
            lambda one: percent(one.row.agreement) if one.said else cells.soft(_("hidden: you may label it")),
            "number",
            "agreement",
        ),
        Column(
            "judges_doubt",
            _("Judges’ doubt"),
            lambda one: one.said and one.row.doubt,
            lambda one: percent(one.row.doubt if one.said else None),
            "number",
            "-doubt",
        ),
        Column("labels", value=lambda one: one.said and _written_steps(one.said)),
        Column("outcome", value=lambda one: one.said and _written(one.said.outcome)),
    ]


def _list(opened: ProjectPage) -> ListPage:
    user, project, request = opened.user, opened.project, opened.request
    labels = "labels" in request.GET

    def rows(asked: dict[str, str]) -> QuerySet[Trajectory]:
        # without any tag, there is no filter by tags
        filters = {name: asked.get(name, "") for name in report.TRAJECTORY_FILTERS}
        return report.trajectories(
            actor=user, project=project, filters=filters, sort=asked["sort"], labels=labels
        )

    subsets = with_trajectories(policies.visible(user, Subset.objects.filter(project=project)))
    names = [(row.name, row.name) for row in policies.visible(user, Tag.objects.filter(project=project))]
    models = report.policy_models(project)
    of_runs = project.of_kind.has(Feature.RUNS)
    return ListPage(
        request,
        _columns(project.slug, project.of_kind, labels=labels),
        rows,
        Empty(
            _("No trajectories yet"),
            _("Import a file to add some."),
            cells.link(
                _("Import trajectories") if of_runs else _("Import decisions"),
                at("imports", project.slug),
                "button button--primary",
            ),
        ),
        filters=[
            Filter("subset", _("Subset"), ((row.name, row.name) for row in subsets)),
            Filter(
                "state",
                _("State"),
                (
                    (state.value, state_name(state.value))
                    for state in TrajectoryState
                    if state in states_of(project.of_kind)
                ),
            ),
            *([Filter("model", _("Policy model"), ((n, n) for n in models if n))] if of_runs else []),
            Filter(
                "annotator", _("Annotator"), ((row.username, row) for row in report.annotators_of(project))
            ),
            *([Filter("tag", _("Tag"), names)] if names else []),
            Filter("q", _("Record or question contains")),
        ],
        items=lambda listed: _listed(opened, listed, labels=labels),
        order="record",
        orders=[("queue", _("Queue"))],
        kept=["labels"],
        file="trajectories",
        in_file=TRAJECTORY_CSV_COLUMNS,
        below=cells.strip_legend() if labels else "",
        views=SavedViews(opened, "trajectories"),
        bulk=BulkAct(
            _("Change tags"),
            at("trajectories-tag", project.slug),
            [
                Field("act", _("The chosen ones"), [("tag", _("get the tag")), ("untag", _("lose the tag"))]),
                Field("name", _("Tag"), type="text"),
            ],
            more=[assigning.act(opened), *training_items.act(opened)] if opened.may("assign") else [],
        ),
    )


@require_http_methods(["GET", "POST"])
def trajectories(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The trajectories of a project, filtered and in order; with labels, which is noted, when asked for."""
    opened = open_project(request, slug, TRAJECTORIES_VERB)
    listed = _list(opened)
    noted = _("Your viewing is recorded")
    has_tags = any(field.name == "tag" for field in listed.filters)
    more = [cells.link(_("Tags"), at("tags", slug), "button")] if has_tags else []
    if "labels" not in request.GET:
        turn = cells.link(_("Show labels"), listed.address(labels="1"), "button", noted)
        return show(opened, "trajectories", listed, actions=[*more, turn])
    about = _("Labels are shown. Your viewing is recorded: you can no longer claim these trajectories.")
    if Role.ANNOTATOR in opened.roles:
        about += " " + _("Labels of trajectories that you could still label stay hidden.")
    turn = cells.link(_("Hide labels"), listed.address(labels=None, sort=None), "button")
    return show(opened, "trajectories", listed, about=about, actions=[*more, turn])


@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The same rows as CSV, all pages of them, streamed."""
    return _list(open_project(request, slug, TRAJECTORIES_VERB)).csv(f"{slug}-")


def _kind(cell: report.Cell) -> str:
    return "differ" if isinstance(cell, report.Differ) else "none" if cell is None else VALUE_NAMES[cell]


def _word(cell: report.Cell) -> str:
    if isinstance(cell, report.Differ):
        return _("differ")
    return _("no label") if cell is None else SIGNS[cell]


def _strip(labels: report.TrajectoryLabels) -> tuple[Any, str]:
    """The strip of one trajectory, and the same in words: equal neighbours counted together."""
    cells_ = [cell for _index, cell in labels.steps]
    runs = [(word, len(list(same))) for word, same in groupby(map(_word, cells_))]
    steps = ", ".join(f"{word} × {count}" if count > 1 else word for word, count in runs)
    words = _("Labels: %(steps)s. Outcome: %(outcome)s.")
    drawn = strip([_kind(cell) for cell in cells_], _kind(labels.outcome))
    return drawn, words % {"steps": steps, "outcome": _word(labels.outcome)}


def _written(cell: report.Cell) -> str | None:
    """A label in a file; `?` where annotators differ."""
    return "?" if isinstance(cell, report.Differ) else None if cell is None else str(cell)


def _written_steps(labels: report.TrajectoryLabels) -> str:
    """`message index:label` of each labelled step."""
    return " ".join(f"{index}:{_written(cell)}" for index, cell in labels.steps if cell is not None)


_with_source: Final = Lookup(policies.visible, TRAJECTORIES.select_related("source"))


@require_http_methods(["GET", "POST"])
def trajectory(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One trajectory with its labels. Seeing them is noted; an admin who also labels is asked first."""
    opened = open_project(request, slug, TRAJECTORIES_VERB)
    row = there(_with_source(opened.user, pk))
    if row.project_id != opened.project.pk:
        raise Http404
    sealed = not policies.field_access(opened.user, row).others_labels
    costs = not sealed and noted_reads.costs_the_claim(actor=opened.user, trajectory=row)
    asks = costs and request.method == "GET"
    read = side_by_side.plain if sealed or asks else noted_reads.inspection
    shown = read(actor=opened.user, trajectory=row)
    if request.method == "POST":
        return redirect("frontend:trajectory", slug, pk)
    # to whoever is labelling it, nothing says whether it is resolved
    state = TrajectoryState.LABELLING.value if sealed else row.state
    laid = laid_out(request, shown)
    template = "transcript/part.html" if is_part(request) else "work/trajectory.html"
    title = title_of(row.record_id, laid["question"].text)
    context = {"asks": asks, "sealed": sealed, "state": state, **laid}
    if not is_part(request):
        context |= tags.of_trajectory(opened, row)
    return opened.render(template, "trajectories", title=title, **context)


@require_GET
def atif(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The trajectory as an ATIF document, to be saved. An admin who could still claim it is asked first."""
    opened = open_project(request, slug, TRAJECTORIES_VERB)
    trajectories = Trajectory.objects.filter(project=opened.project).select_related("project", "content")
    row = get_object_or_404(policies.visible(opened.user, trajectories), pk=pk)
    may = policies.field_access(opened.user, row).raw
    if may and noted_reads.costs_the_claim(actor=opened.user, trajectory=row):
        return redirect("frontend:trajectory", slug, pk)
    document = noted_reads.atif(actor=opened.user, trajectory=row)
    return HttpResponse(
        json.dumps(document),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="trajectory-{row.pk}.atif.json"'},
    )


def laid_out(
    request: HttpRequest, shown: side_by_side.SideBySide, *, first: int | None = None
) -> dict[str, Any]:
    """The context of a trajectory's partials, with the labels of each step beside its message; of a long run
    the part with the message `first`."""
    items = {item.step.message_index: item for item in shown.steps if item.step}
    steps = [item.step for item in shown.steps if item.step]
    return {
        "shown": shown,
        "trajectory": shown.trajectory,
        "items": items,
        "strip": run_strip(shown.transcript, steps, {index: item.consensus for index, item in items.items()}),
        **run(request, shown.transcript, steps, shown.trajectory.project.of_kind, first=first),
        **beside(shown.transcript),
    }
