"""Corrections: which first errors wait, and the page on which somebody says what would have been right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.decisions.corrections import typed
from annotation.core.decisions.record import shown_message
from annotation.core.errors import Conflict, Invalid, StaleVersion
from annotation.core.kinds import Feature
from annotation.core.vocabulary import CorrectionState, Role
from annotation.language import translated
from annotation.models import ACTIVE_CORRECTIONS, AuditEvent, Consensus, Correction
from annotation.policies.corrections import correctable, first_errors, proposals, why_none
from annotation.reports.cases.corrections import CorrectionCase
from annotation.reports.cases.side_by_side import SideBySide, SideBySideItem
from annotation.services import correct, noted_reads
from frontend.forms.corrections import ANSWERS, ERROR_CLASSES, ORIGINS, WRITING, CorrectionForm, values_of
from frontend.pages.shared.collision import collide
from frontend.pages.shared.columns import question_column, record_column, subset_column
from frontend.pages.shared.common import ProjectPage, open_project, page_of
from frontend.pages.shared.errors import status_of
from frontend.pages.shared.list_page import Empty, Filter, ListPage, Tabs, act, show
from frontend.pages.work.reading import is_part
from frontend.pages.work.trajectories import laid_out
from frontend.rendering.began import begun, read
from frontend.rendering.blocks import TextBlock
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.identity import short_identity
from frontend.rendering.run_parts import place_of
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import reason_title

VERB = "correct"
MOST_COUNTED = 1_000
"""Beyond that, counting the first errors that wait would take longer than showing them."""
WITH = Correction.objects.select_related(
    "project",
    "author",
    "step",
    "trajectory__project",
    "trajectory__subset",
    "trajectory__task",
    "trajectory__content",
)


# ── The lists ─────────────────────────────
def _state(row: Correction) -> str:
    return {
        CorrectionState.OPEN: cells.badge(_("being written"), "badge--warn"),
        CorrectionState.SAVED: cells.badge(_("saved"), "badge--good"),
        CorrectionState.WITHDRAWN: cells.badge(_("withdrawn"), "badge--outline"),
    }[CorrectionState(row.state)]


def _says(row: Correction) -> str:
    if not row.answer:
        return ""
    words = [str(ORIGINS[row.origin] if row.origin else ANSWERS[row.answer])]  # type: ignore[index]
    if row.error_class:
        words.append(str(ERROR_CLASSES[row.error_class]))  # type: ignore[index]
    return cells.stack(words[0], *(cells.soft(one) for one in words[1:]))


def _columns(opened: ProjectPage, *, everybodys: bool) -> list[Column]:
    def acts(row: Correction) -> str:
        name = short_identity(row.trajectory.record_id)
        if row.state != CorrectionState.WITHDRAWN:
            return act(opened.request, _("Withdraw"), at("correction-withdraw", row.pk), of=name)
        if row.author_id != opened.user.pk:
            return ""
        return act(opened.request, _("Take up again"), at("correction-restore", row.pk), of=name)

    def address(row: Correction) -> str:
        return at("correction", row.pk) if row.state in ACTIVE_CORRECTIONS else ""

    return [
        record_column(address),
        question_column(),
        Column("step", _("Step"), lambda row: row.step.ordinal + 1, look="number"),
        *([Column("author", _("Author"), "author.username", lambda row: row.author)] if everybodys else []),
        Column("answer", _("Correction"), "answer", _says),
        Column("origin", value="origin"),
        Column("error_class", value="error_class"),
        Column("saved_at", _("Saved"), "saved_at"),
        Column("state", _("State"), "state", _state),
        Column("", _("Act"), cell=acts, look="actions"),
    ]


def _waiting_columns(opened: ProjectPage) -> list[Column]:
    def take(row: Consensus) -> str:
        name = short_identity(row.trajectory.record_id)
        address = at("correction-take", opened.project.slug)
        return act(opened.request, _("Correct"), address, of=name, name="error", value=row.pk)

    return [
        record_column(lambda row: at("trajectory", opened.project.slug, row.trajectory_id)),
        question_column(),
        subset_column(),
        Column("step", _("Step"), lambda row: row.step.ordinal + 1, look="number"),
        Column("reason", _("Reason"), "reason", lambda row: reason_title(row.reason)),
        Column("", _("Act"), cell=take, look="actions"),
    ]


@require_GET
def corrections(request: HttpRequest, slug: str) -> HttpResponseBase:
    """One's own corrections, and to admins those of everybody and the first errors that wait."""
    opened = open_project(request, slug, VERB)
    opened.project.of_kind.require(Feature.DERIVATION)
    waiting = correctable(opened.user, opened.project)
    every = policies.visible(opened.user, Correction.objects.filter(project=opened.project))
    mine = every.filter(author=opened.user)
    lists = {"mine": mine}
    if Role.ADMIN in opened.roles:
        lists |= {"all": every, "waiting": waiting}  # type: ignore[dict-item]
    asked = request.GET.get("list", "mine")
    present = asked if asked in lists else "mine"
    left = waiting.order_by()[: MOST_COUNTED + 1].count()
    counts = {
        name: min(left, MOST_COUNTED) if name == "waiting" else rows.count() for name, rows in lists.items()
    }
    titles = {"mine": _("Mine"), "all": _("All"), "waiting": _("Waiting")}
    next_one = act(request, _("Correct the next"), at("correction-take", slug), look="button button--primary")
    why = why_none(opened.project, opened.roles)
    listed = ListPage(
        request,
        **_list(opened, present, lists[present]),
        tabs=Tabs("list", _("Corrections"), [(name, titles[name], counts[name]) for name in lists], present)
        if len(lists) > 1
        else None,
        file="corrections",
        empty=Empty(
            _("No corrections yet") if present != "waiting" else _("No first error waits for you"),
            translated(why)
            or _(
                "Once a trajectory is resolved, its first error can be corrected: what would have been right?"
            ),
            next_one if left and present != "waiting" else "",
        ),
    )
    about = ngettext(
        "%(n)s first error waits for what would have been right.",
        "%(n)s first errors wait for what would have been right.",
        left,
    ) % {"n": left if left <= MOST_COUNTED else f"{MOST_COUNTED:,}+"}
    about += " " + _("Whoever takes one learns its consensus, which is recorded.")
    return show(
        opened,
        "corrections",
        listed,
        about=about,
        actions=[next_one] if left and (present != "mine" or counts["mine"]) else [],
    )


