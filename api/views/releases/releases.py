"""Frozen releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.errors import NotFound
from annotation.core.releases.exports import BY_NAME, export_options
from annotation.core.releases.exports.formats.base import ZEROS
from annotation.core.releases.exports.formats.protocols import PROTOCOLS
from annotation.core.releases.record_format import MANIFEST, PUBLIC_KEY, SIGNATURE
from annotation.core.releases.statistics import statistics_json
from annotation.models import Freeze as FreezeRow
from annotation.models import Project, Release
from annotation.policies import require, visible
from annotation.services import derive
from annotation.services import release as releases

from ...serializers import derivations as derived
from ...serializers import releases as shapes
from ...serializers.imports import Import
from ..base import ProjectView, View, fetch

RELEASES = Release.objects.select_related("project", "withdrawal", "public_release")


class Releases(ProjectView):
    """`/projects/<slug>/releases/`"""

    noun = "releases"
    throttle_scope = "costly"

    def get_throttles(self) -> list:
        """Looking is not costly; freezing is."""
        self.throttle_scope = "costly" if self.request.method == "POST" else ""
        return super().get_throttles()

    @extend_schema(summary="List releases", responses=shapes.Release(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The releases of a project, the newest first. For adjudicators and admins."""
        project = self.project()
        require(self.user, "release.view", project)
        rows = visible(self.user, RELEASES.filter(project=project)).order_by("-number")
        return self.page(rows.defer("manifest"), shapes.Release)

    @extend_schema(summary="Freeze a release", request=shapes.NewRelease, responses={202: shapes.Freeze})
    def post(self, request: Request, slug: str) -> Response:
        """Freeze everything that is resolved, in the background: follow the address in `Location`. For
        admins. Conflict (`version_taken`) when there is a release of this version, or (`freezing`) while
        another one is being frozen; the same asked for twice freezes once."""
        project = self.project()
        job = releases.start_freeze(actor=self.user, project=project, **self.parsed(shapes.NewRelease))
        where = reverse("api:freeze", args=[job.pk])
        return Response(shapes.Freeze(job).data, status=status.HTTP_202_ACCEPTED, headers={"Location": where})


def _freeze(view: View, pk: int) -> FreezeRow:
    return fetch(view.user, FreezeRow.objects.select_related("project", "release"), pk=pk)


class Freeze(View):
    """`/freezes/<id>/`"""

    noun = "releases"

    @extend_schema(summary="Follow the freezing of a release", responses=shapes.Freeze)
    def get(self, request: Request, pk: int) -> Response:
        """The progress of a freeze; in the end the version of the release, or the reason why there is none.
        For admins."""
        return Response(shapes.Freeze(_freeze(self, pk)).data)


class CancelFreeze(View):
    """`/freezes/<id>/cancel/`"""

    noun = "releases"

    @extend_schema(summary="Stop the freezing of a release", request=None, responses=shapes.Freeze)
    def post(self, request: Request, pk: int) -> Response:
        """Stop it as long as the release is not frozen; nothing of it stays. For admins."""
        releases.cancel_freeze(actor=self.user, job=_freeze(self, pk))
        return Response(shapes.Freeze(_freeze(self, pk)).data)


class Frozen(ProjectView):
    """Addresses of one release."""

    noun = "releases"

    def release(self, version: str) -> Release:
        """The release of that version."""
        project = self.project()
        require(self.user, "release.view", project)
        return fetch(self.user, RELEASES.filter(project=project), version=version)


class OneRelease(Frozen):
    """`/projects/<slug>/releases/<version>/`"""

    @extend_schema(summary="Look at a release", responses=shapes.ReleaseDetail)
    def get(self, request: Request, slug: str, version: str) -> Response:
        """A release with its manifest."""
        return Response(shapes.ReleaseDetail(self.release(version)).data)


