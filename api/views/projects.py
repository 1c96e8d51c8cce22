"""Projects, their guidelines, subsets, progress, board and audit log."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.kinds import STEPS
from annotation.models import AuditEvent, Guideline, Project, Subset
from annotation.policies import require, visible
from annotation.reports.work import board
from annotation.reports.work.hours import days_of_work, pay_of, zone_of
from annotation.reports.work.progress import progress
from annotation.services import ingest, projects

from ..serializers import projects as shapes
from .base import ProjectView, View, fetch


class Projects(View):
    """`/projects/`"""

    noun = "projects"

    @extend_schema(summary="List projects", responses=shapes.Project(many=True))
    def get(self, request: Request) -> Response:
        """The projects one is a member of (superusers: all), by name."""
        return self.page(visible(self.user, Project.objects.all()), shapes.Project)

    @extend_schema(summary="Create a project", request=shapes.NewProject, responses={201: shapes.Project})
    def post(self, request: Request) -> Response:
        """Start a project; its maker becomes an admin of it. For superusers."""
        body = self.parsed(shapes.NewProject)
        slug, template = body.pop("copy_from", ""), body.pop("template", "")
        source = fetch(self.user, Project.objects.all(), slug=slug) if slug else None
        name, guidelines = body.pop("name"), body.pop("guidelines", None)
        kind = body.pop("kind", source.kind if source else STEPS.name)
        defaults = kind == STEPS.name and guidelines is None and source is None
        examples = body.pop("training_examples", defaults)
        start = ingest.start_with_examples if examples else projects.start_project
        made, _none = start(
            actor=self.user,
            name=name,
            slug=body.pop("slug", ""),
            kind=kind,
            settings={**projects.settings_from(template=template, project=source, kind=kind), **body},
            guidelines=guidelines,
            guidelines_of=source if guidelines is None else None,
        )
        return Response(shapes.Project(made).data, status=status.HTTP_201_CREATED)


class OneProject(ProjectView):
    """`/projects/<slug>/`"""

    noun = "projects"

    @extend_schema(summary="Look at a project", responses=shapes.Project)
    def get(self, request: Request, slug: str) -> Response:
        """A project and its settings."""
        return Response(shapes.Project(self.project()).data)

    @extend_schema(
        summary="Change a project's settings", request=shapes.ProjectChange, responses=shapes.Project
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change settings; what is left out stays. For admins. The number of annotators is locked (409) after
        the first claim. With `version`, nothing is saved (409) if somebody else has changed them since."""
        project = self.project()
        values = self.parsed(shapes.ProjectChange)
        version = values.pop("version", None)
        changed = projects.update_project(actor=self.user, project=project, values=values, version=version)
        return Response(shapes.Project(changed).data)


