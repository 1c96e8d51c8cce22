"""Gold: how each annotator labels it, pausing and resuming them, and what gold there is."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Invalid
from annotation.core.figures.measure import Interval, Measure
from annotation.core.training.accuracy import FALSE_PAUSE
from annotation.core.vocabulary import PauseReason
from annotation.language import translated
from annotation.models import Membership, Subset, Trajectory
from annotation.models.data import with_trajectories
from annotation.policies.gold import gold_items
from annotation.policies.training import keyed
from annotation.reports.training import gold as report
from annotation.services import training
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.figure_cells import figure_text, measure_cell
from frontend.pages.shared.list_page import Empty, ListPage, act, show
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, Table, at, cells

VERB = "training.view"
CHANGE = "training.change"


def _measure(row: report.AnnotatorGold) -> Measure:
    accuracy = row.accuracy
    interval = None if accuracy.value is None else Interval(accuracy.low, accuracy.high)
    return Measure(accuracy.value, accuracy.trajectories, "", interval)


def _columns(opened: ProjectPage) -> list[Column]:
    slug = opened.project.slug

    def state(row: report.AnnotatorGold) -> str:
        if row.membership.paused_at is None:
            return ""
        by_gold = row.membership.pause_reason == PauseReason.GOLD
        return cells.badge(_("paused by gold") if by_gold else _("paused by an admin"), "badge--warn")

    def acts(row: report.AnnotatorGold) -> str:
        member, of = row.membership, str(row.person)
        if member.paused_at is None:
            return act(opened.request, _("Pause"), at("member-pause", slug, member.pk), of=of)
        return cells.cluster(
            act(opened.request, _("Resume"), at("member-resume", slug, member.pk), of=of),
            cells.button(_("Look again…"), at("member-look-again", slug, member.pk), of),
        )

    return [
        Column(
            "username",
            _("Annotator"),
            "person.username",
            lambda row: cells.link(str(row.person), at("annotator-figures", slug, row.person.pk)),
            "main",
        ),
        Column("given", _("Gold given"), look="number"),
        Column("submitted", pgettext("how many", "Submitted"), look="number"),
        Column("counted", _("Counted"), "accuracy.trajectories", look="number"),
        Column(
            "accuracy",
            _("As in the key"),
            "accuracy.value",
            lambda row: figure_text(measure_cell(_measure(row), is_share=True)),
            "number",
        ),
        Column("low", value="accuracy.low"),
        Column("high", value="accuracy.high"),
        Column("last_good", _("Last good one"), "last_good"),
        Column("paused", _("State"), "membership.pause_reason", state),
        Column("", _("Actions"), cell=acts, look="actions"),
    ]


def _items(opened: ProjectPage, items: list[report.GoldInSubset]) -> Table:
    def unlike(row: report.GoldInSubset) -> str:
        if not row.unlike:
            return ""
        text = ngettext(
            "%(n)s is not named like the others, which tells it: %(first)s",
            "%(n)s are not named like the others, which tells them: %(first)s",
            len(row.unlike),
        )
        return cells.badge(
            text % {"n": len(row.unlike), "first": short_identity(row.unlike[0])}, "badge--warn"
        )

    def out(row: report.GoldInSubset) -> str:
        address = at("gold-end", opened.project.slug)
        return (
            act(opened.request, _("Deal no more"), address, name="subset", value=row.name, of=row.name)
            if row.dealt
            else ""
        )

    columns = [
        Column("subset", _("Subset"), "name", look="main"),
        Column("dealt", _("Gold"), look="number"),
        Column("ended", _("Dealt no more"), look="number"),
        Column("unlike", _("Names"), cell=unlike),
        Column("", _("Actions"), cell=out, look="actions"),
    ]
    return Table(columns, items, labelledby="items", title=_("Gold by subset"))


@require_http_methods(["GET", "POST"])
def gold(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Annotators on gold, and the gold there is; POST mixes a training subset into an ordinary one."""
    opened = open_project(request, slug, CHANGE if request.method == "POST" else VERB)
    problem, status = "", 200
    subsets = policies.visible(opened.user, Subset.objects.filter(project=opened.project))
    if request.method == "POST":
        source = get_object_or_404(subsets.filter(training=True), name=request.POST.get("source", ""))
        target = get_object_or_404(subsets, name=request.POST.get("subset", ""))
        rows = Trajectory.objects.filter(subset=source, training=True)
        items = list(keyed(rows).select_related("subset", "project", "task", "copy_of").order_by("position"))
        try:
            outcome = training.make_gold(
                actor=opened.user, project=opened.project, trajectories=items, subset=target
            )
        except Invalid as error:
            problem, status = translated(error.message), 400
        else:
            n = len(outcome.done)
            text = ngettext("%(n)s gold item is mixed in.", "%(n)s gold items are mixed in.", n)
            messages.success(request, text % {"n": n})
            for reason in sorted({translated(refused.message) for _row, refused in outcome.refused}):
                messages.info(request, reason)
            return redirect("frontend:gold", slug)
    people = report.annotators_on_gold(actor=opened.user, project=opened.project)
    listed = ListPage(
        request,
        _columns(opened),
        people,
        Empty(_("No annotators yet"), _("Invite people as annotators; here stands how they label gold.")),
        file="gold",
    )
    return show(
        opened,
        "training",
        listed,
        "training/gold.html",
        status=status,
        title=_("Gold"),
        problem=problem,
        percent=opened.project.gold_percent,
        bound=opened.project.gold_bound,
        chance=f"{FALSE_PAUSE:.1%}",
        items=_items(opened, report.gold_in_subsets(actor=opened.user, project=opened.project)),
        sources=subsets.filter(training=True),
        targets=with_trajectories(subsets.filter(training=False)),
    )


@require_POST
def end(request: HttpRequest, slug: str) -> HttpResponse:
    """Deal the gold of a subset to nobody any more."""
    opened = open_project(request, slug, CHANGE)
    rows = list(gold_items(opened.project).filter(subset__name=request.POST.get("subset", "")))
    n = training.remove_gold(actor=opened.user, project=opened.project, trajectories=rows)
    text = ngettext("%(n)s gold item is dealt no more.", "%(n)s gold items are dealt no more.", n)
    messages.success(request, text % {"n": n})
    return redirect("frontend:gold", slug)


def member_of(request: HttpRequest, slug: str, pk: int) -> tuple[ProjectPage, Membership]:
    """The project, for who may change its members, and one of these."""
    opened = open_project(request, slug, "members.change")
    rows: Any = Membership.objects.filter(project=opened.project).select_related("user", "project")
    return opened, get_object_or_404(policies.visible(opened.user, rows), pk=pk)


@require_POST
def pause(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Give a member nothing new."""
    opened, member = member_of(request, slug, pk)
    training.pause(actor=opened.user, membership=member)
    messages.success(request, _("%(name)s is paused.") % {"name": member.user})
    return redirect("frontend:gold", slug)


@require_POST
def resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Give a paused member work again."""
    opened, member = member_of(request, slug, pk)
    training.resume(actor=opened.user, membership=member)
    messages.success(request, _("%(name)s is given trajectories again.") % {"name": member.user})
    return redirect("frontend:gold", slug)