class Derivations(Frozen):
    """`/projects/<slug>/releases/<version>/decisions/`"""

    reading_may_conflict = True
    throttle_scope = "costly"

    def _asked(self, version: str, options: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments of the service."""
        return {
            "actor": self.user,
            "release": self.release(version),
            "project": fetch(self.user, Project.objects.all(), slug=options.pop("into")),
            "request": derive.DerivationRequest.of(**options),
        }

    @extend_schema(
        summary="Preview derived decisions",
        parameters=[derived.PreviewedDerivation],
        responses=derived.DerivationPreview,
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        """A preview of a derivation, with the number of items for which too few people would be left; nothing
        is stored. For admins of both projects. Conflict (`nothing_to_derive`; `too_large` for a release of
        more than 2,000 trajectories, which are counted while they are derived)."""
        preview = derive.preview_derivation(**self._asked(version, self.query(derived.PreviewedDerivation)))
        return Response(derived.DerivationPreview(preview.as_json()).data)

    @extend_schema(summary="Derive decisions", request=derived.NewDerivation, responses={202: Import})
    def post(self, request: Request, slug: str, version: str) -> Response:
        """Derive decisions into a set of another project, in the background, all of it or nothing: follow the
        address in `Location`, where the counts stand among the notes. For admins of both projects. Whoever
        labelled, discussed or decided an item's source cannot claim the item; where that leaves too few, the
        import fails unless `anyway` is given."""
        options = self.parsed(derived.NewDerivation)
        subset = options.pop("set")
        source = derive.derive(subset=subset, **self._asked(version, options))
        where = reverse("api:import", args=[source.pk])
        return Response(Import(source).data, status=status.HTTP_202_ACCEPTED, headers={"Location": where})


class Statistics(Frozen):
    """`/projects/<slug>/releases/<version>/statistics/`"""

    reading_may_conflict = True
    throttle_scope = "costly"

    @extend_schema(summary="Read the statistics of a release", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, version: str) -> Response:
        """Labels and outcomes by subset and policy model; success rates beside the shares of +1; labels and
        lengths by outcome; reasons at the roots of errors; lengths and places of first errors. For
        adjudicators and admins. Conflict (`damaged`) when a record of the release cannot be read."""
        figures = releases.statistics(actor=self.user, release=self.release(version))
        return Response(statistics_json(figures))


class Verify(Frozen):
    """`/projects/<slug>/releases/<version>/verify/`"""

    throttle_scope = "costly"

    @extend_schema(summary="Verify a release", request=None, responses=shapes.Verification)
    def post(self, request: Request, slug: str, version: str) -> Response:
        """Recompute every checksum, compare the labels with the records, and check the signature. Changes
        nothing."""
        verification = releases.verify(actor=self.user, release=self.release(version))
        return Response(shapes.Verification(verification).data)


class Document(Frozen):
    """A file that goes with an export."""

    def document(self, version: str, name: str, content_type: str) -> HttpResponse:
        """The file `name`. Raises NotFound for a release that has none."""
        content = releases.documents(self.release(version)).get(name)
        if content is None:
            raise NotFound(_("This release is not signed: it was frozen before releases were signed."))
        return HttpResponse(
            content,
            content_type=content_type,
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


class Manifest(Document):
    """`/projects/<slug>/releases/<version>/manifest.json`"""

    @extend_schema(summary="Download the manifest", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, version: str) -> HttpResponse:
        """The manifest as the file that goes with an export."""
        return self.document(version, MANIFEST, "application/json")


class ManifestSignature(Document):
    """`/projects/<slug>/releases/<version>/manifest.json.sig`"""

    @extend_schema(
        summary="Download the signature", responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponse:
        """The Ed25519 signature of `manifest.json`, 64 bytes; 404 for a release frozen before there were
        signatures."""
        return self.document(version, SIGNATURE, "application/octet-stream")


class ReleaseKey(Document):
    """`/projects/<slug>/releases/<version>/release-key.pem`"""

    @extend_schema(
        summary="Download the public key",
        responses={(200, "application/x-pem-file"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, version: str) -> HttpResponse:
        """The public key that the release names, as PEM. Compare its fingerprint with one that was published
        elsewhere: a key that comes with what it signed proves nothing by itself."""
        return self.document(version, PUBLIC_KEY, "application/x-pem-file")


class Export(Frozen):
    """`/projects/<slug>/releases/<version>/export/<subset>.jsonl`"""

    reading_may_conflict = True

    throttle_scope = "costly"

    @extend_schema(
        summary="Download a subset", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, slug: str, version: str, subset: str) -> StreamingHttpResponse:
        """The records of one subset in exactly the AgentProcessBench shape, streamed."""
        release = self.release(version)
        lines = releases.export_lines(actor=self.user, release=release, subset=subset)
        first = next(lines, None)
        if first is None:
            raise NotFound(_("There is no such subset in this release."))
        return StreamingHttpResponse(
            _chain(first, lines),
            content_type="application/x-ndjson",
            headers={
                "Content-Disposition": f'attachment; filename="{subset}.jsonl"',
                "X-Content-Type-Options": "nosniff",
            },
        )


def _chain(first: tuple[str, bytes], rest: Iterator[tuple[str, bytes]]) -> Iterator[bytes]:
    yield first[1]
    for _subset, line in rest:
        yield line


CHOICES = [
    OpenApiParameter(
        "format", str, enum=list(BY_NAME), description="What is exported; without, AgentProcessBench."
    ),
    OpenApiParameter("split", str, description="The share of each subset's tasks for testing, such as 0.2."),
    OpenApiParameter("seed", str, description="Decides which tasks these are; 0 unless asked otherwise."),
    OpenApiParameter(
        "protocol",
        str,
        enum=list(PROTOCOLS),
        description="Whether consequences of an error are −1 or without a label.",
    ),
    OpenApiParameter(
        "zero", str, enum=list(ZEROS), description="What becomes of the label 0 in a training set."
    ),
    OpenApiParameter(
        "blind_labels",
        str,
        enum=["true", "false"],
        description="With what each annotator said blind, under pseudonyms. For admins.",
    ),
]


class Archive(Frozen):
    """`/projects/<slug>/releases/<version>/all.zip`"""

    reading_may_conflict = True
    throttle_scope = "costly"

    @extend_schema(
        summary="Download all files of a release",
        parameters=CHOICES,
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, version: str) -> StreamingHttpResponse:
        """Every file of an export in one ZIP file, streamed; the same bytes each time. Without choices these
        are the AgentProcessBench files; `huggingface` and `training` are data sets in Parquet with card,
        Croissant and signed checksums. `verify_release --path` checks the unpacked folder."""
        release = self.release(version)
        options = export_options(request.query_params.dict())
        return StreamingHttpResponse(
            releases.export_zip(actor=self.user, release=release, options=options),
            content_type="application/zip",
            headers={
                "Content-Disposition": f'attachment; filename="{slug}-{release.version}.zip"',
                "X-Content-Type-Options": "nosniff",
            },
        )


class Withdraw(Frozen):
    """`/projects/<slug>/releases/<version>/withdraw/`"""

    @extend_schema(summary="Withdraw a release", request=shapes.Withdraw, responses=shapes.ReleaseDetail)
    def post(self, request: Request, slug: str, version: str) -> Response:
        """Say that a release is faulty, and why. For admins. The release itself stays as it is."""
        row = self.release(version)
        releases.withdraw(actor=self.user, release=row, **self.parsed(shapes.Withdraw))
        return Response(shapes.ReleaseDetail(self.release(version)).data)
