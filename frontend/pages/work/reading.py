"""The reading view of a trajectory: the task beside it, its messages laid out, its tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, JsonResponse

from annotation.core import guidelines
from annotation.core.bounds import MAX_INT
from annotation.core.kinds import ProjectKind
from annotation.models import Guideline, Project, Step, Trajectory
from annotation.reports.shared.transcripts import Transcript, own_question
from frontend.rendering import markdown
from frontend.rendering.beside import beside
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.identity import title_of
from frontend.rendering.run_parts import RunParts, parts_of
from frontend.rendering.run_search import search
from frontend.rendering.transcript import lay_out, leading

MAX_QUERY = 200
PINNED = 200


def is_part(request: HttpRequest) -> bool:
    """Whether only a part of the run is asked for, to be put into the page."""
    return request.GET.get("only") == "run"


def finds(request: HttpRequest, read: Transcript, steps: Sequence[Step]) -> JsonResponse | None:
    """The answer to a search of the whole run: `{"found": [[message, how often], …]}`; None when the page is
    asked for."""
    query = request.GET.get("find")
    return None if query is None else JsonResponse({"found": search(read, steps, query[:MAX_QUERY])})


def run(
    request: HttpRequest,
    read: Transcript,
    steps: Sequence[Step],
    kind: ProjectKind,
    *,
    first: int | None = None,
) -> dict[str, Any]:
    """The part of a run that a page draws: with the message `?at=` asks for, else with `first`. `kind` is
    that of its project."""
    asked = request.GET.get("at", "")
    at = min(int(asked), MAX_INT) if asked.isascii() and asked.isdecimal() and len(asked) < 12 else first
    parts = parts_of(read, at)
    return {"parts": parts, "run": lay_out(read, steps, parts, kind=kind)}


def reading(trajectory: Trajectory, read: Transcript, parts: RunParts) -> dict[str, Any]:
    """The context of `workbench/task.html`, beside that of the run."""
    return {
        "trajectory": trajectory,
        "record_id": title_of(trajectory.record_id, read.question),
        "leading": leading(read, parts),
        **beside(read),
    }


def pinned_question(trajectory: Trajectory, read: Transcript) -> str:
    """The beginning of the question, from which on the bar above a run shows the user's message. One
    query."""
    return escape_control_chars(own_question(trajectory, read.question)[:PINNED])


def guidelines_of(project: Project) -> dict[str, Any]:
    """The guidelines in force, for their dialog. One query."""
    return guidelines_shown(Guideline.objects.filter(project=project).order_by("-version").first())


def guidelines_shown(guideline: Guideline | None) -> dict[str, Any]:
    """The context of `workbench/reading_dialogs.html`."""
    return {
        "guidelines": markdown.render(guideline.text) if guideline is not None and guideline.text else "",
        "guideline_headings": json.dumps(guidelines.headings(), ensure_ascii=False),
        "guideline_version": guideline.version if guideline is not None else None,
    }
