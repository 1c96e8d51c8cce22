"""Adjudication: one case."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid, StaleVersion, TristepError
from annotation.core.vocabulary import AdjudicationState, DecisionKind
from annotation.language import translated
from annotation.models import Adjudication, Decision, Discussion, Step, Trajectory, User
from annotation.policies.lookups import visible_case
from annotation.reports.cases import disputes
from annotation.reports.cases.discussions import ReadableDiscussion
from annotation.reports.cases.error_graphs import consensus_errors, error_graphs
from annotation.reports.cases.side_by_side import SideBySide
from annotation.reports.judging.suggestions import has_judges
from annotation.reports.releases.release_preview import frozen_in
from annotation.reports.work.tags import tags_of
from annotation.services import adjudicate, noted_reads
from frontend.pages.cases import case
from frontend.pages.cases.discussions import WITH_DISCUSSIONS, mark_all_read, threads_of
from frontend.pages.cases.error_origins import error_origin, error_reasons
from frontend.pages.shared.common import page_of, person, there, whole_number
from frontend.pages.shared.errors import status_of
from frontend.pages.work.reading import finds, guidelines_of, is_part, pinned_question, reading, run
from frontend.rendering.run_parts import RunParts, place_of
from frontend.rendering.run_strip import run_strip

VALUES = ((1, "plus"), (0, "zero"), (-1, "minus"))
MOST_EVIDENCE = 50


def _case(request: HttpRequest, pk: int) -> Adjudication:
    return there(visible_case(request.user, pk))


@require_GET
def adjudication(request: HttpRequest, pk: int) -> HttpResponse:
    """One case: the trajectory as the workbench shows it, with what A and B say of each step, and decisions
    in the steps on which they differ."""
    return _page(request, _case(request, pk))


def _page(
    request: HttpRequest, row: Adjudication, *, refused: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """The page of a case; `refused` is a decision that was not saved, which stays in its form."""
    opened = page_of(request, row.project)
    shown = noted_reads.case(actor=opened.user, adjudication=row)
    mine = row.adjudicator_id == opened.user.pk
    steps = [item.step for item in shown.steps if item.step is not None]
    if (answer := finds(request, shown.transcript, steps)) is not None:
        return answer
    talk = _talk(opened.user, row)
    state = case.state(row=row, reader=opened.user, shown=shown)
    undecided = [item.step.message_index for item in shown.contested if item.step and item.decision is None]
    read = run(request, shown.transcript, steps, row.project.of_kind, first=next(iter(undecided), None))
    return opened.render(
        "cases/part.html" if is_part(request) else "cases/adjudication.html",
        "adjudication",
        status=status,
        case=row,
        mine=mine,
        unsealable=mine and row.state != AdjudicationState.RELEASED and has_judges(row.project),
        open=mine and row.state == AdjudicationState.OPEN,
        shown=shown,
        **(_reopening(opened.user, row) if row.state == AdjudicationState.DECIDED else {}),
        disputed={item.step.message_index if item.step else None for item in shown.contested},
        error_reasons=error_reasons(),
        graphs=error_graphs(shown),
        settled=shown.access.consensus,
        numbers={step.message_index: step.ordinal + 1 for step in steps},
        items={item.step.message_index: item for item in shown.steps if item.step is not None},
        evidence=_evidence(shown, read["parts"]),
        values=VALUES,
        of_question=shown.transcript.kind is not DecisionKind.PAIR,
        moves=case.moves(state["words"]),
        refused=refused,
        notes=_notes(shown) | ({refused["index"]: refused["note"]} if refused else {}),
        notices=messages.get_messages(request),
        state=state,
        strip=run_strip(shown.transcript, steps),
        nav=None,
        **read,
        **reading(row.trajectory, shown.transcript, read["parts"]),
        tags=[] if is_part(request) else tags_of(opened.user, [row.trajectory]).get(row.trajectory_id, []),
        pinned_question="" if is_part(request) else pinned_question(row.trajectory, shown.transcript),
        **guidelines_of(row.project),
        **(threads_of(talk) if talk is not None else {"threads": {}}),
    )


def _evidence(shown: SideBySide, parts: RunParts) -> list[tuple[Step, str]]:
    """The steps that tell most of the outcome, with their addresses: those disputed, and the last."""
    steps = [item.step for item in shown.contested if item.step is not None][:MOST_EVIDENCE]
    last = shown.steps[-1].step if shown.steps else None
    if last is not None and last not in steps:
        steps.append(last)
    return [(step, parts.address(step.message_index)) for step in steps]


def _not_labelled(user: User) -> QuerySet[Trajectory]:
    return policies.visible(user, Trajectory.objects.exclude(assignments__annotator=user))


def _reopening(user: User, row: Adjudication) -> dict[str, Any]:
    """Whether somebody may open a decided case again, and the release that keeps it closed."""
    return {
        "may_reopen": _not_labelled(user).filter(pk=row.trajectory_id).exists(),
        "frozen": frozen_in(row.trajectory),
    }


def _notes(shown: SideBySide) -> dict[int | None, str]:
    """The note of each decision, by message index; None: of the outcome."""
    return {
        item.step.message_index if item.step else None: item.decision_note
        for item in (*shown.steps, shown.outcome)
    }


def _to_decision(pk: int, message_index: int | None) -> HttpResponse:
    """Back to the case, where one step is decided, or with None the outcome."""
    return redirect(reverse("frontend:adjudication", args=[pk]) + place_of(message_index))


def _talk(user: User, row: Adjudication) -> ReadableDiscussion | None:
    """The discussion of the case as this person reads it, when there is one."""
    rows = Discussion.objects.filter(trajectory=row.trajectory_id).select_related(*WITH_DISCUSSIONS)
    discussion = policies.visible(user, rows).first()
    if discussion is None:
        return None
    talk = noted_reads.discussion(actor=user, row=discussion)
    mark_all_read(user, talk)
    return talk


def _decided(
    request: HttpRequest, pk: int, act: Callable[[Adjudication, int | None], Decision | None]
) -> HttpResponse:
    """Do something to the decision on one step, or on the outcome. Scripts get JSON, forms come back to the
    case; what is refused stays in its form."""
    row = _case(request, pk)
    opened = page_of(request, row.project)
    wants_json = not request.accepts("text/html")
    try:
        index = whole_number(request, "message_index")
        decision = act(row, index)
    except TristepError as error:
        problem = translated(error.message)
        if wants_json:
            body = {"code": error.code, "message": problem, "details": error.details}
            return JsonResponse({"error": body}, status=status_of(error))
        if not isinstance(error, StaleVersion):
            raise
        # nothing of what was typed is lost
        refused = {"index": index, "note": request.POST.get("note", ""), "reason": problem}
        return _page(request, row, refused=refused, status=409)
    if wants_json:
        shown = noted_reads.case(actor=opened.user, adjudication=row)
        return JsonResponse(case.stored(decision, consensus_errors(shown)))
    return _to_decision(pk, index)


def _why(request: HttpRequest) -> dict[str, Any]:
    """The note of a decision, and the version that it is based on."""
    note = request.POST.get("note", "").replace("\r\n", "\n")
    return {"note": note, "version": whole_number(request, "version") or 0}


@require_POST
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Decide one disputed step, or the outcome; of a −1 also where the error began, and why."""

    def act(row: Adjudication, index: int | None) -> Decision:
        value = whole_number(request, "value")
        if value is None:
            raise Invalid(_("Choose +1, 0 or −1."), fields={"value": _("Choose +1, 0 or −1.")})
        return adjudicate.decide(
            actor=person(request),
            adjudication=row,
            message_index=index,
            value=value,
            **_why(request),
            **error_origin(request, value),
        )

    return _decided(request, pk, act)


