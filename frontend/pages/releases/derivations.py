"""Deriving decisions from a release: what it would bring, whom it leaves, and the button that begins it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.core.decisions.recipes import COUNTS
from annotation.core.errors import Conflict, Invalid
from annotation.language import translated
from annotation.models import Release
from annotation.services import derive as service
from frontend.forms import add_errors
from frontend.forms.derivations import AnywayForm, DerivationForm
from frontend.pages.shared.common import open_project
from frontend.templatetags.judging import count

DERIVE_VERB = "release.derive"


@require_http_methods(["GET", "POST"])
def derive(request: HttpRequest, slug: str, version: str) -> HttpResponse:
    """The form, and beside what was asked for what it would bring. POST begins it, and leads to the
    import."""
    opened = open_project(request, slug, DERIVE_VERB)
    rows = Release.objects.filter(project=opened.project).select_related("project", "withdrawal")
    release = get_object_or_404(policies.visible(opened.user, rows), version=version)
    service.require_derivable(release)
    targets = {project.slug: project for project in service.targets(opened.user)}
    asked = request.POST if request.method == "POST" else request.GET if "into" in request.GET else None
    initial = {"subset": slugify(f"{slug}-{version}")[:64], "recipe": "shared", "seed": 0}
    form = DerivationForm(
        asked, initial=initial, projects=[(name, project.name) for name, project in targets.items()]
    )
    shown: dict[str, Any] = {}
    status = 200
    if form.is_bound and form.is_valid():
        begun: dict[str, Any] = {
            "actor": opened.user,
            "release": release,
            "project": targets[form.cleaned_data["into"]],
        }
        anyway = AnywayForm(request.POST or None)
        agreed = anyway.is_bound and anyway.is_valid() and anyway.cleaned_data["anyway"]
        wanted = service.DerivationRequest.of(**form.asked(), anyway=agreed)
        try:
            if request.method == "POST":
                source = service.derive(**begun, subset=form.cleaned_data["subset"], request=wanted)
                return redirect("frontend:import-detail", source.project.slug, source.pk)
            shown = _preview(service.preview_derivation(**begun, request=wanted))
        except Invalid as error:
            add_errors(form, error)
        except Conflict as error:
            if error.code != "too_large":
                form.add_error(None, translated(error.message))
            else:
                shown = {"large": translated(error.message)}
        shown |= {"anyway": anyway["anyway"], "kept": _hidden(form)} if shown else {}
    if form.errors:
        status = 400
    return opened.render(
        "releases/derive.html",
        "releases",
        status=status,
        title=_("Derive decisions"),
        trail=[
            (
                _("Release %(version)s") % {"version": version},
                reverse("frontend:release", args=[slug, version]),
            )
        ],
        release=release,
        form=form,
        targets=targets,
        may_create=policies.allowed(opened.user, "project.create"),
        **shown,
    )


def _preview(preview: service.DerivationPreview) -> dict[str, Any]:
    counts = preview.counts.as_json(preview.recipe)
    return {
        "preview": preview,
        "items": counts.pop("items"),
        "facts": [(translated(COUNTS[name]), count(n)) for name, n in counts.items()],
    }


def _hidden(form: forms.Form) -> list[tuple[str, Any]]:
    """The hidden fields that the button sends along."""
    return [(field.name, field.value()) for field in form if field.value() not in (None, "")]
