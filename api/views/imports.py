"""Importing trajectory files."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.label_files import MAX_REQUEST
from annotation.importers.options import ReadOptions
from annotation.models import EDITED_FORMAT, ImportFile, Project, User
from annotation.policies import require, visible
from annotation.services import ingest, label, suggest

from ..parsers import FormData, RawFile, RawJSONLines, Upload
from ..serializers import imports as shapes
from ..serializers.judges import SuggestionImport
from .base import ProjectView, View, fetch

RAW_OPTIONS = [
    OpenApiParameter("filename", str, description="Raw uploads: the file's name."),
    OpenApiParameter("subset", str, description="Raw uploads: as in the form."),
    OpenApiParameter("format", str, description="Raw uploads: as in the form."),
    OpenApiParameter("replace", bool, description="Raw uploads: as in the form."),
    OpenApiParameter("policy_models", str, description="Raw uploads: as in the form."),
    OpenApiParameter("preview", bool, description="Raw uploads: as in the form."),
    OpenApiParameter("task_key_at", str, description="Raw uploads: as in the form."),
    OpenApiParameter("policy_model_at", str, description="Raw uploads: as in the form."),
    OpenApiParameter("redact", bool, description="Raw uploads: as in the form."),
]
LABEL_OPTIONS = [
    OpenApiParameter(name, str, description="Raw uploads: as in the form.")
    for name in ("filename", "annotator", "name", "subset")
] + [OpenApiParameter("preview", bool, description="Raw uploads: as in the form.")]


class Imports(ProjectView):
    """`/projects/<slug>/imports/`"""

    noun = "imports"
    parser_classes = [FormData, RawFile, RawJSONLines]
    throttle_scope = "costly"

    @staticmethod
    def receives_files(user: User, slug: str) -> int:
        """The permission to import, and the largest size: asked before the body is read."""
        require(user, "import", fetch(user, Project.objects.all(), slug=slug))
        return int(settings.MAX_UPLOAD_BYTES)

    def get_throttles(self) -> list[Any]:
        """Looking is not costly; uploading is."""
        self.throttle_scope = "costly" if self.request.method == "POST" else ""
        return super().get_throttles()

    @extend_schema(summary="List imports", responses=shapes.Import(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The imports of a project, the newest first. For admins."""
        project = self.project()
        require(self.user, "import", project)
        rows = visible(self.user, ImportFile.objects.filter(project=project).exclude(format=EDITED_FORMAT))
        return self.page(rows.select_related("subset").defer("errors"), shapes.Import)

    @extend_schema(
        summary="Import a file",
        parameters=RAW_OPTIONS,
        request={
            "multipart/form-data": shapes.UploadForm,
            "application/octet-stream": OpenApiTypes.BINARY,
            "application/x-ndjson": OpenApiTypes.BINARY,
        },
        responses={202: shapes.Import},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a file: as a form, or as the whole body with its options in the query. For admins. It is
        read in the background, all of it or nothing: follow the address in `Location`."""
        project = self.project()
        require(self.user, "import", project)
        file, options = self.uploaded(raw=shapes.RawOptions, form=shapes.ImportOptions)
        source = ingest.receive_file(**_received(self.user, project, file, options))
        where = reverse("api:import", args=[source.pk])
        return Response(
            shapes.Import(source).data, status=status.HTTP_202_ACCEPTED, headers={"Location": where}
        )


class LabelFiles(ProjectView):
    """`/projects/<slug>/imports/labels/`"""

    noun = "imports"
    parser_classes = [FormData, RawFile, RawJSONLines]
    throttle_scope = "costly"

    @staticmethod
    def receives_files(user: User, slug: str) -> int:
        """The permission to import, and the largest size: asked before the body is read."""
        require(user, "import", fetch(user, Project.objects.all(), slug=slug))
        return MAX_REQUEST

    @extend_schema(
        summary="Import a person's labels",
        parameters=LABEL_OPTIONS,
        request={
            "multipart/form-data": shapes.LabelUpload,
            "application/octet-stream": OpenApiTypes.BINARY,
            "application/x-ndjson": OpenApiTypes.BINARY,
        },
        responses={202: shapes.Import},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a label file: as a form, or as the whole body with its options in the query. For admins. It
        becomes the submitted work of one person in the background, all of it or nothing: follow the address
        in `Location`."""
        project = self.project()
        require(self.user, "import", project)
        file, options = self.uploaded(raw=shapes.RawLabelOptions, form=shapes.LabelOptions)
        source = label.receive_labels(
            actor=self.user,
            project=project,
            filename=file.name or "upload",
            chunks=file.chunks(),
            annotator=options["annotator"],
            name=options["name"],
            subset=options["subset"],
            enqueue=not options["preview"],
        )
        where = reverse("api:import", args=[source.pk])
        return Response(
            shapes.Import(source).data, status=status.HTTP_202_ACCEPTED, headers={"Location": where}
        )


class LabelPreview(View):
    """`/imports/<id>/label-preview/`"""

    noun = "imports"
    throttle_scope = "costly"

    @extend_schema(summary="Preview an import of labels", responses=shapes.LabelPreview)
    def get(self, request: Request, pk: int) -> Response:
        """A preview of a waiting label file from its beginning: at most 200 lines are read, and no label is
        shown. For admins."""
        preview = label.look_at_labels(actor=self.user, source=_found(self, pk))
        return Response(shapes.LabelPreview(preview).data)


class Archives(ProjectView):
    """`/projects/<slug>/imports/archive/`"""

    noun = "imports"
    parser_classes = [FormData, RawFile]
    throttle_scope = "costly"
    receives_files = Imports.receives_files

    @extend_schema(
        summary="Import an archive of files",
        parameters=RAW_OPTIONS,
        request={"multipart/form-data": shapes.UploadForm, "application/octet-stream": OpenApiTypes.BINARY},
        responses={202: shapes.ReceivedArchive},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a zip archive of logs, as a form or as the whole body. For admins. Each file in it is imported
        on its own, all of it or nothing; one of no known format is refused by name, and the others go on."""
        project = self.project()
        require(self.user, "import", project)
        file, options = self.uploaded(raw=shapes.RawOptions, form=shapes.ImportOptions)
        received = ingest.receive_upload(**_received(self.user, project, file, options))
        counts = {
            "imports": received.files,
            "refused": [{"filename": name, "reason": reason} for name, reason in received.refused],
        }
        return Response(shapes.ReceivedArchive(counts).data, status=status.HTTP_202_ACCEPTED)


def _received(user: User, project: Project, file: UploadedFile | Upload, options: dict[str, Any]) -> Any:
    """The arguments of the service for an upload."""
    name = file.name or "upload"
    return {
        "actor": user,
        "project": project,
        "subset": options.get("subset") or ingest.default_subset(name),
        "filename": name,
        "chunks": file.chunks(),
        "format": options.get("format", ""),
        "replace": options["replace"],
        "policy_models": options.get("policy_models"),
        "options": ReadOptions.of(options),
        "enqueue": not options["preview"],
    }


def _found(view: View, pk: int) -> ImportFile:
    return fetch(view.user, ImportFile.objects.select_related("project", "subset"), pk=pk)


class Import(View):
    """`/imports/<id>/`"""

    noun = "imports"

    @extend_schema(summary="Follow an import", responses=shapes.ImportDetail)
    def get(self, request: Request, pk: int) -> Response:
        """Its state, its progress in bytes, and everything that is wrong with the file. For admins."""
        return Response(shapes.ImportDetail(_found(self, pk)).data)


class Preview(View):
    """`/imports/<id>/preview/`"""

    noun = "imports"
    throttle_scope = "costly"

    @extend_schema(summary="Preview an import", responses=shapes.ImportPreview)
    def get(self, request: Request, pk: int) -> Response:
        """A preview of a waiting file from its beginning: at most 50 records of it are read. For admins."""
        source = _found(self, pk)
        return Response(shapes.ImportPreview(ingest.look_at(actor=self.user, source=source)).data)


class Suggestions(View):
    """`/imports/<id>/suggestions/`"""

    noun = "imports"
    throttle_scope = "costly"

    @extend_schema(
        summary="Make labels in a file suggestions", request=shapes.JudgeName, responses=SuggestionImport
    )
    def post(self, request: Request, pk: int) -> Response:
        """Labels, scores and verdicts that stood in the file of a published import become, as far as they can
        be read, what a judge of that name suggests. For admins."""
        source = _found(self, pk)
        name = self.parsed(shapes.JudgeName)["judge"]
        done = suggest.suggest_source_labels(actor=self.user, source=source, judge_name=name)
        return Response(SuggestionImport(done).data)


class Start(View):
    """`/imports/<id>/start/`"""

    noun = "imports"

    @extend_schema(summary="Start a previewed import", request=None, responses={202: shapes.ImportDetail})
    def post(self, request: Request, pk: int) -> Response:
        """Import a file that was uploaded with `preview`. For admins."""
        source = _found(self, pk)
        ingest.start(actor=self.user, source=source)
        source.refresh_from_db()
        return Response(shapes.ImportDetail(source).data, status=status.HTTP_202_ACCEPTED)


class Abandon(View):
    """`/imports/<id>/abandon/`"""

    noun = "imports"

    @extend_schema(summary="Abandon an import", request=None, responses=shapes.ImportDetail)
    def post(self, request: Request, pk: int) -> Response:
        """Stop an import that has not ended; what it has written is swept away. For admins."""
        source = _found(self, pk)
        ingest.abandon(actor=self.user, source=source)
        source.refresh_from_db()
        return Response(shapes.ImportDetail(source).data)


class DiscardPreviews(ProjectView):
    """`/projects/<slug>/imports/discard-previews/`"""

    noun = "imports"

    @extend_schema(summary="Discard all previews", request=None, responses=shapes.Discarded)
    def post(self, request: Request, slug: str) -> Response:
        """Abandon all files that were uploaded with `preview` and are not imported yet. For admins."""
        rows = ingest.discard_previews(actor=self.user, project=self.project())
        return Response({"discarded": len(rows)})
