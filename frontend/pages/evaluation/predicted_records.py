"""Trajectories as a release holds them, with what a model predicts of them."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation.core.errors import NotFound
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.text import escape
from annotation.core.trajectories.raw_message import message_json
from annotation.core.trajectories.trajectory import message_text
from annotation.models import PredictionSet, Release
from annotation.reports.evaluation import predicted_records as report
from annotation.reports.shared import transcripts
from annotation.services import noted_reads
from frontend.pages.evaluation.leaderboard import LEADERBOARD_VERB, release_of
from frontend.pages.evaluation.model import set_of
from frontend.pages.evaluation.question_parts import VERDICT_BADGES, VERDICT_TITLES
from frontend.pages.shared.common import ProjectPage, image_response, open_project, release_trail
from frontend.pages.work.reading import is_part, run
from frontend.rendering import markdown
from frontend.rendering.beside import beside
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.identity import title_of
from frontend.rendering.run_strip import run_strip
from frontend.rendering.structure import only_text


@dataclass(frozen=True)
class _Named:
    name: str


@dataclass(frozen=True)
class ShownFrozenRecord:
    """A record of a release where the templates of a trajectory expect one."""

    slug: str
    version: str
    ordinal: int
    subset: _Named
    policy_model: str
    step_count: int

    def image_address(self, message_index: int, part_index: int) -> str:
        """The address of an image of a message."""
        place = [self.slug, self.version, self.ordinal, message_index, part_index]
        return reverse("frontend:release-image", args=place)

    @property
    def message_address(self) -> str:
        """The address of message 0, from which those of all messages follow."""
        return reverse("frontend:release-message", args=[self.slug, self.version, self.ordinal, 0])


def _read(
    opened: ProjectPage, release: Release, ordinal: int, row: PredictionSet | None = None
) -> HttpResponse:
    record = noted_reads.frozen_record(actor=opened.user, release=release, ordinal=ordinal, row=row)
    trail = release_trail(opened.project.slug, release.version, row)
    if record is None:
        title = _("Trajectory of the release")
        return opened.render("evaluation/sealed_record.html", "releases", 403, title=title, trail=trail)
    items = {one.step.message_index: one for one in record.steps if one.step}
    steps = [one.step for one in record.steps if one.step]
    frozen = ShownFrozenRecord(
        opened.project.slug,
        release.version,
        ordinal,
        _Named(record.subset),
        escape_control_chars(record.policy_model),
        len(record.steps),
    )
    return opened.render(
        "transcript/part.html" if is_part(opened.request) else "evaluation/predicted_record.html",
        "releases",
        title=title_of(escape(record.record_id), record.transcript.question),
        trail=trail,
        release=release,
        row=row,
        found=record,
        answer_verdict=VERDICT_TITLES[record.answered.verdict] if record.answered else "",
        answer_badge=VERDICT_BADGES[record.answered.verdict] if record.answered else "",
        trajectory=frozen,
        message_url=frozen.message_address,
        items=items,
        differing=" ".join(map(str, record.differing)) if row is not None else "",
        step_template="frontend/evaluation/predicted_step.html",
        strip=run_strip(record.transcript, steps, {index: one.released for index, one in items.items()}),
        **run(opened.request, record.transcript, steps, opened.project.of_kind),
        **beside(record.transcript),
        without_model=not opened.project.of_kind.has(Feature.RUNS),
        may_open=record.trajectory is not None and opened.may("trajectory.list"),
    )


@require_GET
def record(request: HttpRequest, slug: str, version: str, ordinal: int) -> HttpResponse:
    """One trajectory as the release holds it, with its consensus."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    return _read(opened, release_of(opened, version), ordinal)


@require_GET
def predicted(request: HttpRequest, slug: str, version: str, pk: int, ordinal: int) -> HttpResponse:
    """The same with what a model predicts beside each step."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    row = set_of(opened, version, pk)
    return _read(opened, row.release, ordinal, row)


@require_GET
@never_cache
def message(request: HttpRequest, slug: str, version: str, ordinal: int, message: int) -> JsonResponse:
    """One message as the release holds it (see `pages.messages`)."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    _row, line, content = report.raw_record(release_of(opened, version), ordinal)
    messages = content["messages"]
    if message >= len(messages):
        raise NotFound(translatable("There is no such message."))
    shown = message_json(line, messages[message], message, hints=opened.may("trajectory.list"))
    text = message_text(messages[message])
    if request.GET.get("as") == "markdown":
        return JsonResponse({"markdown": markdown.tree(escape_control_chars(only_text(text)))})
    return JsonResponse({"json": shown.text, "exact": shown.exact, "withheld": shown.withheld, "text": text})


@require_GET
def image(
    request: HttpRequest, slug: str, version: str, ordinal: int, message: int, part: int
) -> HttpResponse:
    """One image of a message as the release holds it."""
    opened = open_project(request, slug, LEADERBOARD_VERB)
    _row, _line, content = report.raw_record(release_of(opened, version), ordinal)
    messages = transcripts.read_content(content, reference_answer=False, hints=False).messages
    return image_response(transcripts.image_in(messages, message, part))
