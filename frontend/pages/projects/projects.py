"""Projects: the list, a new one, settings, guidelines, the audit log."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import truncatewords
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Invalid, Locked, StaleVersion
from annotation.language import translated
from annotation.models import Assignment, Guideline, Invitation, Membership, Project, Subset, User
from annotation.services import ingest, noted_reads
from annotation.services import projects as service
from frontend.forms import add_errors
from frontend.forms.projects import TURNS, CreateForm, GuidelinesForm, SettingsForm, SubsetForm
from frontend.pages.influence import influence
from frontend.pages.projects import members
from frontend.pages.shared.collision import Collision, collide, last_change
from frontend.pages.shared.common import ProjectPage, open_project, person
from frontend.pages.shared.list_page import Empty, ListPage, show_site
from frontend.rendering import markdown
from frontend.rendering.began import BEGAN, begun, read
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.tables import Column, at, cells
from frontend.rendering.text_diff import changes
from frontend.templatetags.tristep import state_name

WRITTEN = ("title", "text", "question", "excerpt")
"""The texts of an example."""


def _columns() -> list[Column]:
    def name(row: Project) -> str:
        link = cells.link(row.name, at("project", row.slug))
        return cells.lines(link, cells.soft(truncatewords(row.description, 24)) if row.description else "")

    def roles(row: Any) -> list[str]:
        return [role for member in row.own for role in member.roles]

    def badges(row: Any) -> str:
        held = [cells.badge(state_name(role)) for role in roles(row)]
        return cells.cluster(*held or [cells.badge(_("site admin"), "badge--outline")])

    return [
        Column("project", _("Project"), "slug", name, "main", "name"),
        Column("name"),
        Column("roles", _("Your roles"), lambda row: "; ".join(roles(row)), badges),
        Column("annotators", _("Annotators per trajectory"), "annotators_per_trajectory"),
        Column(
            "started",
            _("Started"),
            "created_at",
            lambda row: cells.when(row.created_at, "DATE_FORMAT"),
            sort="-created_at",
        ),
    ]


@require_GET
def projects(request: HttpRequest) -> HttpResponseBase:
    """The projects a person is a member of; all of them for a site admin."""
    user = person(request)
    own = Prefetch("memberships", Membership.objects.filter(user=user), to_attr="own")
    rows = policies.visible(user, Project.objects.prefetch_related(own))
    may_create = policies.allowed(user, "project.create")
    create = cells.link(_("New project"), at("project-create"), "button button--primary")
    about = _(
        "A project is one benchmark under construction: its data, its guidelines and the people who work on "
        "it."
    )
    ask = _("You are not a member of a project. Ask a project’s admin for an invitation.")
    empty = Empty(_("No projects yet"), about if may_create else ask)
    listed = ListPage(request, _columns(), rows, empty, order="name")
    return show_site(request, _("Projects"), listed, actions=[create] if may_create else [])


@never_cache
@require_http_methods(["GET", "POST"])
def create(request: HttpRequest) -> HttpResponseBase:
    """Start a project; its maker becomes its first admin, and sees the links of those invited, once."""
    user = person(request)
    policies.require(user, "project.create")
    own = policies.visible(user, Project.objects.order_by("name"))
    form = CreateForm(request.POST or None, projects=own)
    if "use" in request.POST:
        form = form.filled_from_origin()
    elif request.method == "POST" and form.is_valid():
        try:
            project, invited = _started(user, form)
        except Invalid as error:
            add_errors(form, error)
        else:
            if invited:
                messages.success(request, _("Project created. Pass the links on, and import trajectories."))
                return members.with_links(open_project(request, project.slug), invited)
            messages.success(request, _("Project created. Import trajectories, then invite annotators."))
            return redirect("frontend:project", project.slug)
    return render(
        request, "frontend/projects/create.html", {"form": form}, status=400 if form.errors else 200
    )


def _started(user: User, form: CreateForm) -> tuple[Project, list[tuple[Invitation, str]]]:
    """The project of a valid form, with the invitations to it."""
    values, copied = form.cleaned_data, form.copied
    start = ingest.start_with_examples if form.with_examples else service.start_project
    return start(
        actor=user,
        name=values["name"],
        slug=values["slug"],
        kind=form.of_kind.name,
        settings=form.settings(),
        people=service.people_listed(values["people"]),
        guidelines_of=copied if values.get("copy_guidelines") else None,
        members_of=copied if values.get("copy_members") else None,
    )


def _settings_form(opened: ProjectPage, values: dict[str, Any], given: QueryDict | None) -> SettingsForm:
    form = SettingsForm(given, initial=values, kind=opened.project.of_kind)
    if policies.visible(opened.user, Assignment.objects.filter(project=opened.project)).exists():
        form.fields["annotators_per_trajectory"].disabled = True
        form.fields["annotators_per_trajectory"].help_text = _(
            "Cannot be changed: a trajectory has been claimed, and all figures assume the same number "
            "of annotators."
        )
    return form


def _settings_page(
    opened: ProjectPage, form: SettingsForm, began: str, collision: Collision | None = None
) -> HttpResponse:
    subsets = policies.visible(opened.user, Subset.objects.filter(project=opened.project))
    return opened.render(
        "projects/settings.html",
        "settings",
        status=409 if collision else 400 if form.errors else 200,
        form=form,
        began=began,
        collision=collision,
        subsets=subsets,
        turns=TURNS,
        actions=[
            cells.link(_("Connections"), at("connections", opened.project.slug), "button"),
            cells.link(_("Webhooks"), at("webhooks", opened.project.slug), "button"),
        ],
        **influence.switches(opened),
    )


@require_http_methods(["GET", "POST"])
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """The settings of a project for its admins; N is fixed once a trajectory has been claimed."""
    opened = open_project(request, slug, "project.change")
    project = opened.project
    values = project.edited()
    if not request.POST:
        return _settings_page(opened, _settings_form(opened, values, None), begun(project.version, values))
    form = _settings_form(opened, values, request.POST)
    if form.is_valid():
        try:
            service.update_project(
                actor=opened.user,
                project=project,
                values=form.cleaned_data,
                version=read(request.POST).version,
            )
        except Invalid as error:
            add_errors(form, error)
        except StaleVersion:
            project.refresh_from_db()
            values = project.edited()
            collision = collide(opened, project, form, values, take=request.path)
            merged = _settings_form(opened, collision.values, None)
            return _settings_page(opened, merged, begun(project.version, values), collision)
        except Locked as error:
            form.add_error("annotators_per_trajectory", translated(error.message))
        else:
            messages.success(request, _("The settings are saved."))
            return redirect("frontend:project-settings", slug)
    return _settings_page(opened, form, request.POST.get(BEGAN, ""))


@require_POST
def subset(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change the effect of user messages on the propagation rule in one subset, and its turn in the queue."""
    opened = open_project(request, slug, "project.change")
    subsets = Subset.objects.filter(project=opened.project).select_related("project")
    row = get_object_or_404(policies.visible(opened.user, subsets), pk=pk)
    form = SubsetForm(request.POST)
    if form.is_valid():
        began = read(request.POST)
        try:
            service.update_subset(actor=opened.user, subset=row, **form.cleaned_data, version=began.version)
        except StaleVersion:
            row.refresh_from_db()
            theirs, take = row.edited(), reverse("frontend:project-settings", args=[slug])
            now = begun(row.version, theirs)
            collision = collide(opened, row, form, theirs, take=take, subject=row.name, began=now)
            values = opened.project.edited()
            shown = _settings_form(opened, values, None)
            return _settings_page(opened, shown, begun(opened.project.version, values), collision)
        messages.success(request, _("The subset %(name)s is saved.") % {"name": row.name})
    return redirect("frontend:project-settings", slug)


