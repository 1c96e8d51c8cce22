"""A file of a person's labels before it is imported: whose they are, and what it would bring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.http import HttpResponse

from annotation import policies
from annotation.core.errors import Invalid, NotFound
from annotation.core.text import unescape
from annotation.language import translated
from annotation.models import ImportFile, Membership, User
from annotation.services import label
from frontend.pages.shared.common import ProjectPage
from frontend.rendering.identity import short_identity


def person_named(row: ImportFile, people: Mapping[int, User]) -> str:
    """The name of the person whose labels a file holds; `people` are the members by their pk."""
    if "annotator" not in row.options:
        return unescape(str(row.options.get("name", "")))
    return str(people.get(row.options["annotator"], ""))


def members_named(opened: ProjectPage, rows: Iterable[ImportFile]) -> dict[int, User]:
    """The members whose labels these files hold, by their pk; one query."""
    pks = [row.options["annotator"] for row in rows if "annotator" in row.options]
    members = Membership.objects.filter(project=opened.project, user__in=pks).select_related("user")
    return {member.user_id: member.user for member in policies.visible(opened.user, members)}


def preview(opened: ProjectPage, row: ImportFile) -> HttpResponse:
    """The preview of a waiting file of labels, or why there is none."""
    shown, problem = None, ""
    try:
        shown = label.look_at_labels(actor=opened.user, source=row)
    except (Invalid, NotFound) as error:
        problem = translated(error.message)
    return opened.render(
        "work/label_preview.html",
        "import",
        title=row.filename,
        row=row,
        found=shown,
        lines=[(short_identity(line.record_id), line) for line in shown.lines] if shown else [],
        problem=problem,
        annotator=person_named(row, members_named(opened, [row])),
        is_new="annotator" not in row.options,
    )