@require_POST
def majority(request: HttpRequest, pk: int) -> HttpResponse:
    """Let stand what most of at least three annotators say of one disputed step, or of the outcome."""
    return _decided(
        request,
        pk,
        lambda row, index: adjudicate.let_majority_stand(
            actor=person(request),
            adjudication=row,
            message_index=index,
            **_why(request),
            **error_origin(request, whole_number(request, "value")),
        ),
    )


@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Take the decision on one step, or on the outcome, back."""
    return _decided(
        request,
        pk,
        lambda row, index: adjudicate.withdraw_decision(
            actor=person(request),
            adjudication=row,
            message_index=index,
            version=whole_number(request, "version") or 0,
        ),
    )


@require_POST
def reveal(request: HttpRequest, pk: int) -> HttpResponse:
    """See what judges suggest for one step, or for the outcome, of one's own case; it is noted."""
    row = _case(request, pk)
    opened = page_of(request, row.project)
    index = whole_number(request, "message_index")
    try:
        shown = adjudicate.reveal(
            actor=opened.user, adjudication=row, message_index=index, outcome=index is None
        )
    except Conflict as error:
        messages.error(request, translated(error.message))
    else:
        if not any(one.tells for one in shown):
            messages.info(request, _("There are no suggestions from judges here."))
    return _to_decision(pk, index)