@require_GET
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """The guidelines in force, or an earlier version. An admin who opens those in force has read them: of
    annotators that is asked before their next label."""
    opened = open_project(request, slug)
    versions = list(
        policies.visible(opened.user, Guideline.objects.filter(project=opened.project))
        .order_by("-version")
        .select_related("created_by")
        .defer("text")
    )
    wanted = request.GET.get("version", "")
    shown = next((row for row in versions if str(row.version) == wanted), versions[0] if versions else None)
    before = None
    if shown is not None and "changes" in request.GET:
        older = policies.visible(opened.user, Guideline.objects.filter(project=opened.project))
        before = older.filter(version__lt=shown.version).order_by("-version").first()
    may_change = opened.may("project.change")
    if may_change and versions and shown == versions[0]:
        service.read_guidelines(actor=opened.user, guideline=shown)
    examples = noted_reads.examples(actor=opened.user, project=opened.project)
    return opened.render(
        "projects/guidelines.html",
        "guidelines",
        examples=[
            {
                "shown": one,
                **{name: escape_control_chars(getattr(one, name)) for name in WRITTEN},
            }
            for one in examples
        ],
        versions=versions,
        shown=shown,
        html=markdown.render(shown.text) if shown else "",
        before=before,
        changes=changes(before.text, shown.text) if shown and before else [],
        may_change=may_change,
    )


@require_http_methods(["GET", "POST"])
def guidelines_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Write a new version of the guidelines; "Preview" shows it without saving."""
    opened = open_project(request, slug, "project.change")
    rows = policies.visible(opened.user, Guideline.objects.filter(project=opened.project))
    newest = rows.order_by("-version").first()
    form = GuidelinesForm(request.POST or None, initial={"text": newest.text if newest else ""})
    # the number of the version that the text was made from; 0 for none
    began = request.POST.get(BEGAN, "") if request.method == "POST" else str(newest.version if newest else 0)
    preview, text, collision = None, "", None
    if request.method == "POST" and form.is_valid():
        text = form.cleaned_data["text"].replace("\r\n", "\n")
        if "preview" in request.POST:
            preview = markdown.render(text)
        else:
            based_on = int(began) if re.fullmatch("[0-9]{1,9}", began) else -1
            try:
                saved = service.write_guidelines(
                    actor=opened.user, project=opened.project, text=text, based_on=based_on
                )
            except StaleVersion:
                newest = rows.select_related("created_by").latest("version")
                collision = Collision(
                    last_change(opened, newest), request.path, changes=changes(newest.text, text)
                )
                form, began = GuidelinesForm(initial={"text": text}), str(newest.version)
            else:
                messages.success(
                    request, _("Version %(number)d is now the current one.") % {"number": saved.version}
                )
                return redirect("frontend:guidelines", slug)
    return opened.render(
        "projects/guidelines_edit.html",
        "guidelines",
        status=409 if collision else 400 if form.errors else 200,
        title=_("Write guidelines"),
        form=form,
        began=began,
        collision=collision,
        preview=preview,
        newest=newest,
        changes=changes(newest.text if newest else "", text) if preview is not None else [],
    )
