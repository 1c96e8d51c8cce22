"""Audits of labels: begin, add draws and end for admins; take a case and decide it for adjudicators."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.language import translated
from annotation.models import AuditedTrajectory, LabelAudit
from annotation.reports.cases import side_by_side
from annotation.reports.quality.audited_labels import UnnamedLabels, to_decide
from annotation.services import label_audits
from annotation.services.judged_steps import MAX_NOTE
from annotation.services.label_audits.ruling import StepRuling
from frontend.forms.label_audits import BeginForm, MoreForm
from frontend.pages.quality.label_quality import page
from frontend.pages.shared.common import open_project, page_of
from frontend.pages.shared.errors import status_of
from frontend.pages.work.reading import is_part
from frontend.pages.work.trajectories import laid_out
from frontend.rendering.identity import title_of
from frontend.rendering.run_parts import place_of

VALUES = ((1, "plus"), (0, "zero"), (-1, "minus"))


def _refused(form: forms.Form, error: Conflict | Invalid) -> None:
    """Put what the service refuses beside its field."""
    fields = error.fields if isinstance(error, Invalid) else {}
    for name, message in fields.items():
        form.add_error(name if name in form.fields else None, translated(message))
    if not fields:
        form.add_error(None, translated(error.message))


@require_POST
def begin(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin an audit."""
    opened = open_project(request, slug, "label_audit.change")
    form = BeginForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            label_audits.begin_audit(
                actor=opened.user,
                project=opened.project,
                wished=form.cleaned_data["wished"] / 100,
                draws=form.cleaned_data["draws"],
                mixed=form.cleaned_data["mixed"],
            )
        except (Conflict, Invalid) as error:
            _refused(form, error)
            status = status_of(error)
        else:
            messages.success(request, _("The audit has begun."))
            return redirect("frontend:label-quality", slug)
    return page(opened, begin=form, status=status)


def _audit(request: HttpRequest, pk: int) -> LabelAudit:
    rows = policies.visible(request.user, LabelAudit.objects.select_related("project"))
    return get_object_or_404(rows, pk=pk)


@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw more."""
    audit = _audit(request, pk)
    opened = page_of(request, audit.project, "label_audit.change")
    form = MoreForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            label_audits.add_draws(actor=opened.user, audit=audit, draws=form.cleaned_data["draws"])
        except (Conflict, Invalid) as error:
            _refused(form, error)
            status = status_of(error)
        else:
            return redirect("frontend:label-quality", audit.project.slug)
    return page(opened, more=form, status=status)


@require_POST
def end(request: HttpRequest, pk: int) -> HttpResponse:
    """End an audit."""
    audit = _audit(request, pk)
    opened = page_of(request, audit.project, "label_audit.change")
    label_audits.end_audit(actor=opened.user, audit=audit)
    messages.success(request, _("The audit has ended."))
    return redirect("frontend:label-quality", audit.project.slug)


@require_POST
def take(request: HttpRequest, slug: str) -> HttpResponse:
    """Take the next case of an audit, or go on with one's own."""
    opened = open_project(request, slug, "adjudicate")
    try:
        case = label_audits.take_case(actor=opened.user, project=opened.project)
    except Conflict as error:
        messages.error(request, translated(error.message))
        return redirect("frontend:adjudication-queue", slug)
    return redirect("frontend:audit-case", case.pk)


@require_http_methods(["GET", "POST"])
@never_cache
def case(request: HttpRequest, pk: int) -> HttpResponse:
    """One's own case of an audit: three unnamed labels of each step to decide, and the trajectory. What is
    chosen is kept as one goes (`keep`; scripts get JSON), and decides nothing before all is sent."""
    rows = AuditedTrajectory.objects.select_related(
        "audit__project", "trajectory__project", "trajectory__subset", "trajectory__task"
    )
    row = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    opened = page_of(request, row.audit.project, "adjudicate")
    unnamed = to_decide(row)
    refusal, status = "", 200
    if request.method == "POST":
        keep, by_script = "keep" in request.POST, not request.accepts("text/html")
        act = label_audits.keep_rulings if keep else label_audits.decide_case
        try:
            act(actor=opened.user, audited=row, rulings=_rulings(request, unnamed))
        except (Conflict, Invalid) as error:
            refusal, status = translated(error.message), status_of(error)
            if by_script:
                return JsonResponse({"error": {"message": refusal}}, status=status)
        else:
            if keep:
                return JsonResponse({}) if by_script else redirect("frontend:audit-case", row.pk)
            messages.success(request, _("The case is decided."))
            return redirect("frontend:adjudication-queue", opened.project.slug)
    shown = side_by_side.plain(actor=opened.user, trajectory=row.trajectory)
    laid = laid_out(request, shown)
    record = title_of(row.trajectory.record_id, laid["question"].text)
    return opened.render(
        "transcript/part.html" if is_part(request) else "quality/audit_case.html",
        "adjudication",
        status=status,
        title=_("Audit of %(record)s") % {"record": record},
        case=row,
        refusal=refusal,
        lines=[_line(request, one) for one in unnamed],
        values=VALUES,
        max_note=MAX_NOTE,
        **laid,
    )


def _key(unnamed: UnnamedLabels) -> str:
    return "outcome" if unnamed.step is None else str(unnamed.step.message_index)


def _sent(request: HttpRequest, key: str) -> tuple[int | None, str]:
    """The value that was chosen of a step or the outcome, and why."""
    value = request.POST.get(f"value-{key}", "")
    numbers = {str(number): number for number, _kind in VALUES}
    return numbers.get(value), request.POST.get(f"note-{key}", "").replace("\r\n", "\n")


def _line(request: HttpRequest, unnamed: UnnamedLabels) -> dict[str, object]:
    key, step = _key(unnamed), unnamed.step
    given, note = _sent(request, key) if request.method == "POST" else (unnamed.chosen, unnamed.note)
    return {
        "key": key,
        "number": None if step is None else step.ordinal + 1,
        "place": "" if step is None else place_of(step.message_index),
        "labels": unnamed.values,
        "given": given,
        "note": note,
    }


def _rulings(request: HttpRequest, unnamed: list[UnnamedLabels]) -> dict[int | None, StepRuling]:
    """The rulings that were made; what was left open is not among them."""
    rulings: dict[int | None, StepRuling] = {}
    for one in unnamed:
        value, note = _sent(request, _key(one))
        if value is not None:
            rulings[None if one.step is None else one.step.message_index] = StepRuling(value, note)
    return rulings
