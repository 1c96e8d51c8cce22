"""Begin a derivation, look at it beforehand, and run it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import dispatch
from annotation.core.decisions.recipes import DerivedCounts, Recipe
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.vocabulary import ImportState
from annotation.importers import by_name, kind_of
from annotation.importers.decisions.tristep_decision import TristepDecision
from annotation.models import DERIVED, ImportFile, Project, Release, User
from annotation.policies import Actor, recorded, require

from .. import audit, label, projects
from ..batched_writes import parts
from ..ingest.files import unused_name
from ..ingest.receive import QUEUE_PATIENCE
from ..ingest.run import Progress
from .records import (
    READ_AT_ONCE,
    DerivedRecords,
    PeopleLeft,
    ReleaseStream,
    derivation_of,
    nothing_derived,
    sources_of,
)
from .request import DerivationRequest

PREVIEWED_RECORDS: Final = 2_000
"""Of a larger release nothing is counted beforehand while somebody waits."""
DECIDED: Final = kind_of(by_name(TristepDecision.name))
NO_DERIVED_KIND: Final = translatable(
    "Decisions are derived into a project of the kind “decisions”; “{project}” is of another."
)


def targets(actor: User) -> QuerySet[Project]:
    """The projects into which a person may derive decisions. No query by itself."""
    projects_ = Project.objects.filter(kind=DECIDED.name)
    if not actor.is_superuser:
        projects_ = projects_.filter(memberships__user=actor, memberships__is_admin=True)
    return projects_.order_by("name", "pk")


def derive(
    *,
    actor: Actor,
    release: Release,
    project: Project,
    subset: str,
    request: DerivationRequest,
    enqueue: bool = True,
) -> ImportFile:
    """Queue the import of what is derived from a release into `subset` (made when missing). With `enqueue`
    False the caller runs it (`run_import`) in its own process.

    Raises Conflict for a release of another kind of project or one that is withdrawn, Invalid for a project
    of another kind than decisions, or a name that no subset may have.
    """
    _admit(actor, release, project)
    size = _size(release)
    with transaction.atomic():
        source = ImportFile.objects.create(
            project=project,
            subset=projects.ensure_subset(actor=actor, project=project, name=subset),
            filename=f"{release.project.slug} {release.version} ({request.recipe})",
            stored_as=unused_name(),
            format=TristepDecision.name,
            sha256=release.digest,
            size=size,
            options={
                DERIVED: {
                    "release": str(release.pk),
                    "project": release.project.slug,
                    "version": release.version,
                    "digest": release.digest,
                    **request.as_json(),
                }
            },
            state=ImportState.QUEUED,
            progress_total=size,
            lease_until=timezone.now() + QUEUE_PATIENCE,
            created_by=recorded(actor),
            created_at=timezone.now(),
        )
        audit.record(
            actor=actor,
            verb="import.receive",
            project=project,
            obj=source,
            sha256=release.digest,
            size=size,
            derived_from=source.filename,
        )
        if enqueue:
            dispatch.send("run_import", source.pk)
    return source


def _admit(actor: Actor, release: Release, project: Project) -> None:
    require(actor, "release.derive", release)
    require(actor, "import", project)
    require_derivable(release)
    if project.of_kind != DECIDED:
        sentence = translatable(NO_DERIVED_KIND, project=project.slug)
        raise Invalid(sentence, code="other_kind", fields={"into": sentence})


def require_derivable(release: Release) -> None:
    """Raises Conflict for a release of a project of another kind, or one that is withdrawn."""
    release.project.of_kind.require(Feature.DERIVATION)
    if hasattr(release, "withdrawal"):
        sentence = translatable(
            "Release {version} is withdrawn; derive from another.", version=release.version
        )
        raise Conflict(sentence, code="withdrawn")


def _size(release: Release) -> int:
    """The bytes of a release's files."""
    return sum(entry["bytes"] for entry in release.parsed_manifest()["files"].values()) or 1


@dataclass(frozen=True, slots=True)
class DerivationPreview:
    """A preview of a derivation: its counts, and the number of items for which fewer than `needed` of the
    target's `annotators` are left."""

    counts: DerivedCounts
    recipe: Recipe
    annotators: int
    needed: int
    too_few: int

    def as_json(self) -> dict[str, Any]:
        """The preview under the names of the API."""
        return {
            "counts": self.counts.as_json(self.recipe),
            "annotators": self.annotators,
            "needed": self.needed,
            "too_few": self.too_few,
        }


def preview_derivation(
    *, actor: Actor, release: Release, project: Project, request: DerivationRequest
) -> DerivationPreview:
    """Count what a derivation would bring, and whom it leaves; nothing is stored. Raises what `derive`
    raises, and Conflict for a release that is too large to be counted while somebody waits."""
    _admit(actor, release, project)
    if release.record_count > PREVIEWED_RECORDS:
        raise Conflict(
            translatable(
                "This release has more than {n} trajectories: they are counted while they are derived.",
                n=f"{PREVIEWED_RECORDS:,}",
            ),
            code="too_large",
        )
    derivation = derivation_of(ReleaseStream(release), request)
    left = PeopleLeft(release, project)
    for part in parts(derivation.decisions(), weight=lambda _decision: 1, most=READ_AT_ONCE):
        left.count({str(at): sources_of(decision) for at, decision in enumerate(part)})
    if not derivation.counts.items:
        raise nothing_derived(request)
    return DerivationPreview(
        derivation.counts, request.recipe, len(left.annotators), left.needed, left.too_few
    )


def run_import(*, source_id: int, progress: Progress | None = None, resumable: bool = False) -> ImportFile:
    """Import what was received or is derived to its end (`ingest.run_import`)."""
    return label.run_import(
        source_id=source_id, progress=progress, resumable=resumable, derived=DerivedRecords
    )
