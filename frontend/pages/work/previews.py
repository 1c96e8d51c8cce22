"""A file before it is imported: what it was recognised as, its first trajectory, what may be set by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import policies
from annotation.core.errors import Invalid, NotFound, TristepError
from annotation.core.i18n import translatable
from annotation.core.trajectories.trajectory import TrajectoryDraft, step_indexes
from annotation.core.vocabulary import ImportState
from annotation.importers.options import pointers, record_of
from annotation.importers.preview import FilePreview
from annotation.language import translated
from annotation.models import ImportFile, Step
from annotation.reports.shared import transcripts
from annotation.services import ingest
from frontend.forms.imports import OptionsForm
from frontend.pages.shared.common import ProjectPage, image_response, open_project
from frontend.pages.work.reading import is_part, run
from frontend.rendering.beside import beside
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.identity import short_identity

PREVIEWS_VERB = "import"


@dataclass(frozen=True)
class _Named:
    name: str


@dataclass(frozen=True)
class Previewed:
    """A trajectory that is not stored, where the templates of a trajectory expect one."""

    slug: str
    source: int
    subset: _Named
    policy_model: str
    step_count: int

    def image_address(self, message_index: int, part_index: int) -> str:
        """The address of an image of a message."""
        return reverse("frontend:import-image", args=[self.slug, self.source, message_index, part_index])


def page(opened: ProjectPage, row: ImportFile, form: OptionsForm | None = None) -> HttpResponse:
    """The preview of a waiting file, or why there is none."""
    preview: FilePreview | None = None
    problem = ""
    try:
        preview = ingest.look_at(actor=opened.user, source=row)
    except (Invalid, NotFound) as error:
        problem = translated(error.message)
    draft = preview.first if preview else None
    status = 400 if form is not None else 200
    return opened.render(
        "transcript/part.html" if draft and is_part(opened.request) else "work/import_preview.html",
        "import",
        status=status,
        title=row.filename,
        row=row,
        found=preview,
        problem=problem,
        form=form or OptionsForm(initial=row.options),
        # a Counter would answer 0 where a template asks for its items
        notes=dict(preview.context.notes) if preview else {},
        left_out=sorted(preview.context.left_out) if preview else [],
        pointers=_pointers(draft) if draft else [],
        **(_trajectory(opened, row, draft) if draft else {}),
    )


def _pointers(draft: TrajectoryDraft) -> list[tuple[str, str]]:
    pointed = pointers(record_of(draft.raw))
    return [(escape_control_chars(at), escape_control_chars(example)) for at, example in pointed]


def _trajectory(opened: ProjectPage, row: ImportFile, draft: TrajectoryDraft) -> dict[str, Any]:
    """The context of the templates that show a trajectory."""
    read = transcripts.read_content(draft.content(), reference_answer=True, hints=True)
    steps = [
        Step(message_index=index, ordinal=ordinal)
        for ordinal, index in enumerate(step_indexes(draft.messages))
    ]
    model = escape_control_chars(draft.policy_model)
    return {
        "draft": draft,
        "record_id": short_identity(draft.record_id),
        "task_key": short_identity(draft.task_key),
        "policy_model": model,
        "version": escape_control_chars(str((draft.hints.get("source") or {}).get("version", "")))
        if isinstance(draft.hints.get("source"), dict)
        else "",
        "trajectory": Previewed(opened.project.slug, row.pk, _Named(row.target.name), model, len(steps)),
        "step_template": "frontend/work/preview_step.html",
        **run(opened.request, read, steps, opened.project.of_kind),
        **beside(read),
    }


def _waiting(opened: ProjectPage, pk: int) -> ImportFile:
    rows = ImportFile.objects.filter(project=opened.project).select_related("subset", "project")
    return get_object_or_404(policies.visible(opened.user, rows), pk=pk)


@require_POST
def options(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Set how the file shall be read, and show it again."""
    opened = open_project(request, slug, PREVIEWS_VERB)
    row = _waiting(opened, pk)
    form = OptionsForm(request.POST)
    if not form.is_valid():
        return page(opened, row, form)
    _said(request, lambda: ingest.set_options(actor=opened.user, source=row, options=form.options()))
    return redirect("frontend:import-detail", slug, pk)


@require_POST
def start(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Import the file as it was shown."""
    opened = open_project(request, slug, PREVIEWS_VERB)
    row = _waiting(opened, pk)
    _said(request, lambda: ingest.start(actor=opened.user, source=row))
    return redirect("frontend:import-detail", slug, pk)


def _said(request: HttpRequest, do: Any) -> None:
    try:
        do()
    except TristepError as error:
        messages.error(request, translated(error.message))


@require_GET
def image(request: HttpRequest, slug: str, pk: int, message: int, part: int) -> HttpResponse:
    """One image of the trajectory that the preview shows."""
    opened = open_project(request, slug, PREVIEWS_VERB)
    row = _waiting(opened, pk)
    waits = row.state == ImportState.UPLOADED
    preview = ingest.look_at(actor=opened.user, source=row, records=1) if waits else None
    if preview is None or preview.first is None:
        raise NotFound(translatable("There is no image here."))
    shown = transcripts.read_content(preview.first.content(), reference_answer=False, hints=False).messages
    return image_response(transcripts.image_in(shown, message, part))
