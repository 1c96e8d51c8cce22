"""The command palette: where a person can go from any page, as JSON."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from annotation import policies
from annotation.models import Project
from annotation.reports.work.search import LEAST_LETTERS, trajectories_named
from frontend.pages.shared.common import ProjectPage, page_of, person
from frontend.pages.shared.list_page import MAX_ASKED
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import at

PROJECTS_OFFERED = 50


@require_GET
@never_cache
def palette(request: HttpRequest) -> JsonResponse:
    """`{"entries": [{"title", "detail", "url"}, …]}`: the pages of the person and of the project `?project=`,
    and their projects; with `?q=` the trajectories of that project whose id holds it, and its search."""
    user = person(request)
    slug = request.GET.get("project", "")
    project = policies.visible(user, Project.objects.filter(slug=slug)).first() if slug else None
    opened = page_of(request, project) if project is not None else None
    query = request.GET.get("q", "").strip()[:MAX_ASKED].replace("\x00", "")
    if query:
        return JsonResponse({"entries": _named(opened, query) if opened is not None else []})
    projects = policies.visible(user, Project.objects.all()).order_by("name")[:PROJECTS_OFFERED]
    pages = [
        *((_("Home"), "home"), (_("Projects"), "projects"), (_("Notices"), "notices")),
        *((_("My discussions"), "discussions"), (_("Profile"), "profile")),
        *((_("API reference"), "api-reference"), *[(_("People"), "people")] * user.is_superuser),
    ]
    entries = _sections(opened) if opened is not None else []
    entries += [_entry(one.name, at("project", one.slug), _("Project")) for one in projects if one != project]
    entries += [_entry(title, at(name)) for title, name in pages]
    return JsonResponse({"entries": entries})


def _entry(title: object, url: str, detail: object = "") -> dict[str, Any]:
    return {"title": str(title), "detail": str(detail), "url": url}


def _sections(opened: ProjectPage) -> list[dict[str, Any]]:
    links = [link for group in opened.navigation("") for link in group["links"]]
    return [_entry(link["title"], link["url"], opened.project.name) for link in links]


def _named(opened: ProjectPage, query: str) -> list[dict[str, Any]]:
    slug = opened.project.slug
    entries = []
    for record_id, page in trajectories_named(actor=opened.user, project=opened.project, part=query):
        of_project = [slug] if page.name == "trajectory" else []
        address = at(page.name, *of_project, page.pk)
        entries.append(_entry(short_identity(record_id), address, _("Trajectory")))
    if len(query) >= LEAST_LETTERS:
        text = _("Search for “%(words)s”") % {"words": query}
        entries.append(_entry(text, f"{at('search', slug)}?{urlencode({'q': query})}", opened.project.name))
    return entries
