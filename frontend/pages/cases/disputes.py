"""The queue of disputes: filter, take, assign."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.disputes import DisputeKind
from annotation.core.errors import Conflict, Invalid
from annotation.core.vocabulary import AdjudicationState
from annotation.language import translated
from annotation.models import Adjudication, Dispute, Subset, Trajectory, User
from annotation.reports.cases import disputes
from annotation.services import adjudicate
from frontend.pages.shared.common import ProjectPage, open_project, paginate
from frontend.rendering.identity import short_identity

DISPUTES_VERB = "disputes.view"
CASE_STATES = {"mine": AdjudicationState.OPEN, "decided": AdjudicationState.DECIDED}
TAB_TITLES = {
    "waiting": gettext_lazy("Waiting"),
    "mine": gettext_lazy("Mine, open"),
    "decided": gettext_lazy("Decided by me"),
    "others": gettext_lazy("Decided by others"),
}
KIND_TITLES = {
    DisputeKind.SIGN_FLIP: gettext_lazy("sign flip"),
    DisputeKind.NEUTRAL_BOUNDARY: gettext_lazy("neutral boundary"),
    DisputeKind.FIRST_ERROR: gettext_lazy("other first error"),
    DisputeKind.OUTCOME_ONLY: gettext_lazy("outcome only"),
}
# filter -> (its label, [(value, title)]); an empty value asks nothing
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
    "sort": (
        gettext_lazy("Order"),
        (
            ("oldest", gettext_lazy("oldest first")),
            ("newest", gettext_lazy("newest first")),
            ("gravest", gettext_lazy("gravest first")),
            ("most", gettext_lazy("most steps first")),
            ("fewest", gettext_lazy("fewest steps first")),
        ),
    ),
}


@require_GET
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Disputes nobody has taken; an adjudicator's open cases, what they have decided, and what others have:
    that can be opened again."""
    opened = open_project(request, slug, DISPUTES_VERB)
    user, project = opened.user, opened.project
    wanted = disputes.dispute_filter(request.GET.dict(), project=project, besides=("tab", "page"))
    tab = request.GET.get("tab", "waiting")
    if tab not in TAB_TITLES:
        raise Invalid(_("There is no such list of cases."), code="unknown_filter")
    waiting = policies.visible(user, disputes.untaken([project.pk]))
    rows: QuerySet[Any] = disputes.filtered(waiting, wanted).select_related("subset", "trajectory__task")
    counts = {"waiting": waiting.count()}
    if opened.may("adjudicate"):
        own = policies.visible(user, Adjudication.objects.filter(project=project, adjudicator=user))
        states = list(own.values_list("state", flat=True))
        counts |= {name: states.count(state) for name, state in CASE_STATES.items()}
        if tab in CASE_STATES:
            rows = own.filter(state=CASE_STATES[tab])
            rows = rows.select_related("trajectory__dispute__subset", "trajectory__task")
    others = policies.visible(user, disputes.decided_by_others(user, [project.pk]))
    counts["others"] = others.count()
    if tab == "others":
        rows = others.select_related("subset", "trajectory__task")
    page = paginate(request, rows)
    shown = [_row(row) for row in page]
    to_take = _who_may_take(opened, shown) if tab == "waiting" else False
    return opened.render(
        "cases/adjudication_queue.html",
        "adjudication",
        page=page,
        rows=shown,
        tab=tab,
        tabs=[(name, TAB_TITLES[name], count) for name, count in counts.items()],
        wanted=wanted,
        filters=[(name, title, choices, getattr(wanted, name)) for name, (title, choices) in CHOICES.items()],
        subsets=policies.visible(user, Subset.objects.filter(project=project)),
        first=next((row["dispute"] for row in shown if row["take"]), None) if to_take else None,
    )


def _row(row: Dispute | Adjudication) -> dict[str, Any]:
    """A line of the queue: a dispute, and on one's own lists its case."""
    case = row if isinstance(row, Adjudication) else None
    dispute = row if isinstance(row, Dispute) else row.trajectory.dispute
    return {
        "dispute": dispute,
        "trajectory": row.trajectory,
        "case": case,
        "kinds": [KIND_TITLES[kind] for kind in dispute.kinds],
        "reopen": getattr(dispute, "case", None),
        "release": getattr(dispute, "release", None),
        "decided_at": case.decided_at if case is not None else getattr(dispute, "decided_at", None),
        "take": False,
        "assign": [],
    }


def _who_may_take(opened: ProjectPage, rows: list[dict[str, Any]]) -> bool:
    """Say of each row whether it can be taken, and to whom an admin can assign it; whether any can be
    taken."""
    taker = opened.may("adjudicate")
    if not opened.may("assign"):
        for row in rows:
            row["take"] = taker
        return taker
    found = [row["dispute"] for row in rows]
    people = disputes.may_adjudicate(actor=opened.user, project=opened.project, disputes=found)
    for row in rows:
        row["assign"] = people[row["dispute"].pk]
        row["take"] = taker and opened.user in row["assign"]
    return any(row["take"] for row in rows)


def _trajectory(opened: ProjectPage, pk: int) -> Trajectory:
    found = Trajectory.objects.filter(project=opened.project).select_related("project")
    return get_object_or_404(policies.visible(opened.user, found), pk=pk)


@require_POST
def take(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take one disputed trajectory; when somebody was faster, back to the queue, with a word."""
    opened = open_project(request, slug, "adjudicate")
    trajectory = _trajectory(opened, pk)
    try:
        case = adjudicate.open_case(actor=opened.user, trajectory=trajectory)
    except Conflict as error:
        messages.warning(request, f"{short_identity(trajectory.record_id)}: {translated(error.message)}")
        return redirect("frontend:adjudication-queue", slug)
    return redirect("frontend:adjudication", case.pk)


@require_POST
def assign(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Assign one disputed trajectory to an adjudicator who has not labelled it."""
    opened = open_project(request, slug, "assign")
    trajectory = _trajectory(opened, pk)
    people = policies.visible(opened.user, User.objects.all())
    person = people.filter(username=request.POST.get("adjudicator", "").replace("\x00", "")).first()
    try:
        if person is None:
            raise Invalid(_("Choose an adjudicator."))
        adjudicate.assign_case(actor=opened.user, trajectory=trajectory, adjudicator=person)
    except (Conflict, Invalid) as error:
        messages.error(request, f"{short_identity(trajectory.record_id)}: {translated(error.message)}")
    else:
        said = _("%(record)s is assigned to %(name)s.")
        messages.success(request, said % {"record": short_identity(trajectory.record_id), "name": person})
    return redirect("frontend:adjudication-queue", slug)
