"""The queue of disputes: filter, take, assign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.disputes import DisputeKind
from annotation.core.errors import Conflict, Invalid
from annotation.core.kinds import Feature
from annotation.core.vocabulary import AdjudicationState
from annotation.language import translated
from annotation.models import Adjudication, Dispute, Subset, Trajectory, User
from annotation.models.data import with_trajectories
from annotation.policies.label_audits import to_decide
from annotation.reports.cases import disputes as report
from annotation.services import adjudicate
from frontend.pages.shared.columns import question_column, record_column
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import (
    BulkAct,
    Empty,
    Field,
    Filter,
    ListPage,
    Tabs,
    act,
    act_on_chosen,
    show,
)
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, at, cells

DISPUTES_VERB = "disputes.view"
CASE_STATES = {"mine": AdjudicationState.OPEN, "decided": AdjudicationState.DECIDED}
TAB_TITLES = {
    "waiting": gettext_lazy("Waiting"),
    "mine": gettext_lazy("Mine, open"),
    "decided": gettext_lazy("Decided by me"),
    "others": gettext_lazy("Decided by others"),
}
EMPTY = {
    "waiting": Empty(
        gettext_lazy("No dispute is waiting"),
        gettext_lazy(
            "A trajectory appears here when its last blind label has come in and the annotators differ on a "
            "step or on the outcome."
        ),
    ),
    "mine": Empty(gettext_lazy("You have no open case"), gettext_lazy("Claim one of the waiting cases.")),
    "decided": Empty(gettext_lazy("You have not decided a case yet")),
    "others": Empty(gettext_lazy("Nobody else has decided a case yet")),
}
KIND_TITLES = {
    DisputeKind.SIGN_FLIP: gettext_lazy("sign flip"),
    DisputeKind.NEUTRAL_BOUNDARY: gettext_lazy("neutral"),
    DisputeKind.FIRST_ERROR: gettext_lazy("first error"),
    DisputeKind.OUTCOME_ONLY: gettext_lazy("outcome only"),
}
# filter -> (its title, [(value, words)])
CHOICES = {
    "kind": (
        gettext_lazy("Kind"),
        (
            ("sign_flip", gettext_lazy("sign flip (+1 against −1)")),
            ("neutral_boundary", gettext_lazy("neutral boundary (0 against ±1)")),
            ("first_error", gettext_lazy("other first error")),
            ("outcome_only", gettext_lazy("outcome only")),
        ),
    ),
    "age": (
        gettext_lazy("Waiting for"),
        (
            ("1d", gettext_lazy("a day or longer")),
            ("7d", gettext_lazy("a week or longer")),
            ("30d", gettext_lazy("30 days or longer")),
        ),
    ),
    "size": (
        gettext_lazy("Disputed steps"),
        (("1", gettext_lazy("one")), ("2-4", gettext_lazy("2 to 4")), ("5+", gettext_lazy("5 or more"))),
    ),
}
CHOICES_NEED = {DisputeKind.FIRST_ERROR.value: Feature.SEQUENCE}
ORDERS = (
    ("oldest", gettext_lazy("oldest first")),
    ("newest", gettext_lazy("newest first")),
    ("gravest", gettext_lazy("gravest first")),
    ("most", gettext_lazy("most steps first")),
    ("fewest", gettext_lazy("fewest steps first")),
)


@require_GET
def queue(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Disputes nobody has taken; an adjudicator's open cases, what they have decided, and what others have:
    that can be opened again."""
    opened = open_project(request, slug, DISPUTES_VERB)
    asked = request.GET.get("tab", "waiting")
    if asked not in TAB_TITLES:
        raise Invalid(_("There is no such list of cases."), code="unknown_filter")
    lists = _lists(opened)
    tab = asked if asked in lists else "waiting"
    counts = _counts(opened, lists)
    tabs = Tabs("tab", _("Cases"), [(name, TAB_TITLES[name], counts[name]) for name in lists], tab)
    common: dict[str, Any] = {
        "empty": EMPTY[tab],
        "tabs": tabs,
        "file": "disputes",
        "counted": counts[tab],
    }
    actions = []
    if opened.may("assign"):
        actions.append(cells.link(_("Who has which case"), f"{at('claims', slug)}?tab=cases", "button"))
    if tab == "waiting":
        waiting = Waiting(opened, lists[tab])
        listed = ListPage(
            request,
            _columns(opened, tab, waiting.act),
            waiting.rows,
            items=waiting.items,
            filters=waiting.filters,
            orders=ORDERS,
            order="oldest",
            bulk=waiting.assigning if opened.may("assign") else None,
            **common,
        )
        if first := next(filter(waiting.takes, listed.table.rows), None):
            actions.append(waiting.take(first, _("Claim next case"), "button--primary"))
    else:
        listed = ListPage(request, _columns(opened, tab, _case_acts(opened, tab)), lists[tab], **common)
    if opened.may("adjudicate") and (cases := to_decide(opened.user, opened.project).count()):
        words = ngettext("Decide %(n)s case of an audit", "Decide %(n)s cases of an audit", cases)
        actions.append(act(request, words % {"n": cases}, at("audit-case-take", slug), look=""))
    about = (
        _("Trajectories on which the annotators disagree. You never decide one that you labelled yourself.")
        if opened.may("adjudicate")
        else _("Trajectories on which the annotators disagree. Assign them, or leave them to be claimed.")
    )
    return show(opened, "adjudication", listed, about=about, actions=actions)


