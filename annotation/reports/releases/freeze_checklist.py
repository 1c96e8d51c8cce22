"""The check-list before freezing: unresolved trajectories, low agreement, open work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db.models import Count, Exists, OuterRef, Q, Sum

from annotation import models as m
from annotation.core.agreement.verdict import TENTATIVE_FROM
from annotation.core.figures.measure import NO_PAIRS, Measure
from annotation.core.vocabulary import (
    IN_RELEASES,
    RESOLVED,
    AdjudicationState,
    AssignmentState,
    TrajectoryState,
)
from annotation.policies import Actor, require

from ..agreement.report import agreement

THRESHOLD = TENTATIVE_FROM
"""Krippendorff (2004): below this, labels are not to be relied on."""


@dataclass(frozen=True, slots=True)
class SubsetLine:
    """One subset: how many of its trajectories are in which state, and Krippendorff's α of its steps.

    `unclaimed`: nobody has begun; `labelling`: not all labels are in; `waiting`: disputed, and no adjudicator
    has it; `cases`: one has. `low`: α lies below the threshold; `unknown`: there is none.
    """

    name: str
    resolved: int
    unclaimed: int
    labelling: int
    waiting: int
    cases: int
    alpha: Measure
    threshold: float

    @property
    def unresolved(self) -> int:
        """The number of trajectories left out because they are not resolved."""
        return self.unclaimed + self.labelling + self.waiting + self.cases

    @property
    def low(self) -> bool:
        """Whether agreement is known to be too low."""
        return self.alpha.value is not None and self.alpha.value < self.threshold

    @property
    def unknown(self) -> bool:
        """Whether there is something to freeze, and no agreement to go by."""
        return self.alpha.value is None and self.resolved > 0


@dataclass(frozen=True, slots=True)
class FreezeChecklist:
    """The check-list of a freeze. `claims`: open ones, with or without a draft; `discussions`: of disputed
    trajectories; `older`: labels of resolved trajectories given under earlier guidelines, of `labels`;
    `in_sight`: labels given after seeing something that tells of them; `flagged`: resolved trajectories that
    an annotator calls broken or wants to talk about; `asked_again`: waiting to be looked at again by their
    annotators."""

    subsets: tuple[SubsetLine, ...]
    threshold: float
    claims: int
    discussions: int
    guideline_version: int
    labels: int
    older: int
    in_sight: int
    flagged: int
    asked_again: int

    def unresolved(self, leave_out: Collection[str] = ()) -> int:
        """The number of unresolved trajectories in the subsets that are not left out as a whole."""
        return sum(line.unresolved for line in self.subsets if line.name not in leave_out)

    def doubtful(self, leave_out: Collection[str] = ()) -> tuple[SubsetLine, ...]:
        """The subsets with agreement below the threshold, or without any, that are not left out."""
        return tuple(
            line for line in self.subsets if (line.low or line.unknown) and line.name not in leave_out
        )

    def at(self, threshold: float) -> FreezeChecklist:
        """The same check-list for another threshold of agreement."""
        lines = tuple(replace(line, threshold=threshold) for line in self.subsets)
        return replace(self, subsets=lines, threshold=threshold)

    @property
    def cases(self) -> int:
        """Disputed trajectories that adjudicators have."""
        return sum(line.cases for line in self.subsets)


def checklist(*, actor: Actor, project: m.Project, threshold: float = THRESHOLD) -> FreezeChecklist:
    """Count it all. Eight queries, those of `agreement`, and those of the permission."""
    require(actor, "release.freeze", project)
    figures = agreement(viewer=actor, project=project)
    alphas = {part.name: part.steps.figures["alpha"] for part in figures.subsets}
    cases = _cases(project)
    lines = tuple(
        SubsetLine(
            name=name,
            resolved=states["resolved"],
            unclaimed=states["unclaimed"],
            labelling=states["labelling"],
            waiting=max(states["disputed"] - cases[name], 0),
            cases=min(cases[name], states["disputed"]),
            alpha=alphas.get(name, Measure(None, 0, NO_PAIRS)),
            threshold=threshold,
        )
        for name, states in _states(project).items()
    )
    version = _newest(project)
    by_version = _turns(project)
    submitted = m.Assignment.objects.filter(
        project=project,
        state=AssignmentState.SUBMITTED,
        trajectory__live=True,
        trajectory__state__in=RESOLVED,
    )
    # asked of each label with an exposure, and not of each submission
    in_sight = m.Label.stored.filter(
        Exists(submitted.filter(pk=OuterRef("assignment"))),
        exposed_at__isnull=False,
        blind_value__isnull=True,
        value__isnull=False,
    )
    flagged = submitted.filter(Q(needs_discussion=True) | Q(broken=True))
    disputed = {"trajectory__live": True, "trajectory__state": TrajectoryState.DISPUTED}
    return FreezeChecklist(
        subsets=lines,
        threshold=threshold,
        claims=m.Assignment.objects.filter(project=project, state=AssignmentState.OPEN).count(),
        discussions=m.Discussion.objects.filter(project=project, **disputed).count(),
        guideline_version=version,
        labels=sum(by_version.values()),
        older=sum(n for number, n in by_version.items() if number != version),
        in_sight=in_sight.count(),
        flagged=flagged.values("trajectory").distinct().count(),
        asked_again=m.RelabelRequest.objects.filter(
            project=project, begun_at__isnull=True, assignment__recheck__isnull=True
        ).count(),
    )


def _states(project: m.Project) -> dict[str, Counter[str]]:
    """By subset, in the order of their names."""
    rows = m.Trajectory.objects.filter(project=project, live=True).order_by()
    unclaimed = Count("pk", filter=m.all_places_free())
    counts: dict[str, Counter[str]] = {}
    counted = rows.values_list("subset__name", "state").annotate(n=Count("pk"), unclaimed=unclaimed)
    for name, state, n, nobody in counted:
        states = counts.setdefault(name, Counter())
        if state in IN_RELEASES:
            states["resolved"] += n
        elif state == TrajectoryState.LABELLING:
            states["unclaimed"] += nobody
            states["labelling"] += n - nobody
        else:
            states["disputed"] += n
    return dict(sorted(counts.items()))


def _cases(project: m.Project) -> Counter[str]:
    rows = m.Adjudication.objects.filter(
        project=project, state=AdjudicationState.OPEN, trajectory__live=True
    ).order_by()
    return Counter(dict(rows.values_list("trajectory__subset__name").annotate(n=Count("pk"))))


def _newest(project: m.Project) -> int:
    versions = m.Guideline.objects.filter(project=project).order_by("-version")
    return versions.values_list("version", flat=True).first() or 0


def _turns(project: m.Project) -> dict[int, int]:
    """The number of labels of resolved trajectories by version of the guidelines."""
    rows = m.Assignment.objects.filter(
        project=project,
        state=AssignmentState.SUBMITTED,
        trajectory__live=True,
        trajectory__state__in=RESOLVED,
    ).order_by()
    return dict(rows.values_list("guideline_version").annotate(n=Sum("trajectory__step_count")))
