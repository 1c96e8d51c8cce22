"""The audit log: who did what, filtered, with links to what it was done to; and the same as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from annotation.core.errors import Invalid
from annotation.language import translated
from annotation.models import AuditEvent
from annotation.reports.work import audit_log as report
from frontend.pages.shared.common import ProjectPage, open_project, paginate
from frontend.rendering import csv_lines
from frontend.rendering.audit_text import SENTENCES, describe
from frontend.rendering.identity import short_identity

VERB = "audit.view"
MAX_FILTER = 200
BLOCK = 500

# type of object -> (what people call it, URL name, whether its address names the object, place in the page)
OBJECTS: Final[dict[str, tuple[Any, str, bool, str]]] = {
    "adjudication": (gettext_lazy("Case"), "trajectory", True, ""),
    "assignment": (gettext_lazy("Assignment"), "trajectory", True, ""),
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
CSV_HEADING = ("when", "who", "action", "object_type", "object_id", "details")


def _asked(request: HttpRequest) -> dict[str, str]:
    read = {name: request.GET.get(name, "").strip()[:MAX_FILTER] for name in report.FILTERS}
    return {name: value.replace("\x00", "") for name, value in read.items()}


def _found(opened: ProjectPage, asked: dict[str, str]) -> QuerySet[AuditEvent]:
    return report.events(actor=opened.user, project=opened.project, filters=asked, verbs=SENTENCES)


@require_GET
def audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Who did what, newest first."""
    opened = open_project(request, slug, VERB)
    asked = _asked(request)
    refusal = ""
    try:
        rows = _found(opened, asked)
    except Invalid as error:
        rows, refusal = AuditEvent.objects.none(), translated(error.message)
    page = paginate(request, rows)
    known = report.objects(actor=opened.user, rows=page)
    query = request.GET.copy()
    query.pop("page", None)
    return opened.render(
        "projects/audit.html",
        "audit",
        status=400 if refusal else 200,
        page=page,
        events=[{"row": row, **describe(row), "object": _object(slug, row, known)} for row in page],
        refusal=refusal,
        asked={**asked, "kind": asked["object"].partition(":")[0]},
        filtered=any(asked.values()),
        people=report.people(opened.project),
        operator=report.OPERATOR,
        verbs=sorted(((verb, str(words)) for verb, words in SENTENCES.items()), key=lambda one: one[1]),
        kinds=[(kind, title) for kind, (title, *_rest) in OBJECTS.items()],
        export=f"{reverse('frontend:audit-export', args=[slug])}?{query.urlencode()}",
    )


def _object(slug: str, row: AuditEvent, known: dict[report.Key, tuple[Any, str]]) -> dict[str, str] | None:
    """What a row is about: kind, title and address; None where there is no page for it, or it is gone."""
    found = known.get((row.object_type, row.object_id))
    if found is None:
        return None
    address, title = found
    kind, name, in_path, rest = OBJECTS[row.object_type]
    url = reverse(f"frontend:{name}", args=[slug, address] if in_path else [slug])
    return {
        "kind": str(kind),
        "title": short_identity(title),
        "url": url + rest.format(address),
    }


@require_GET
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The same rows as CSV, all pages of them, streamed."""
    opened = open_project(request, slug, VERB)
    rows = _found(opened, _asked(request))
    return csv_lines.download(f"{slug}-audit.csv", CSV_HEADING, _csv_rows(rows.iterator(BLOCK)))


def _csv_rows(rows: Iterable[AuditEvent]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        who = row.actor.username if row.actor is not None else report.OPERATOR
        details = json.dumps(row.detail, ensure_ascii=False, sort_keys=True)
        yield row.created_at.isoformat(), who, row.verb, row.object_type, row.object_id, details
