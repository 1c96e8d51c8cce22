"""Preview a release: what it would hold if it were frozen now."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, OuterRef, QuerySet

from annotation.core.vocabulary import IN_RELEASES, VALUES
from annotation.models import Consensus, OutcomeConsensus, Project, Release, ReleaseRecord, Trajectory
from annotation.policies import Actor, require


def frozen_in(trajectory: Trajectory) -> Release | None:
    """The newest release that holds a trajectory and was not withdrawn; None: nothing keeps its labels from
    being changed. One query; `trajectory` comes with its subset."""
    holding = ReleaseRecord.objects.filter(
        release__project=trajectory.project_id,
        release__withdrawal__isnull=True,
        subset=trajectory.subset.name,
        record_id=trajectory.record_id,
    )
    newest = holding.select_related("release").order_by("-release__number").first()
    return newest.release if newest is not None else None


def releases_holding(record_id: str, subset: str, project: str) -> QuerySet[ReleaseRecord, dict[str, str]]:
    """For a subquery: the version of the newest release that holds a trajectory and was not withdrawn. Named
    are the fields of the outer rows."""
    holding = ReleaseRecord.objects.filter(
        release__project=OuterRef(project),
        release__withdrawal__isnull=True,
        subset=OuterRef(subset),
        record_id=OuterRef(record_id),
    )
    return holding.order_by("-release__number").values("release__version")[:1]  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class ReleaseCandidate:
    """Trajectories with a consensus, and those without (left out); labels and outcomes by value."""

    records: int
    left_out: int
    labels: dict[int, int]
    outcomes: dict[int, int]

    @property
    def label_count(self) -> int:
        """All labels of steps."""
        return sum(self.labels.values())


def candidate(*, actor: Actor, project: Project) -> ReleaseCandidate:
    """Count what is resolved in a project. Three queries and those of the permission."""
    require(actor, "release.freeze", project)
    rows = Trajectory.objects.filter(project=project, live=True).order_by()
    states = dict(rows.values_list("state").annotate(n=Count("pk")))
    resolved = sum(states.get(state, 0) for state in IN_RELEASES)
    where = {"trajectory__project": project, "trajectory__live": True, "trajectory__state__in": IN_RELEASES}
    labels = dict(Consensus.objects.filter(**where).order_by().values_list("value").annotate(n=Count("pk")))
    outcomes = dict(
        OutcomeConsensus.objects.filter(**where).order_by().values_list("value").annotate(n=Count("pk"))
    )
    return ReleaseCandidate(
        records=resolved,
        left_out=sum(states.values()) - resolved,
        labels={value: labels.get(value, 0) for value in reversed(VALUES)},
        outcomes={value: outcomes.get(value, 0) for value in reversed(VALUES)},
    )
