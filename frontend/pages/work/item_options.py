"""The options of an item: change a text, add one, take one out. The item is replaced by it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.core.vocabulary import AdjudicationState, Role
from annotation.language import translated
from annotation.models import Adjudication, Trajectory
from annotation.reports.work.item_options import item_options
from annotation.services import replace
from frontend.forms.item_options import KEYS, OptionsForm
from frontend.pages.shared.common import ProjectPage, open_project, whole_number
from frontend.pages.shared.errors import status_of
from frontend.rendering.identity import short_identity

VERB = "item.replace"


@never_cache
@require_http_methods(["GET", "POST"])
def options(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The form of an item's options, and of how many people the work ends when it is sent."""
    opened = open_project(request, slug, VERB)
    rows = Trajectory.objects.filter(project=opened.project).select_related("project", "content")
    row = get_object_or_404(policies.visible(opened.user, rows), pk=pk)
    item = item_options(viewer=opened.user, trajectory=row)
    form = OptionsForm.of(item, request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST" and "more" not in request.POST:
        try:
            new = replace.edit_options(
                actor=opened.user, trajectory=row, changes=form.changes(), ends=whole_number(request, "ends")
            )
        except Invalid as error:
            form.refuse(error.fields)
            status = 400
        except Conflict as error:
            form.problems.append(translated(error.message))
            status = status_of(error)
        else:
            return _after(opened, row, new, item.ends)
    return opened.render(
        "work/item_options.html",
        "trajectories" if Role.ADMIN in opened.roles else "adjudication",
        status=status,
        title=_("Options of %(record)s") % {"record": short_identity(row.record_id)},
        item=item,
        form=form,
        keys=KEYS.items(),
        back=_back(opened, row),
    )


def _back(opened: ProjectPage, row: Trajectory) -> str:
    """The address at which the item is read: one's case of it, else its page."""
    case = Adjudication.objects.filter(
        trajectory=row, adjudicator=opened.user, state=AdjudicationState.OPEN
    ).first()
    if case is not None:
        return reverse("frontend:adjudication", args=[case.pk])
    return reverse("frontend:trajectory", args=[opened.project.slug, row.pk])


def _after(opened: ProjectPage, row: Trajectory, new: Trajectory, ended: int) -> HttpResponse:
    slug = opened.project.slug
    if new.pk == row.pk:
        messages.info(opened.request, _("Nothing was changed."))
        return redirect(_back(opened, row))
    text = ngettext(
        "The item was replaced. The work of %(n)d person on it has ended.",
        "The item was replaced. The work of %(n)d people on it has ended.",
        ended,
    )
    messages.success(opened.request, text % {"n": ended})
    if Role.ADMIN in opened.roles:
        return redirect("frontend:trajectory", slug, new.pk)
    return redirect("frontend:adjudication-queue", slug)
