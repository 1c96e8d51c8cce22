"""One message of a trajectory as it came, or as Markdown: fetched on request, shown as text nodes."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation.models import Trajectory
from annotation.policies.training import readable
from annotation.reports.shared import transcripts
from frontend.pages.shared.common import person
from frontend.rendering import markdown
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.structure import only_text


@require_GET
@never_cache
def message(request: HttpRequest, pk: int, message: int) -> JsonResponse:
    """`{"json", "exact", "withheld", "text"}`; with `?as=markdown`, `{"markdown": [node …]}`, a node being a
    text or `[tag, node …]`."""
    trajectory = get_object_or_404(
        readable(request.user, Trajectory.objects.select_related("project", "content")), pk=pk
    )
    source = transcripts.source(actor=person(request), trajectory=trajectory, message_index=message)
    if request.GET.get("as") == "markdown":
        return JsonResponse({"markdown": markdown.tree(escape_control_chars(only_text(source.text)))})
    return JsonResponse(
        {"json": source.json, "exact": source.exact, "withheld": source.withheld, "text": source.text}
    )
