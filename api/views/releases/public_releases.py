"""The public address of a release: its switches, for admins; and what everybody reads while it is on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from typing import Any

from django.urls import reverse
from django.utils.cache import get_conditional_response
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.releases.statistics import statistics_json
from annotation.core.text import unescape
from annotation.models import Release
from annotation.policies import published, require
from annotation.reports.evaluation.public_releases import as_json, public_leaderboard
from annotation.services import release as service

from ...serializers import releases as shapes
from ..base import View, only_row
from .releases import Frozen

# of the manifest, what a reader wants to know at a glance; all of it is a file of its own
STATED = (
    *("name", "title", "licence", "version", "number", "format", "created_at", "digest", "records", "labels"),
    *("label_distribution", "outcome_distribution", "label_kinds", "subsets", "agreement"),
    *("annotators_per_trajectory", "guideline_version", "software_version"),
)


class PublicAddress(Frozen):
    """`/projects/<slug>/releases/<version>/public/`"""

    @extend_schema(summary="Look at the public address of a release", responses=shapes.PublicAddress)
    def get(self, request: Request, slug: str, version: str) -> Response:
        """Whether everybody may read a release, where, and what of it. For adjudicators and admins."""
        return self._shown(self.release(version))

    @extend_schema(
        summary="Switch the public address of a release on or off",
        request=shapes.SetPublicAddress,
        responses=shapes.PublicAddress,
    )
    def patch(self, request: Request, slug: str, version: str) -> Response:
        """Let everybody read a release, with all its files, or nobody again; it is off until somebody
        switches it on. For admins."""
        release = self.release(version)
        require(self.user, "release.publish", release)
        switches = replace(service.switches(release), **self.parsed(shapes.SetPublicAddress))
        service.set_public(actor=self.user, release=release, switches=switches)
        return self._shown(self.release(version))

    def _shown(self, release: Release) -> Response:
        place = reverse("frontend:public-release", args=[release.project.slug, release.version])
        address = self.request.build_absolute_uri(place)
        return Response(shapes.PublicAddress({**asdict(service.switches(release)), "address": address}).data)


class PublicRelease(View):
    """`/public/<slug>/<version>/`"""

    noun = "releases"
    permission_classes = [AllowAny]
    throttle_scope = "public"
    reading_may_conflict = True

    @extend_schema(summary="Read a public release", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str, version: str) -> Response:
        """The public part of a release whose public address is on: counts, distributions, statistics,
        checksums and addresses of its files, its withdrawal, and the leaderboard where that is shown (null:
        it is not). Nobody needs to be signed in."""
        rows = Release.objects.select_related("project", "withdrawal", "public_release")
        release = only_row(published(rows).filter(project__slug=slug, version=version.replace("\x00", "")))
        document = self._found(release)
        written = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
        etag = f'"{written[:32]}"'
        answer: Any = get_conditional_response(request._request, etag=etag) or Response(document)
        answer["ETag"] = etag
        answer["Cache-Control"] = "public, no-cache"
        if not release.public_release.may_be_indexed:
            answer["X-Robots-Tag"] = "noindex, nofollow"
        return answer

    def _found(self, release: Release) -> dict[str, Any]:
        manifest = release.parsed_manifest()
        board = public_leaderboard(release)
        withdrawal = getattr(release, "withdrawal", None)
        return {
            **{key: manifest.get(key) for key in STATED},
            "note": unescape(release.note),
            "withdrawal": None if withdrawal is None else dict(shapes.Withdrawal(withdrawal).data),
            "signature": dict(shapes.Signature(service.check_release(release)).data),
            "files": self._files(release, manifest),
            "statistics": statistics_json(service.public_statistics(release)),
            "leaderboard": None if board is None else as_json(board),
        }

    def _files(self, release: Release, manifest: dict[str, Any]) -> list[dict[str, Any]]:
        stated = {
            name: {key: file[key] for key in ("bytes", "sha256")} for name, file in manifest["files"].items()
        }
        beside = {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in service.documents(release).items()
        }

        def address(name: str) -> str:
            place = reverse("frontend:public-file", args=[release.project.slug, release.version, name])
            return self.request.build_absolute_uri(place)

        return [
            {"name": name, **facts, "address": address(name)} for name, facts in {**stated, **beside}.items()
        ]
