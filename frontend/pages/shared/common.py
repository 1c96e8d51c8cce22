"""The frame of a project's pages: the project, the roles held in it, its navigation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from django.core.paginator import Page
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation import policies
from annotation.core.errors import Invalid
from annotation.core.kinds import Feature
from annotation.core.trajectories.images import Image
from annotation.core.vocabulary import Role
from annotation.models import PredictionSet, Project, User
from annotation.policies.lookups import visible_project
from frontend.pages.shared.bounded_paginator import BoundedPaginator
from frontend.templatetags.tristep import readable

View = TypeVar("View", bound=Callable[..., HttpResponseBase])
M = TypeVar("M", bound=Model)
PER_PAGE = 50

# section -> (title, URL name, verb that opens it); in groups, in the order of the stages (docs/design.md,
# "Stages").
NAVIGATION = (
    (
        _("Label"),
        (
            ("overview", _("Overview"), "project", "project.view"),
            ("board", _("Board"), "board", "progress.view"),
            ("work", _("My work"), "work", "claim"),
            ("adjudication", _("Adjudication"), "adjudication-queue", "disputes.view"),
            ("corrections", _("Corrections"), "corrections", "correct"),
            ("remarks", _("Remarks"), "remarks", "trajectory.list"),
            ("guidelines", _("Guidelines"), "guidelines", "project.view"),
            ("search", _("Search"), "search", "project.view"),
        ),
    ),
    (
        pgettext_lazy("navigation", "Data"),
        (
            ("import", pgettext_lazy("navigation", "Import"), "imports", "import"),
            ("trajectories", _("Trajectories"), "trajectories", "trajectory.list"),
            ("judges", _("Judges"), "judges", "judges.change"),
        ),
    ),
    (
        _("Results"),
        (
            ("agreement", _("Agreement"), "agreement", "agreement.view"),
            ("label-quality", _("Label quality"), "label-quality", "rechecks.view"),
            ("influence", _("Influence"), "influence", "influence.view"),
            ("releases", _("Releases"), "releases", "release.view"),
        ),
    ),
    (
        _("Project"),
        (
            ("members", _("Members"), "members", "members.change"),
            ("training", _("Training"), "training", "training.view"),
            ("settings", _("Settings"), "project-settings", "project.change"),
            ("audit", _("Audit log"), "audit", "audit.view"),
        ),
    ),
)

# sections that not every kind of project has
NEEDS = {"corrections": Feature.DERIVATION}
SECTIONS = {key: (title, url) for _group, entries in NAVIGATION for key, title, url, _verb in entries}


@dataclass(frozen=True)
class ProjectPage:
    """A project as one person sees it: the row, and the roles they hold in it."""

    request: HttpRequest
    project: Project
    roles: frozenset[Role]

    @property
    def user(self) -> User:
        """The signed-in person."""
        return cast(User, self.request.user)

    def may(self, verb: str) -> bool:
        """Whether one of the roles held opens what `verb` names (services ask again)."""
        return bool(self.roles & set(policies.VERBS[verb]))

    def navigation(self, section: str) -> list[dict[str, Any]]:
        """The groups of links that this person can use, with the present one marked."""
        groups = []
        for title, entries in NAVIGATION:
            items = [
                {
                    "icon": key,
                    "title": name,
                    "url": reverse(f"frontend:{url}", args=[self.project.slug]),
                    "current": key == section,
                }
                for key, name, url, verb in entries
                if self.may(verb) and self.project.of_kind.has(NEEDS.get(key))
            ]
            if items:
                groups.append({"title": title, "links": items})
        return groups

    def render(
        self,
        template: str,
        section: str,
        status: int = 200,
        *,
        title: str = "",
        trail: Sequence[tuple[str, str]] = (),
        **context: Any,
    ) -> HttpResponse:
        """The page, with project, roles and navigation beside what it shows.

        A page with a `title` of its own stands below its section and the places of `trail`, (title, address).
        """
        name, url = SECTIONS[section]
        known = {
            "project": self.project,
            "roles": self.roles,
            "is_admin": Role.ADMIN in self.roles,
            "is_annotator": Role.ANNOTATOR in self.roles,
            "is_adjudicator": Role.ADJUDICATOR in self.roles,
            "nav": self.navigation(section),
            "title": title or name,
            "trail": [(name, reverse(f"frontend:{url}", args=[self.project.slug])), *trail] if title else (),
            **context,
        }
        return render(self.request, f"frontend/{template}", known, status=status)


def person(request: HttpRequest) -> User:
    """The signed-in person (every page but the public ones has one)."""
    return cast(User, request.user)


def there(row: M | None) -> M:
    """The row that a `policies.lookups.Lookup` has found. Raises Http404 when it has found nothing."""
    if row is None:
        raise Http404
    return row


def open_project(request: HttpRequest, slug: str, verb: str = "project.view") -> ProjectPage:
    """The project of that slug: 404 when it may not be seen, Denied without the role. Two queries."""
    return page_of(request, there(visible_project(request.user, slug)), verb)


def page_of(request: HttpRequest, project: Project, verb: str = "project.view") -> ProjectPage:
    """The same for a project already at hand."""
    opened = ProjectPage(request, project, policies.roles(person(request), project))
    if not opened.may(verb):
        policies.require(request.user, verb, project)
    return opened


def receives_files(gate: Callable[..., int]) -> Callable[[View], View]:
    """Mark a page that receives files. `gate(user, **kwargs)` is asked before the body is read.

    It answers with the largest size, in bytes, or raises what the page would raise.
    """

    def mark(view: View) -> View:
        view.receives_files = gate  # type: ignore[attr-defined]
        return view

    return mark


def release_trail(slug: str, version: str, row: PredictionSet | None = None) -> list[tuple[str, str]]:
    """The trail to a page about a release, and about a model on it: (title, address) of each place."""
    trail = [(version, reverse("frontend:release", args=[slug, version]))]
    if row is not None:
        model = reverse("frontend:model", args=[slug, version, row.pk])
        trail += [leaderboard_place(slug, version), (readable(row.model), model)]
    return trail


def leaderboard_place(slug: str, version: str) -> tuple[str, str]:
    """The title and address of a leaderboard."""
    return gettext("Leaderboard"), reverse("frontend:leaderboard", args=[slug, version])


def may_send(user: User, slug: str, verb: str) -> None:
    """Raises Http404 or Denied as `open_project` does, before there is a page."""
    policies.require(user, verb, there(visible_project(user, slug)))


def paginate(
    request: HttpRequest,
    rows: QuerySet[Any] | list[Any],
    per_page: int = PER_PAGE,
    counted: int | None = None,
) -> Page[Any]:
    """One page of a list; a number out of range gives the nearest page there is. `counted`: the number of the
    rows, where it is known."""
    return BoundedPaginator(rows, per_page, counted).get_page(request.GET.get("page"))


def image_response(image: Image) -> HttpResponse:
    """An image as the bytes of a PNG, JPEG, GIF or WebP file and never anything else."""
    headers = {"Content-Disposition": "inline", "X-Content-Type-Options": "nosniff"}
    return HttpResponse(image.data, content_type=image.media_type, headers=headers)


def whole_number(request: HttpRequest, name: str) -> int | None:
    """A whole number of the form, None when the field is empty. Raises Invalid for anything else."""
    text = request.POST.get(name, "").strip()
    if not text:
        return None
    try:
        return int(text[:12])
    except ValueError as error:
        raise Invalid(
            gettext("This is not a whole number."), fields={name: gettext("This is not a whole number.")}
        ) from error