@require_POST
def close(request: HttpRequest, pk: int) -> HttpResponse:
    """Finish a case: the consensus is written. What is missing is named, and comes into view."""
    row = _case(request, pk)
    opened = page_of(request, row.project)
    try:
        adjudicate.close_case(actor=opened.user, adjudication=row, note=request.POST.get("note", ""))
    except Invalid as error:
        messages.error(request, translated(error.message))
        if error.code != "incomplete":
            return redirect("frontend:adjudication", pk)
        return _to_decision(pk, next(iter(error.details["missing"]), None))
    messages.success(request, _("Case decided. Its labels are now the consensus."))
    following = _next_case(opened.user, row) if request.POST.get("then") == "next" else None
    if following is not None:
        return redirect("frontend:adjudication", following)
    return redirect("frontend:adjudication-queue", row.project.slug)


def _next_case(user: User, row: Adjudication) -> int | None:
    """One's next case of the same project: one that is open already, or the dispute that waits longest."""
    own = Adjudication.objects.filter(project=row.project, adjudicator=user, state=AdjudicationState.OPEN)
    if mine := policies.visible(user, own).order_by("pk").first():
        return mine.pk
    waiting = disputes.to_decide(user, [row.project_id]).order_by(*disputes.SORTS["oldest"])
    for dispute in waiting.select_related("trajectory__project")[:5]:
        # somebody else may take it at this moment
        with suppress(Conflict):
            return adjudicate.open_case(actor=user, trajectory=dispute.trajectory).pk
    return None


@require_POST
def hand_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a case back undecided."""
    row = _case(request, pk)
    adjudicate.release_case(actor=page_of(request, row.project).user, adjudication=row)
    messages.success(request, _("Case returned to the queue."))
    return redirect("frontend:adjudication-queue", row.project.slug)


@require_POST
def reopen(request: HttpRequest, pk: int) -> HttpResponse:
    """Open a decided case again, to correct it: one's own, another's, who has decided it otherwise than one
    would, or as an admin for whoever takes it from the queue."""
    # who has labelled it does not even learn that there is a case
    decided = policies.visible(
        request.user, Trajectory.objects.exclude(assignments__annotator=person(request))
    )
    get_object_or_404(decided, adjudications=pk)
    row = Adjudication.objects.select_related("project").get(pk=pk)
    try:
        row = adjudicate.reopen_case(actor=person(request), adjudication=row)
    except Conflict as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:adjudication-queue", row.project.slug)
    if row.adjudicator_id == request.user.pk and row.state == AdjudicationState.OPEN:
        messages.success(request, _("Case reopened. Its consensus is removed until you finish it."))
        return redirect("frontend:adjudication", pk)
    messages.success(request, _("Case reopened. Its consensus is removed, and it waits in the queue."))
    return redirect("frontend:adjudication-queue", row.project.slug)
