"""The search of a project: its form and what a person finds."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation.core.vocabulary import REASON_CODES
from annotation.reports.work import search as report
from annotation.services import noted_reads
from frontend.pages.shared.common import open_project
from frontend.pages.shared.list_page import Empty, Filter, ListPage, show
from frontend.rendering.identity import short_identity
from frontend.rendering.run_parts import place_of
from frontend.rendering.tables import Column, at, cells

KINDS: Final = {
    "step": gettext_lazy("Text"),
    "note": gettext_lazy("Note"),
    "reason": gettext_lazy("Reason"),
    "comment": gettext_lazy("Comment"),
    "decision": gettext_lazy("Decision"),
    "remark": gettext_lazy("Remark"),
}


def _columns(slug: str, words: str) -> list[Column]:
    def record(row: report.Found) -> str:
        of_project = [slug] if row.page.name == "trajectory" else []
        page = at(row.page.name, *of_project, row.page.pk)
        return cells.link(short_identity(row.record_id), page + place_of(row.message_index, words), "break")

    def where(row: report.Found) -> str:
        return _("whole") if row.message_index is None else f"#{row.message_index}"

    return [
        Column("", _("Record"), cell=record, look="record"),
        Column("", _("Message"), cell=where, look="number"),
        Column("", _("Found in"), cell=lambda row: KINDS[row.kind], look="nowrap"),
        Column("", _("Text"), cell=lambda row: cells.found(row.before, row.words, row.after), look="main"),
    ]


@require_GET
def search(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The finds of a person. That they have seen others' judgements is noted, of the page they look at."""
    opened = open_project(request, slug)
    titles = {reason.code: _(reason.title) for reason in REASON_CODES}

    def rows(asked: dict[str, str]) -> list[report.Found]:
        if not asked["q"]:
            return []
        return report.search(
            actor=opened.user, project=opened.project, words=asked["q"], kind=asked["kind"], reasons=titles
        )

    text = _("Type words that stand in a trajectory, a note, a reason or a comment.")
    listed = ListPage(
        request,
        _columns(slug, request.GET.get("q", "")),
        rows,
        Empty(_("Search in this project"), text),
        filters=[Filter("q", _("Words")), Filter("kind", _("Found in"), tuple(KINDS.items()))],
        items=lambda page: noted_reads.found(actor=opened.user, project=opened.project, rows=page),
        asks=True,
    )
    about = _(
        "You find what you may read. Others’ labels, notes and comments that you see here are noted as seen."
    )
    return show(opened, "search", listed, about=about)
