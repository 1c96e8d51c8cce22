"""Drift of an annotator's labels, from what they rechecked: for admins, of others than themselves.

Figures only, by week: nobody learns which trajectories were rechecked, and annotators, who must not know that
there were any, get nothing of it, neither here nor of themselves.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.db.models import Count, F, OuterRef, Q, Subquery

from annotation import models as m
from annotation.core.i18n import translatable
from annotation.core.rechecks.drift import LIMIT, CheckedTrajectory, cusum, usual
from annotation.core.vocabulary import RESOLVED, AssignmentState, RecheckKind
from annotation.models.blindness import BLIND_VALUE
from annotation.policies import Actor, allowed

FEWEST_TRAJECTORIES: Final = 5
FEWEST_STEPS: Final = 30
TOO_FEW: Final = translatable("too few: fewer than 5 rechecked trajectories, or 30 steps")


@dataclass(frozen=True, slots=True)
class DriftWeek:
    """One week, from its Monday: rechecks that were submitted, their steps, how many of these are wrong, and
    the sum at its end."""

    monday: date
    trajectories: int
    steps: int
    wrong: int
    cusum: float


@dataclass(frozen=True, slots=True)
class Drift:
    """`weeks` are empty with a `reason`. `since` is the first week at whose end the sum was at `limit` or
    above; None: never."""

    trajectories: int
    steps: int
    weeks: tuple[DriftWeek, ...]
    reason: str
    limit: float = LIMIT

    @property
    def since(self) -> date | None:
        """The week in which drift was first found."""
        return next((week.monday for week in self.weeks if week.cusum >= self.limit), None)


def drift(*, viewer: Actor, project: m.Project, annotator: int) -> Drift | None:
    """The drift of one annotator, for those who may see figures of rechecks; None for everybody else, and of
    oneself. Two queries and those of the permission."""
    if (isinstance(viewer, m.User) and viewer.pk == annotator) or not allowed(
        viewer, "rechecks.view", project
    ):
        return None
    everybody = sorted(_rechecked(project))
    rules = usual([checked for *_, checked in everybody])
    own = [(at, checked) for at, _pk, who, checked in everybody if who == annotator]
    steps = sum(checked.steps for _, checked in own)
    if len(own) < FEWEST_TRAJECTORIES or steps < FEWEST_STEPS:
        return Drift(len(own), steps, (), TOO_FEW)
    sums = cusum([checked for _, checked in own], rules)
    weeks: dict[date, DriftWeek] = {}
    for (at, checked), value in zip(own, sums, strict=True):
        monday = at.date() - timedelta(days=at.weekday())
        before = weeks.get(monday, DriftWeek(monday, 0, 0, 0, 0.0))
        weeks[monday] = DriftWeek(
            monday,
            before.trajectories + 1,
            before.steps + checked.steps,
            before.wrong + checked.wrong,
            value,
        )
    return Drift(len(own), steps, tuple(weeks.values()), "")


def _rechecked(project: m.Project) -> list[tuple[datetime, int, int, Any]]:
    """(submitted at, assignment, annotator, what was found) of every recheck: an audit reader's labels beside
    the consensus, a retest's beside the same person's first ones. Blind labels only."""
    labels = m.Label.stored.filter(
        assignment__recheck__project=project,
        assignment__state=AssignmentState.SUBMITTED,
        assignment__trajectory__live=True,
        assignment__trajectory__state__in=RESOLVED,
    )
    blind = labels.annotate(blind=BLIND_VALUE).filter(blind__isnull=False).order_by()
    first = m.Label.objects.filter(
        step=OuterRef("step"),
        assignment__annotator=OuterRef("assignment__annotator"),
        assignment__state=AssignmentState.SUBMITTED,
    ).annotate(blind=BLIND_VALUE)
    read = blind.filter(assignment__recheck__kind=RecheckKind.AUDIT.value).annotate(
        right=F("step__consensus__value")
    )
    retest = blind.filter(assignment__recheck__kind=RecheckKind.RETEST.value).annotate(
        right=Subquery(first.values("blind")[:1])
    )
    checked = []
    for kind, rows in ((RecheckKind.AUDIT, read), (RecheckKind.RETEST, retest)):
        counted = (
            rows.filter(right__isnull=False)
            .values_list("assignment__submitted_at", "assignment", "assignment__annotator")
            .annotate(n=Count("pk"), wrong=Count("pk", filter=~Q(blind=F("right"))))
        )
        checked += [
            (at, pk, who, CheckedTrajectory(kind.value, n, wrong)) for at, pk, who, n, wrong in counted
        ]
    return checked


def drift_json(drift: Drift) -> dict[str, Any]:
    """JSON-ready."""
    return {
        "trajectories": drift.trajectories,
        "steps": drift.steps,
        "limit": drift.limit,
        "since": drift.since.isoformat() if drift.since else None,
        "reason": drift.reason,
        "weeks": [{**asdict(week), "monday": week.monday.isoformat()} for week in drift.weeks],
    }