def _list(opened: ProjectPage, name: str, rows: Any) -> dict[str, Any]:
    """The columns, rows and filters of one of the lists; to read one is noted."""

    def noted(page: list[Any]) -> list[Any]:
        noted_reads.corrected(actor=opened.user, trajectories=[row.trajectory_id for row in page])
        return page

    if name == "waiting":
        listed = rows.select_related("step", "trajectory__subset", "trajectory__task")
        return {
            "columns": _waiting_columns(opened),
            "rows": policies.visible(opened.user, listed),
            "items": noted,
        }

    def asked(filters: dict[str, str]) -> Any:
        of_state = {} if filters["state"] == "all" else {"state": filters["state"]}
        listed = rows.filter(**(of_state or {}))
        return listed.select_related("author", "step", "trajectory__task", "trajectory__subset")

    states = (
        ("all", _("all")),
        (CorrectionState.OPEN.value, _("being written")),
        (CorrectionState.SAVED.value, _("saved")),
        (CorrectionState.WITHDRAWN.value, _("withdrawn")),
    )
    return {
        "columns": _columns(opened, everybodys=name == "all"),
        "rows": asked,
        "items": noted,
        "filters": [Filter("state", _("State"), states, default="all")],
    }


@require_POST
def take(request: HttpRequest, slug: str) -> HttpResponse:
    """Take the next first error, or as an admin the one that was chosen; to its page."""
    opened = open_project(request, slug, VERB)
    error = None
    if number := request.POST.get("error", ""):
        rows = policies.visible(opened.user, first_errors(opened.project))
        error = get_object_or_404(rows, pk=number if number.isascii() and number.isdecimal() else 0)
    try:
        row = correct.take(actor=opened.user, project=opened.project, error=error)
    except Conflict as refusal:
        if refusal.code == "not_of_this_kind":
            raise
        messages.error(request, translated(refusal.message))
        return redirect("frontend:corrections", slug)
    return redirect("frontend:correction", row.pk)