class Guidelines(ProjectView):
    """`/projects/<slug>/guidelines/`"""

    noun = "guidelines"

    @extend_schema(summary="List versions of the guidelines", responses=shapes.Guideline(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """All versions, the newest, which is in force, first."""
        rows = Guideline.objects.filter(project=self.project()).order_by("-version")
        return self.page(visible(self.user, rows), shapes.Guideline)

    @extend_schema(summary="Write guidelines", request=shapes.NewGuideline, responses={201: shapes.Guideline})
    def post(self, request: Request, slug: str) -> Response:
        """Put a new version in force. For admins. The same text again makes no new version."""
        project = self.project()
        made = projects.write_guidelines(actor=self.user, project=project, **self.parsed(shapes.NewGuideline))
        return Response(shapes.Guideline(made).data, status=status.HTTP_201_CREATED)


class Subsets(ProjectView):
    """`/projects/<slug>/subsets/`"""

    noun = "subsets"

    @extend_schema(summary="List subsets", responses=shapes.Subset(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The subsets of a project, by name."""
        rows = Subset.objects.filter(project=self.project()).order_by("name")
        return self.page(visible(self.user, rows), shapes.Subset)

    @extend_schema(summary="Create a subset", request=shapes.NewSubset, responses={201: shapes.Subset})
    def post(self, request: Request, slug: str) -> Response:
        """Make an empty subset, or set up the one of that name. For admins."""
        project = self.project()
        made = projects.ensure_subset(actor=self.user, project=project, **self.parsed(shapes.NewSubset))
        return Response(shapes.Subset(made).data, status=status.HTTP_201_CREATED)


class OneSubset(ProjectView):
    """`/projects/<slug>/subsets/<name>/`"""

    noun = "subsets"

    def _found(self, name: str) -> Subset:
        rows = Subset.objects.filter(project=self.project()).select_related("project")
        return fetch(self.user, rows, name=name)

    @extend_schema(summary="Look at a subset", responses=shapes.Subset)
    def get(self, request: Request, slug: str, name: str) -> Response:
        """One subset."""
        return Response(shapes.Subset(self._found(name)).data)

    @extend_schema(summary="Change a subset", request=shapes.SubsetChange, responses=shapes.Subset)
    def patch(self, request: Request, slug: str, name: str) -> Response:
        """Change how the propagation rule treats user messages in it, and when its trajectories come. For
        admins."""
        subset = self._found(name)
        changed = projects.update_subset(actor=self.user, subset=subset, **self.parsed(shapes.SubsetChange))
        return Response(shapes.Subset(changed).data)


class Progress(ProjectView):
    """`/projects/<slug>/progress/`"""

    noun = "projects"

    @extend_schema(summary="Follow the progress", responses=shapes.Progress)
    def get(self, request: Request, slug: str) -> Response:
        """Trajectories by subset and state. For admins."""
        return Response(shapes.Progress(progress(actor=self.user, project=self.project())).data)


class Board(ProjectView):
    """`/projects/<slug>/board/`"""

    noun = "board"

    @extend_schema(summary="Follow the work", responses=shapes.Board)
    def get(self, request: Request, slug: str) -> Response:
        """The work of each person, its pace, its expected end, and its cost. For admins."""
        project, zone = self.project(), zone_of(self.user)
        figures = board.board(actor=self.user, project=project, zone=zone)
        shown = {name: getattr(figures, name) for name in shapes.BOARD}
        return Response(shapes.Board({**shown, "pay": pay_of(project), "time_zone": str(zone)}).data)


class OwnWork(ProjectView):
    """`/projects/<slug>/own-work/`"""

    noun = "board"

    @extend_schema(summary="Look at my work", responses=shapes.OwnWork)
    def get(self, request: Request, slug: str) -> Response:
        """My own part of the board: hours, counts and pay. For annotators."""
        project, zone = self.project(), zone_of(self.user)
        own, paces = board.own_part(actor=self.user, project=project, zone=zone)
        shown = {"own": own, "paces": paces, "pay": own.paid, "time_zone": str(zone)}
        return Response(shapes.OwnWork(shown).data)


class Hours(ProjectView):
    """`/projects/<slug>/hours/`"""

    noun = "board"

    @extend_schema(
        summary="List days of work",
        parameters=[shapes.HoursFilter],
        responses=shapes.DayOfWork(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Hours, submissions and pay by day and person, the latest first. Admins see everybody's, annotators
        their own."""
        project, asked, zone = self.project(), self.query(shapes.HoursFilter), zone_of(self.user)
        today = timezone.now().astimezone(zone).date()
        rows = days_of_work(
            actor=self.user,
            project=project,
            last=today,
            days=asked["days"],
            zone=zone,
            person=asked["person"],
        )
        return self.page(rows, shapes.DayOfWork)


class Audit(ProjectView):
    """`/projects/<slug>/audit/`"""

    noun = "audit"

    @extend_schema(summary="Read the audit log", responses=shapes.AuditEvent(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Events of the audit log, the newest first. For admins."""
        project = self.project()
        require(self.user, "audit.view", project)
        rows = visible(self.user, AuditEvent.objects.filter(project=project)).select_related("actor")
        return self.page(rows, shapes.AuditEvent)
