"""The consensus beside one's own labels, or why it is not shown."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation import policies
from annotation.core.kinds import ProjectKind
from annotation.core.vocabulary import SIGNS
from annotation.language import translated
from annotation.models import Assignment
from annotation.reports.cases.own_consensus import OwnLine
from annotation.services import noted_reads
from frontend.pages.shared.common import page_of, person
from frontend.pages.shared.list_page import Empty, ListPage, show
from frontend.rendering.identity import short_identity
from frontend.rendering.step_names import step_title
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import origin_name, reason_title


@require_GET
@never_cache
def own_consensus(request: HttpRequest, pk: int) -> HttpResponseBase:
    """One's own submission beside the consensus; that it was seen is noted."""
    user = person(request)
    mine = Assignment.stored.filter(annotator=user).select_related("project", "trajectory")
    assignment = get_object_or_404(policies.visible(user, mine), pk=pk)
    opened = page_of(request, assignment.project, "label")
    consensus = noted_reads.own_consensus(actor=user, assignment=assignment)
    listed = ListPage(
        request,
        _columns(opened.project.of_kind),
        list(consensus.lines),
        Empty(_("No consensus is shown"), translated(consensus.why_not)),
        file="consensus" if consensus.lines else "",
    )
    name = short_identity(assignment.trajectory.record_id)
    return show(
        opened,
        "work",
        listed,
        title=_("Consensus of %(record)s") % {"record": name},
        actions=[cells.link(_("View"), at("workbench", assignment.pk), "button")],
    )


def _columns(kind: ProjectKind) -> list[Column]:
    def step(line: OwnLine) -> str:
        return _("Outcome") if line.number is None else step_title(line.number, kind)

    def differs(line: OwnLine) -> str:
        sign = SIGNS[line.consensus]
        return sign if line.same else cells.badge(sign, "badge--warn")

    return [
        Column("step", translated(kind.names.one), step, look="main"),
        Column("own", _("Your label"), cell=lambda line: "" if line.own is None else SIGNS[line.own]),
        Column("consensus", _("Consensus"), cell=differs),
        Column("kind", _("Origin"), cell=lambda line: origin_name(line.kind)),
        Column(
            "reason_code",
            _("Reason"),
            cell=lambda line: reason_title(line.reason_code) if line.reason_code else "",
        ),
    ]