# ── One correction ────────────────────────
@dataclass(frozen=True)
class ShownAction:
    """An action as it is read: its text, and its calls with their arguments as JSON."""

    text: TextBlock | None
    calls: list[tuple[str, TextBlock]]


def _action(message: dict[str, Any]) -> ShownAction:
    text, calls = typed(message)
    return ShownAction(
        TextBlock(escape_control_chars(text), foldable=True) if text.strip() else None,
        [
            (
                escape_control_chars(call.name),
                TextBlock(escape_control_chars(call.arguments), code=True, foldable=True),
            )
            for call in calls
        ],
    )


def _found(request: HttpRequest, pk: int) -> tuple[Correction, ProjectPage]:
    rows = WITH.filter(state__in=ACTIVE_CORRECTIONS)
    row = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    return row, page_of(request, row.project, VERB)


@require_http_methods(["GET", "POST"])
@never_cache
def correction(request: HttpRequest, pk: int) -> HttpResponse:
    """The history, the wrong action and why it was wrong, and the form of the right one. Scripts that save
    get JSON: where to go on, or what is wrong by field."""
    row, opened = _found(request, pk)
    case = noted_reads.correction(actor=opened.user, row=row)
    shown_proposals = (
        list(proposals(row)) if row.proposals_seen_at and row.author_id == opened.user.pk else []
    )
    values = values_of(row, shown_message(case.wrong.raw))
    form = CorrectionForm(
        request.POST if request.method == "POST" else None,
        values=values,
        siblings=[one.step.pk for one in case.siblings],
        proposals=[one.pk for one in shown_proposals],
    )
    more: dict[str, Any] = {}
    status = 200
    if request.method == "POST":
        by_script = not request.accepts("text/html")
        status = 400
        if form.is_valid():
            try:
                saved = correct.save_correction(
                    actor=opened.user, correction=row, draft=form.draft(), version=_version(request)
                )
            except Invalid as error:
                form.refuse(error)
            except StaleVersion as error:
                status = status_of(error)
                collision = collide(opened, row, form, values, take=request.path)
                # nobody else can save it, and the audit log is closed to most authors
                own = AuditEvent(actor=row.author, created_at=row.saved_at or row.created_at)
                more["collision"] = replace(collision, event=own)
            except Conflict as error:
                status = status_of(error)
                form.add_error(None, translated(error.message))
            else:
                return _after(request, saved, by_script=by_script)
        if by_script:
            return JsonResponse({"fields": _errors(form)}, status=status)
    return _page(request, opened, case, form, values, shown_proposals, status=status, **more)


def _version(request: HttpRequest) -> int:
    version = read(request.POST).version
    return int(version) if version.isascii() and version.isdecimal() and len(version) < 9 else -1


def _errors(form: CorrectionForm) -> dict[str, list[str]]:
    """The sentences by the name of the field; those of no field as ""."""
    return {
        "" if name == "__all__" else name: [str(one) for one in reasons]
        for name, reasons in form.errors.items()
    }


def _after(request: HttpRequest, saved: Correction, *, by_script: bool) -> HttpResponse:
    """The next page: the proposals of judges, if there are any, else the list."""
    sealed = saved.proposals_seen_at is None and proposals(saved).exists()
    messages.success(request, _("The correction is saved."))
    address = (
        reverse("frontend:correction", args=[saved.pk])
        if sealed
        else reverse("frontend:corrections", args=[saved.project.slug])
    )
    return JsonResponse({"next": address}) if by_script else redirect(address)


