"""The audit log: who did what, filtered, with links to what it was done to; and the same as CSV."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.defaultfilters import truncatechars
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from annotation.models import AuditEvent
from annotation.reports.work import audit_log as report
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import Filter, ListPage, show
from frontend.pages.shared.saved_views import SavedViews
from frontend.rendering.audit_text import AUDIT_SENTENCES, describe
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, at, cells

AUDIT_VERB = "audit.view"
MAX_TITLE = 60

# type of object -> (what people call it, URL name, whether its address names the object, place in the page)
OBJECTS: Final[dict[str, tuple[Any, str, bool, str]]] = {
    "adjudication": (gettext_lazy("Case"), "trajectory", True, ""),
    "assignment": (gettext_lazy("Assignment"), "trajectory", True, ""),
    "crowdlink": (gettext_lazy("Crowd link"), "crowd-link", True, ""),
    "guideline": (gettext_lazy("Guidelines"), "guidelines", False, "?version={}"),
    "freeze": (gettext_lazy("Freezing of a release"), "freeze-detail", True, ""),
    "importfile": (gettext_lazy("Imported file"), "import-detail", True, ""),
    "invitation": (gettext_lazy("Invitation"), "members", False, "#invitation-{}"),
    "judge": (gettext_lazy("Judge"), "judge", True, ""),
    "membership": (gettext_lazy("Member"), "members", False, "#member-{}"),
    "release": (gettext_lazy("Release"), "release", True, ""),
    "subset": (gettext_lazy("Subset"), "project-settings", False, "#subset-{}"),
    "suggestionrun": (gettext_lazy("Run of a judge"), "run", True, ""),
}
AUDIT_CSV_COLUMNS = ("when", "who", "action", "object_type", "object_id", "details")


@dataclass(frozen=True)
class Event:
    """An entry of the log, with a link to its object; None where that has no page, or is gone."""

    row: AuditEvent
    object: str | None

    @cached_property
    def said(self) -> dict[str, Any]:
        """The event in words."""
        return describe(self.row)


def _columns() -> list[Column]:
    return [
        Column("when", _("Time"), "row.created_at"),
        Column(
            "who",
            _("Who"),
            lambda event: event.row.actor.username if event.row.actor else report.OPERATOR,
            lambda event: event.said["actor"],
        ),
        Column("action", _("Event"), "row.verb", lambda event: event.said["what"]),
        Column("object_type", _("Object"), "row.object_type", lambda event: event.object, "main"),
        Column("object_id", value="row.object_id"),
        Column(
            "details",
            _("Details"),
            lambda event: json.dumps(event.row.detail, ensure_ascii=False, sort_keys=True),
            lambda event: cells.pairs(event.said["details"]),
            "main",
        ),
    ]


def _list(opened: ProjectPage) -> ListPage:
    user, project = opened.user, opened.project

    def items(rows: list[AuditEvent]) -> list[Event]:
        objects = report.objects(actor=user, rows=rows)
        return [Event(row, _object(project.slug, row, objects)) for row in rows]

    people = [(row.username, str(row)) for row in report.people(project)]
    verbs = sorted(((verb, str(words)) for verb, words in AUDIT_SENTENCES.items()), key=itemgetter(1))
    return ListPage(
        opened.request,
        _columns(),
        lambda asked: report.events(actor=user, project=project, filters=asked, verbs=AUDIT_SENTENCES),
        filters=[
            Filter("who", _("Who"), [*people, (report.OPERATOR, _("operator"))]),
            Filter("verb", _("Event"), verbs),
            Filter("object", _("Object"), [(kind, title) for kind, (title, *_rest) in OBJECTS.items()]),
            Filter("from", _("From"), type="date"),
            Filter("to", _("To"), type="date"),
        ],
        items=items,
        file="audit",
        in_file=AUDIT_CSV_COLUMNS,
        views=SavedViews(opened, "audit"),
    )


@require_http_methods(["GET", "POST"])
def audit(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The audit log, newest first."""
    opened = open_project(request, slug, AUDIT_VERB)
    about = _("Who did what, newest first. Neither labels nor texts of trajectories are logged here.")
    return show(opened, "audit", _list(opened), about=about)


@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The same rows as CSV, all pages of them, streamed."""
    return _list(open_project(request, slug, AUDIT_VERB)).csv(f"{slug}-")


def _object(slug: str, row: AuditEvent, objects: dict[report.Key, tuple[Any, str]]) -> str | None:
    target = objects.get((row.object_type, row.object_id))
    if target is None:
        return None
    address, title = target
    kind, name, in_path, rest = OBJECTS[row.object_type]
    url = at(name, slug, address) if in_path else at(name, slug)
    shown = truncatechars(short_identity(title) or "–", MAX_TITLE)
    return cells.beside(cells.soft(kind), cells.link(shown, url + rest.format(address)))
