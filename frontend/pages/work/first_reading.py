"""The guidelines before the first label, and what is new in them before the next one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.models import Assignment, Guideline
from annotation.reports.work.guidelines import unread
from annotation.services import projects
from frontend.pages.shared.common import page_of, person
from frontend.rendering import markdown
from frontend.rendering.text_diff import changes

MAX_DIGITS = 10


@never_cache
@require_http_methods(["GET", "POST"])
def guidelines(request: HttpRequest, pk: int) -> HttpResponse:
    """The guidelines that an annotator has not read yet, once for each version; sending it leads to the
    workbench."""
    user = person(request)
    mine = Assignment.stored.filter(annotator=user).select_related("project")
    assignment = get_object_or_404(policies.visible(user, mine), pk=pk)
    opened = page_of(request, assignment.project, "label")
    if request.method == "POST":
        rows = policies.visible(user, Guideline.objects.filter(project=opened.project))
        version = request.POST.get("version", "")
        known = int(version) if version.isdecimal() and len(version) < MAX_DIGITS else 0
        read = get_object_or_404(rows, version=known)
        projects.read_guidelines(actor=user, guideline=read)
        return redirect("frontend:workbench", pk)
    unread_guideline = unread(user=user, project=opened.project)
    if unread_guideline is None:
        return redirect("frontend:workbench", pk)
    return opened.render(
        "work/guidelines.html",
        "work",
        title=_("Guidelines"),
        unread=unread_guideline,
        html=markdown.render(unread_guideline.guideline.text),
        changes=changes(unread_guideline.before.text, unread_guideline.guideline.text)
        if unread_guideline.before
        else [],
    )