def _lists(opened: ProjectPage) -> dict[str, QuerySet[Any]]:
    """The rows of each tab that this person has: disputes, or cases of their own."""
    user, project = opened.user, opened.project
    lists: dict[str, QuerySet[Any]] = {"waiting": report.untaken([project.pk])}
    if opened.may("adjudicate"):
        own = Adjudication.objects.filter(project=project, adjudicator=user)
        own = own.select_related("trajectory__dispute")
        lists |= {name: own.filter(state=state) for name, state in CASE_STATES.items()}
    lists["others"] = report.decided_by_others(user, [project.pk])
    return {
        name: policies.visible(user, rows).select_related("trajectory__subset", "trajectory__task")
        for name, rows in lists.items()
    }


def _counts(opened: ProjectPage, lists: dict[str, QuerySet[Any]]) -> dict[str, int]:
    """The number of rows of each tab; of what waits without reading it, for there may be much."""
    if opened.may("assign"):
        waiting = report.waiting_to_see(opened.user, opened.project)
    else:
        waiting = report.waiting_to_decide(opened.user, [opened.project.pk])
    return {name: (waiting if name == "waiting" else rows).count() for name, rows in lists.items()}


def _columns(opened: ProjectPage, tab: str, acts: Callable[[Any], str]) -> list[Column]:
    def dispute(row: Dispute | Adjudication) -> Dispute:
        return row if isinstance(row, Dispute) else row.trajectory.dispute

    def address(row: Dispute | Adjudication) -> str:
        if isinstance(row, Adjudication):
            return at("adjudication", row.pk)
        return at("trajectory", opened.project.slug, row.pk) if opened.may("trajectory.list") else ""

    def disputed(row: Dispute | Adjudication) -> str:
        one, outcome = dispute(row), _("outcome")
        if not one.disputed_steps:
            return outcome
        text = ngettext("%(n)d of %(all)d steps", "%(n)d of %(all)d steps", one.disputed_steps)
        steps = text % {"n": one.disputed_steps, "all": row.trajectory.step_count}
        return f"{steps}, {outcome}" if one.outcome else steps

    def kinds(row: Dispute | Adjudication) -> str:
        return cells.cluster(
            *(cells.badge(KIND_TITLES[kind], "badge--outline") for kind in dispute(row).kinds)
        )

    def waiting(row: Dispute | Adjudication) -> str:
        arisen = dispute(row).arisen_at
        return cells.since(arisen, timesince(arisen, depth=1))

    return [
        record_column(address, look="nowrap"),
        Column("subset", _("Subset"), "trajectory.subset.name", look="nowrap"),
        question_column(look="one-line"),
        Column("disputed_steps", _("Disputed"), lambda row: dispute(row).disputed_steps, disputed, "nowrap"),
        Column("steps", value="trajectory.step_count"),
        Column("outcome", value=lambda row: int(dispute(row).outcome)),
        Column("kinds", _("Kind"), lambda row: "; ".join(dispute(row).kinds), kinds, "nowrap"),
        Column("decided_at", _("Decided on"))
        if tab in ("decided", "others")
        else Column("arisen_at", _("Waiting for"), lambda row: dispute(row).arisen_at, waiting),
        Column("", _("Actions"), cell=acts, look="actions"),
    ]


