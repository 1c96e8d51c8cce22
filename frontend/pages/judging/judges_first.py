"""Judges first: what judges would settle, settling it, how often people agree, and sending it to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.errors import Conflict, Invalid
from annotation.core.kinds import Feature
from annotation.language import translated
from annotation.models import Judge
from annotation.reports.judging import judges_first as report
from annotation.services import judges_first
from frontend.forms import add_errors
from frontend.pages.judging.judges import SECTION, judges_of
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.templatetags.judging import count

VERB = "judges_first.settle"


class JudgesForm(forms.Form):
    """The judges that have to agree."""

    judges = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Judges"), queryset=Judge.objects.none(), widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, judges: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judges"].queryset = judges  # type: ignore[attr-defined]


@require_http_methods(["GET", "POST"])
def settle(request: HttpRequest, slug: str) -> HttpResponse:
    """A summary of what judges have settled, a preview of what the chosen ones would (by query), and settling
    that."""
    opened = open_project(request, slug, VERB)
    opened.project.of_kind.require(Feature.JUDGES_FIRST)
    able = judges_of(opened).filter(suggestions__isnull=False).distinct()
    given = request.POST if request.method == "POST" else request.GET
    form = JudgesForm(given if "judges" in given or request.method == "POST" else None, judges=able)
    chosen: Sequence[Judge] = []
    planned = None
    if form.is_valid():
        chosen = list(form.cleaned_data["judges"])
        try:
            if request.method == "POST":
                done = judges_first.settle_judged(actor=opened.user, project=opened.project, judges=chosen)
                text = _("Settled: %(judged)s judged, %(dropped)s dropped, %(people)s for people.")
                messages.success(
                    request,
                    text % {name: count(getattr(done, name)) for name in ("judged", "dropped", "people")},
                )
                return redirect("frontend:judges-first", slug)
            planned = report.preview(viewer=opened.user, project=opened.project, judges=chosen)
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            form.add_error(None, translated(error.message))
    return _page(opened, form, chosen, planned)


def _page(
    opened: ProjectPage, form: JudgesForm, chosen: Sequence[Judge], planned: report.Settlement | None
) -> HttpResponse:
    return opened.render(
        "judging/judges_first.html",
        SECTION,
        status=400 if form.errors else 200,
        title=_("Judges first"),
        form=form,
        able=form.fields["judges"].queryset.exists(),  # type: ignore[attr-defined]
        chosen=chosen,
        planned=planned,
        summary=report.summary(opened.project),
    )


@require_POST
def send_back(request: HttpRequest, slug: str) -> HttpResponse:
    """Send all that judges have settled to people, or the one trajectory that is named."""
    opened = open_project(request, slug, VERB)
    named = request.POST.get("trajectory", "")
    try:
        sent = judges_first.send_back(
            actor=opened.user,
            project=opened.project,
            trajectories=[int(named)] if named.isdecimal() and len(named) < 19 else None,
        )
    except Conflict as error:
        messages.error(request, translated(error.message))
    else:
        text = ngettext("%(n)s decision goes to people.", "%(n)s decisions go to people.", sent)
        messages.success(request, text % {"n": count(sent)})
    return redirect("frontend:judges-first", slug)
