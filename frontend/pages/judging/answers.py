"""Raw answers of judges, for audit: as text, and as files."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from annotation import policies
from annotation.language import joined
from annotation.models import JudgeAnswer
from annotation.services import noted_reads
from frontend.pages.judging.judges import JUDGES_VERB, SECTION
from frontend.pages.judging.run import run_title
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.tables import at
from frontend.templatetags.judging import duration, money

SHOWN_CHARACTERS = 200_000


def _answer(opened: ProjectPage, pk: UUID) -> JudgeAnswer:
    rows = JudgeAnswer.objects.filter(run__project=opened.project).select_related("judge", "trajectory")
    answer: JudgeAnswer = get_object_or_404(policies.visible(opened.user, rows), pk=pk)
    return answer


def _part(name: str, title: str, text: str, note: str = "") -> dict[str, Any]:
    """A request or response as text; more than a page bears is left to the download."""
    if len(text) > SHOWN_CHARACTERS:
        note = joined(note, _("Only the beginning is shown; the download contains everything."))
    return {"name": name, "title": title, "text": escape_control_chars(text[:SHOWN_CHARACTERS]), "note": note}


@require_GET
def answer(request: HttpRequest, slug: str, pk: UUID) -> HttpResponse:
    """A call of a judge as it went over the wire, as text."""
    opened = open_project(request, slug, JUDGES_VERB)
    row = _answer(opened, pk)
    call = noted_reads.judge_answer(actor=opened.user, answer=row)
    cut = _("The server sent %(n)s bytes, of which only the first are kept.") % {"n": row.response_size}
    tokens = _("%(input)s in, %(output)s out") % {"input": row.tokens_in, "output": row.tokens_out}
    return opened.render(
        "judging/answer.html",
        SECTION,
        title=_("Raw answer"),
        trail=[(run_title(row.run_id), at("run", slug, row.run_id))],
        answer=row,
        facts=[
            (_("Time"), row.created_at),
            (_("Status"), "–" if row.status is None else row.status),
            (_("Attempts"), row.tries),
            (_("Duration"), duration(row.latency_ms / 1000)),
            (_("Tokens"), tokens + (" · " + _("estimated") if row.estimated else "")),
            (_("Cost"), money(row.cost)),
        ],
        parts=[
            _part("response", _("Response"), call.response_text, cut if call.cut else ""),
            _part("request", _("Request"), call.request_text),
        ],
    )


@require_GET
def answer_file(request: HttpRequest, slug: str, pk: UUID, part: str) -> HttpResponse:
    """The request or the response as a file; whatever it holds, no browser opens it."""
    opened = open_project(request, slug, JUDGES_VERB)
    row = _answer(opened, pk)
    if part not in ("request", "response"):
        raise Http404
    call = noted_reads.judge_answer(actor=opened.user, answer=row)
    content = call.request if part == "request" else call.response
    name = f"{part}-{row.pk}.txt"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="application/octet-stream", headers=headers)