class Waiting:
    """The disputes that nobody has taken, and what can be done with them."""

    def __init__(self, opened: ProjectPage, disputes: QuerySet[Dispute]) -> None:
        self.opened = opened
        self.disputes = disputes
        # by trajectory, as soon as it is shown to an admin, to whom it can be assigned
        self.takers: dict[int, list[User]] = {}

    @cached_property
    def people(self) -> list[User]:
        """The people who can be assigned any, for an admin."""
        asks = self.opened.may("assign")
        return report.adjudicators(actor=self.opened.user, project=self.opened.project) if asks else []

    @property
    def filters(self) -> list[Filter]:
        """The filters above the list."""
        subsets = policies.visible(self.opened.user, Subset.objects.filter(project=self.opened.project))
        kind = self.opened.project.of_kind
        return [
            *(
                Filter(name, title, [choice for choice in choices if kind.has(CHOICES_NEED.get(choice[0]))])
                for name, (title, choices) in CHOICES.items()
            ),
            Filter("subset", _("Subset"), [(row.name, row.name) for row in with_trajectories(subsets)]),
        ]

    def rows(self, asked: dict[str, str]) -> QuerySet[Dispute]:
        """The disputes that fit. Raises Invalid for an unknown filter."""
        given = {**self.opened.request.GET.dict(), **asked}
        wanted = report.dispute_filter(given, project=self.opened.project, besides=("tab", "page", "as"))
        return report.filtered(self.disputes, wanted)

    def items(self, rows: list[Dispute]) -> list[Dispute]:
        """The same rows, of which it is known from now on who may take them. Two queries for an admin."""
        if self.opened.may("assign"):
            self.takers |= report.may_adjudicate(actor=self.opened.user, people=self.people, disputes=rows)
        return rows

    def takes(self, row: Dispute) -> bool:
        """Whether the reader may take it. Only admins are shown what they have labelled."""
        takers = self.takers.get(row.pk)
        return self.opened.may("adjudicate") and (takers is None or self.opened.user in takers)

    def take(self, row: Dispute, title: str, look: str = "button--small") -> str:
        """The button that takes it."""
        address = at("adjudication-take", self.opened.project.slug, row.pk)
        return act(self.opened.request, title, address, of=_named(row), look=look)

    def act(self, row: Dispute) -> str:
        """The act at the end of a dispute's line."""
        if self.takes(row):
            return self.take(row, _("Claim"))
        nobody = self.takers.get(row.pk) == []
        return cells.soft(_("All adjudicators have labelled it.")) if nobody else ""

    @property
    def assigning(self) -> BulkAct:
        """Assigning chosen ones."""
        to = [("", _("all adjudicators, evenly")), *((one.username, one) for one in self.people)]
        address = at("adjudication-assign", self.opened.project.slug)
        fields = [Field("adjudicator", _("Assign to"), to)]
        return BulkAct(_("Assign"), address, fields, may_choose=lambda row: bool(self.takers[row.pk]))


def _named(row: Dispute | Adjudication) -> str:
    return short_identity(row.trajectory.record_id)


def _case_acts(opened: ProjectPage, tab: str) -> Callable[[Any], str]:
    def acts(row: Any) -> str:
        if tab == "decided":
            return cells.button(_("View"), at("adjudication", row.pk), _named(row))
        if tab == "mine":
            back, look = at("adjudicate-release", row.pk), "button--quiet button--small"
            return cells.cluster(
                cells.button(_("Continue"), at("adjudication", row.pk), _named(row)),
                act(opened.request, _("Return to queue"), back, of=_named(row), look=look),
            )
        if row.release:
            return cells.soft(_("in release %(version)s") % {"version": row.release})
        return act(opened.request, _("Reopen"), at("adjudicate-reopen", row.case), of=_named(row))

    return acts


def _trajectories(opened: ProjectPage) -> QuerySet[Trajectory]:
    return Trajectory.objects.filter(project=opened.project).select_related("project").order_by("pk")


@require_POST
def take(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take one disputed trajectory; when somebody was faster, back to the queue, with a word."""
    opened = open_project(request, slug, "adjudicate")
    trajectory = get_object_or_404(policies.visible(opened.user, _trajectories(opened)), pk=pk)
    try:
        case = adjudicate.open_case(actor=opened.user, trajectory=trajectory)
    except Conflict as error:
        messages.warning(request, f"{short_identity(trajectory.record_id)}: {translated(error.message)}")
        return redirect("frontend:adjudication-queue", slug)
    return redirect("frontend:adjudication", case.pk)


@require_POST
def assign(request: HttpRequest, slug: str) -> HttpResponse:
    """Assign chosen disputes to an adjudicator, or share them evenly; what was refused is said by name."""
    opened = open_project(request, slug, "assign")
    name = request.POST.get("adjudicator", "").replace("\x00", "")
    people = policies.visible(opened.user, User.objects.all())
    person = get_object_or_404(people, username=name) if name else None

    def said(cases: list[Adjudication]) -> str:
        n, whose = len(cases), Counter(str(case.adjudicator) for case in cases)
        shares = ", ".join(f"{name} {count}" for name, count in sorted(whose.items()))
        sentence = ngettext("%(n)d case is assigned: %(to)s.", "%(n)d cases are assigned: %(to)s.", n)
        return sentence % {"n": n, "to": shares}

    return act_on_chosen(
        request,
        _trajectories(opened),
        at("adjudication-queue", slug),
        lambda chosen: adjudicate.assign_cases(
            actor=opened.user, project=opened.project, trajectories=chosen, adjudicator=person
        ),
        said,
        record="record_id",
    )
