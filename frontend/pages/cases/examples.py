"""Examples: a decided case, or one step of it, marked to stand in the guidelines; and the mark taken away."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.core.text import unescape
from annotation.language import translated
from annotation.models import Adjudication, Example, Step
from annotation.services import adjudicate
from frontend.forms import add_errors
from frontend.forms.examples import ExampleForm
from frontend.pages.shared.common import page_of, person
from frontend.pages.shared.errors import status_of
from frontend.rendering.identity import title_of


@require_http_methods(["GET", "POST"])
def mark(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark a decided case as an example: which part of it, a title, and what is to be learned."""
    rows = Adjudication.objects.select_related(
        "project", "adjudicator", "trajectory__project", "trajectory__subset", "trajectory__task"
    )
    case = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    opened = page_of(request, case.project)
    policies.require(opened.user, "example.mark", case)
    steps = Step.objects.filter(trajectory=case.trajectory_id).order_by("ordinal")
    form = ExampleForm(
        request.POST or None,
        steps=list(steps),
        kind=case.project.of_kind,
        initial={"step": request.GET.get("step", "")},
    )
    refusal, status = "", 200
    if request.method == "POST" and form.is_valid():
        part = form.cleaned_data["step"]
        try:
            adjudicate.mark_example(
                actor=opened.user,
                adjudication=case,
                message_index=int(part) if part else None,
                title=form.cleaned_data["title"],
                text=form.cleaned_data["text"].replace("\r\n", "\n"),
            )
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            refusal, status = translated(error.message), status_of(error)
        else:
            messages.success(request, _("The example stands in the guidelines now."))
            return redirect(f"{reverse('frontend:guidelines', args=[case.project.slug])}#examples")
    record = title_of(case.trajectory.record_id, unescape(case.trajectory.task.question))
    return opened.render(
        "cases/example.html",
        "guidelines",
        status=400 if form.errors else status,
        title=_("Use as an example"),
        trail=[(record, reverse("frontend:adjudication", args=[case.pk]))],
        form=form,
        refusal=refusal,
        case=case,
    )


@require_POST
def unmark(request: HttpRequest, pk: int) -> HttpResponse:
    """Take an example out of the guidelines."""
    rows = Example.objects.select_related("project", "adjudication__project", "step")
    example = get_object_or_404(policies.visible(request.user, rows), pk=pk)
    adjudicate.unmark_example(actor=person(request), example=example)
    messages.success(request, _("The example is removed from the guidelines."))
    return redirect(f"{reverse('frontend:guidelines', args=[example.project.slug])}#examples")
