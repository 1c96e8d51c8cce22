"""Connections to servers where runs lie: set up, pulled over, pushed over."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Connection, Release, Transfer
from annotation.policies import require, visible
from annotation.services import connections

from ...serializers.connections import transfers as shapes
from ..base import ProjectView, fetch


class ConnectionView(ProjectView):
    """A view of connections, for the project's admins."""

    noun = "connections"

    def found(self, pk: int) -> Connection:
        """One connection of the project. Raises Denied to whoever is no admin, NotFound."""
        project = self.project()
        require(self.user, "connections.change", project)
        return fetch(self.user, Connection.objects.filter(project=project).select_related("project"), pk=pk)

    def transfer(self, pk: int) -> Transfer:
        """One transfer of the project. Raises as `found` does."""
        project = self.project()
        require(self.user, "connections.change", project)
        rows = Transfer.objects.filter(project=project).select_related("project", "connection", "release")
        return fetch(self.user, rows, pk=pk)


class Connections(ConnectionView):
    """`/projects/<slug>/connections/`"""

    @extend_schema(summary="List connections", responses=shapes.Connection(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The connections of a project. For admins."""
        project = self.project()
        require(self.user, "connections.change", project)
        return self.page(visible(self.user, Connection.objects.filter(project=project)), shapes.Connection)

    @extend_schema(
        summary="Make a connection", request=shapes.NewConnection, responses={201: shapes.Connection}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Connect a project to a server that the operator allows; it is not called yet. For admins."""
        values = self.parsed(shapes.NewConnection)
        made = connections.create_connection(actor=self.user, project=self.project(), **values)
        return Response(shapes.Connection(made).data, status=status.HTTP_201_CREATED)


class OneConnection(ConnectionView):
    """`/projects/<slug>/connections/<id>/`"""

    @extend_schema(summary="Look at a connection", responses=shapes.Connection)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One connection. For admins."""
        return Response(shapes.Connection(self.found(pk)).data)

    @extend_schema(
        summary="Change a connection", request=shapes.ConnectionSettings, responses=shapes.Connection
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change a connection. Conflict (`has_pushed`) for another place while own labels lie on the present
        one. For admins."""
        values = self.parsed(shapes.ConnectionSettings)
        row = connections.update_connection(actor=self.user, connection=self.found(pk), values=values)
        return Response(shapes.Connection(row).data)

    @extend_schema(summary="Delete a connection", request=None, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Forget a connection: what was pulled stays here, and what was pushed stays there. For admins."""
        connections.delete_connection(actor=self.user, connection=self.found(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Transfers(ConnectionView):
    """`/projects/<slug>/connections/<id>/transfers/`"""

    @extend_schema(summary="List the transfers of a connection", responses=shapes.Transfer(many=True))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """The newest first. For admins."""
        rows = Transfer.objects.filter(connection=self.found(pk)).select_related("release")
        return self.page(visible(self.user, rows), shapes.Transfer)

    @extend_schema(summary="Pull or push", request=shapes.NewTransfer, responses={201: shapes.Transfer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Queue a pull of what is new, or a push of the consensus to the spans of the steps, or of a release
        to
        a store; with `dry` only say what it would do. Conflict (`at_work`) while another transfer is under
        way. For admins."""
        asked, connection = self.parsed(shapes.NewTransfer), self.found(pk)
        version = asked.pop("release")
        release = None
        if version:
            rows = Release.objects.filter(project=connection.project).select_related("project")
            release = fetch(self.user, rows, version=version)
        made = connections.ask_for(actor=self.user, connection=connection, release=release, **asked)
        return Response(shapes.Transfer(made).data, status=status.HTTP_201_CREATED)


class OneTransfer(ConnectionView):
    """`/projects/<slug>/connections/transfers/<id>/`"""

    @extend_schema(summary="Look at a transfer", responses=shapes.Transfer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Its progress, its counts, and the first 1,000 that were left out. For admins."""
        return Response(shapes.Transfer(self.transfer(pk)).data)


class StopTransfer(ConnectionView):
    """`/projects/<slug>/connections/transfers/<id>/stop/`"""

    @extend_schema(summary="Stop a transfer", request=None, responses=shapes.Transfer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """A pull has brought nothing then; a push leaves what it has pushed, and the next one goes on. For
        admins; 409 when it has ended."""
        row = self.transfer(pk)
        connections.cancel(actor=self.user, transfer=row)
        row.refresh_from_db()
        return Response(shapes.Transfer(row).data)
