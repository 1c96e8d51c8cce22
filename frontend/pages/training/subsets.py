"""Training subsets, the items of one, and the key of an item."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.core.vocabulary import REASON_CODES, VALUE_NAMES, VALUES
from annotation.language import translated
from annotation.models import Subset, Trajectory
from annotation.policies.training import training_items
from annotation.reports.training import keys as report
from annotation.services import ingest, projects, training
from frontend.pages.shared.columns import record_column
from frontend.pages.shared.common import ProjectPage, open_project, whole_number
from frontend.pages.shared.errors import status_of
from frontend.pages.shared.list_page import Empty, Filter, ListPage, act, show
from frontend.pages.work.reading import is_part, run
from frontend.rendering.beside import beside
from frontend.rendering.identity import title_of
from frontend.rendering.run_strip import run_strip
from frontend.rendering.tables import Column, at, cells

VERB = "training.view"
CHANGE = "training.change"


@require_http_methods(["GET", "POST"])
def subsets(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The training subsets of a project; a new one is made, or one that nobody has worked on is marked."""
    opened = open_project(request, slug, CHANGE if request.method == "POST" else VERB)
    problem, status = "", 200
    if request.method == "POST":
        try:
            name = request.POST.get("name", "")
            subset = projects.ensure_subset(actor=opened.user, project=opened.project, name=name)
            training.mark_training(actor=opened.user, subset=subset)
        except (Invalid, Conflict) as error:
            problem, status = translated(error.message), status_of(error)
        else:
            messages.success(request, _("“%(name)s” is a training subset now.") % {"name": subset.name})
            return redirect("frontend:training-items", slug, subset.pk)
    columns = [
        Column(
            "subset",
            _("Subset"),
            "name",
            lambda row: cells.link(row.name, at("training-items", slug, row.pk), "break"),
            "main",
        ),
        Column("items", _("Trajectories"), look="number"),
        Column("keyed", _("With a key"), look="number"),
        Column("used", _("In tutorial or tests"), look="number"),
    ]
    empty = Empty(
        _("No training subset yet"),
        _(
            "A training subset holds trajectories with a key: what tutorial, tests and gold are made of. "
            "Nothing in it is in the queue, in a figure or in a release."
        ),
    )
    rows = report.training_subsets(opened.user, opened.project)
    return show(
        opened,
        "training",
        ListPage(request, columns, rows, empty),
        "training/subsets.html",
        status=status,
        problem=problem,
        typed=request.POST.get("name", ""),
        could_train=report.could_train(opened.user, opened.project),
        actions=_actions(request, opened),
    )


def _actions(request: HttpRequest, opened: ProjectPage) -> list[str]:
    if not report.could_have_examples(opened.user, opened.project):
        return []
    address = at("training-examples", opened.project.slug)
    return [act(request, _("Add the 12 training examples"), address, look="")]


@require_POST
def examples(request: HttpRequest, slug: str) -> HttpResponse:
    """Import the training examples of the default guidelines, explained in the reader's language."""
    opened = open_project(request, slug, CHANGE)
    try:
        source = ingest.add_examples(actor=opened.user, project=opened.project)
    except (Invalid, Conflict) as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:training", slug)
    return redirect("frontend:import-detail", slug, source.pk)


def _subset(request: HttpRequest, slug: str, pk: int, verb: str) -> tuple[ProjectPage, Subset]:
    opened = open_project(request, slug, verb)
    rows = Subset.objects.filter(project=opened.project, training=True).select_related("project")
    return opened, get_object_or_404(policies.visible(opened.user, rows), pk=pk)


def _key_state(row: Any) -> str:
    if row.whole:
        return cells.badge(_("whole"), "badge--good")
    if row.labels:
        return cells.badge(_("half"), "badge--warn")
    return cells.badge(_("none"), "badge--outline")


def _uses(row: Any) -> str:
    uses = [
        _("tutorial") if row.in_tutorial else "",
        _("test") if row.tests else "",
        _("gold") if row.as_gold else "",
    ]
    return ", ".join(filter(None, uses))


@require_GET
def items(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """The items of a training subset, and what each is used for."""
    opened, subset = _subset(request, slug, pk, VERB)
    columns = [
        record_column(lambda row: at("training-item", slug, row.pk), of="", sort="record_id"),
        Column("steps", translated(opened.project.of_kind.names.many), "step_count", look="number"),
        Column("errors", _("Errors in the key"), look="number", sort="-errors"),
        Column(
            "key", _("Key"), lambda row: "whole" if row.whole else "half" if row.labels else "", _key_state
        ),
        Column("used", _("Used in"), _uses),
    ]
    kinds = [("whole", _("whole")), ("missing", _("not whole"))]

    def rows(asked: dict[str, str]) -> Any:
        whole = asked["key"] == "whole" if asked["key"] else None
        return report.training_items(opened.user, subset, whole=whole).order_by(asked["sort"], "pk")

    empty = Empty(
        _("Nothing in this training subset yet"),
        _("Import a file into it, with labels of an expert in it or to give them here."),
        cells.link(_("Import trajectories"), f"{at('imports', slug)}?subset={subset.name}", "button"),
    )
    listed = ListPage(
        request, columns, rows, empty, [Filter("key", _("Key"), kinds)], order="record_id", file="training"
    )
    return show(
        opened,
        "training",
        listed,
        "training/items.html",
        title=subset.name,
        subset=subset,
        token=get_token(request),
    )


@require_POST
def unmark(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put a training subset into the queue like any other."""
    opened, subset = _subset(request, slug, pk, CHANGE)
    try:
        training.unmark_training(actor=opened.user, subset=subset)
    except Conflict as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:training-items", slug, pk)
    messages.success(request, _("“%(name)s” is in the queue now.") % {"name": subset.name})
    return redirect("frontend:training", slug)


@require_http_methods(["GET", "POST"])
def item(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """An item with its key, one form a step; POST writes the label of one, or of the outcome."""
    opened = open_project(request, slug, CHANGE if request.method == "POST" else VERB)
    rows = Trajectory.objects.filter(project=opened.project).select_related(
        "project", "subset", "task", "content"
    )
    row = get_object_or_404(training_items(opened.user, rows), pk=pk)
    refused: dict[str, Any] = {}
    if request.method == "POST":
        index = whole_number(request, "message_index")
        try:
            training.write_key_label(
                actor=opened.user,
                trajectory=row,
                message_index=index,
                value=int(request.POST.get("value") or 9),
                note=request.POST.get("note", ""),
                reason=request.POST.get("reason", ""),
            )
        except Invalid as error:
            refused = {"index": index, "problem": translated(error.message)}
        else:
            place = "outcome" if index is None else f"m{index}"
            return redirect(f"{at('training-item', slug, pk)}#{place}")
    keyed = report.keyed_item(viewer=opened.user, trajectory=row)
    values = {index: label.value for index, label in keyed.key.items() if index is not None}
    return opened.render(
        "transcript/part.html" if is_part(request) else "training/item.html",
        "training",
        400 if refused else 200,
        title=title_of(row.record_id, keyed.transcript.question),
        trail=[(row.subset.name, at("training-items", slug, row.subset_id))],
        found=keyed,
        trajectory=row,
        refused=refused,
        choices=[(value, VALUE_NAMES[value]) for value in reversed(VALUES)],
        reasons=REASON_CODES,
        step_template="frontend/training/step.html",
        strip=run_strip(keyed.transcript, keyed.steps, values),
        **run(request, keyed.transcript, keyed.steps, opened.project.of_kind),
        **beside(keyed.transcript),
    )