def _page(
    request: HttpRequest,
    opened: ProjectPage,
    case: CorrectionCase,
    form: CorrectionForm,
    values: dict[str, Any],
    shown_proposals: list[Correction],
    *,
    status: int,
    **more: Any,
) -> HttpResponse:
    row = case.correction
    items = [
        _with_consensus(SideBySideItem(step), case) if step.pk == row.step_id else SideBySideItem(step)
        for step in case.steps
    ]
    shown = SideBySide(row.trajectory, case.access, case.shown, items, SideBySideItem(None), [])
    laid = laid_out(request, shown, first=row.step.message_index)
    record = short_identity(row.trajectory.record_id)
    mine = row.author_id == opened.user.pk
    return opened.render(
        "transcript/part.html" if is_part(request) else "corrections/correction.html",
        "corrections",
        status=status,
        title=_("Correction of %(record)s") % {"record": record},
        case=case,
        wrong_place=place_of(row.step.message_index),
        correction=row,
        mine=mine,
        form=form,
        began=begun(str(row.version), values),
        writing=[
            (str(origin.value), ORIGINS[origin], form.text(origin), form.call_fields(origin))
            for origin in WRITING
        ],
        siblings=[(f"sibling:{one.step.pk}", one.runs, _action(one.message)) for one in case.siblings],
        said=_action(row.action) if row.action is not None and not mine else None,
        told=[
            (f"judge:{one.pk}", one, None if one.action is None else _action(one.action))
            for one in shown_proposals
        ],
        sealed=0 if shown_proposals or not mine else proposals(row).count(),
        offered=case.shown.offered_tools(),
        answers=ANSWERS,
        origins=ORIGINS,
        error_classes=ERROR_CLASSES,
        without_model=case.access.mode != "admin",
        **laid,
        **more,
    )


def _with_consensus(item: SideBySideItem, case: CorrectionCase) -> SideBySideItem:
    """The wrong step with its consensus."""
    if case.resolved is None:
        return item
    return replace(item, consensus=case.resolved.value, kind=case.resolved.kind)


@require_POST
def check(request: HttpRequest, pk: int) -> JsonResponse:
    """The faults of the action that is being written: sentences by the field of the form, and the tools that
    no schema can check."""
    row, opened = _found(request, pk)
    policies.require(opened.user, VERB, row)
    values = values_of(row, {})
    form = CorrectionForm(request.POST, values=values, siblings=[], proposals=[])
    origin = request.POST.get("choice", "")
    if origin not in WRITING:
        return JsonResponse({"fields": {}, "unchecked": []})
    text, calls, places = form.written(origin, request.POST)
    check = correct.check_draft(row, text, calls)
    faults = correct.fields_of(check, len(calls))
    fields = {
        form.field_of(name, origin, places) or "": translated(sentence) for name, sentence in faults.items()
    }
    return JsonResponse({"fields": fields, "unchecked": check.unchecked})


@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a correction up; back to the list."""
    return _act(request, pk, correct.withdraw, _("The correction is withdrawn."))


@require_POST
def restore(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a withdrawn correction up again; back to the list."""
    return _act(request, pk, correct.restore, _("The correction is taken up again."))


def _act(request: HttpRequest, pk: int, service: Any, done: str) -> HttpResponse:
    row = get_object_or_404(
        policies.visible(request.user, Correction.objects.select_related("project")), pk=pk
    )
    opened = page_of(request, row.project, VERB)
    try:
        service(actor=opened.user, correction=row)
    except Conflict as error:
        messages.error(request, translated(error.message))
    else:
        messages.success(request, done)
    return redirect("frontend:corrections", row.project.slug)


@require_POST
def reveal(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what judges propose, once one's own correction is saved; back to its page."""
    row, opened = _found(request, pk)
    try:
        correct.reveal(actor=opened.user, correction=row)
    except Conflict as error:
        messages.error(request, translated(error.message))
    return redirect("frontend:correction", row.pk)
