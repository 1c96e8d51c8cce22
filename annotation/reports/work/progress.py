"""Progress of a project: trajectories by subset and state, what each annotator has done, and what is left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Case, Count, Exists, Max, Min, OuterRef, Q, Sum, Value, When
from django.utils import timezone

from annotation.core.kinds import Feature, ProjectKind
from annotation.core.vocabulary import IN_RELEASES, AssignmentState, TrajectoryState
from annotation.models import Assignment, Membership, Project, Subset, Trajectory, all_places_free
from annotation.policies import Actor, being_labelled, require, shown_state

from ..judging.judges_first import JudgesFirstSummary, summary
from ..judging.second_person import SecondReading, second_reading

UNTOUCHED = "untouched"
"""A trajectory that is still to be labelled and that nobody has claimed: all its slots are free."""

AWAITING = "awaiting"
"""A trajectory that is still to be labelled, that somebody has labelled, and that nobody holds."""

PACE_OVER: Final = timedelta(days=14)
"""The time over which the pace is measured."""

STATES_IN_ORDER = (
    TrajectoryState.UNANIMOUS.value,
    TrajectoryState.ADJUDICATED.value,
    TrajectoryState.JUDGED.value,
    TrajectoryState.DISPUTED.value,
    TrajectoryState.LABELLING.value,
    AWAITING,
    UNTOUCHED,
)


def states_of(kind: ProjectKind) -> tuple[str, ...]:
    """The states that trajectories of a project of this kind can have."""
    without = () if kind.has(Feature.JUDGES_FIRST) else (TrajectoryState.JUDGED,)
    return tuple(state for state in STATES_IN_ORDER if state not in without)


@dataclass
class SubsetProgress:
    """Trajectories (and their steps) of one subset, or of all, by state."""

    name: str
    by_state: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES_IN_ORDER, 0))
    steps: int = 0

    @property
    def total(self) -> int:
        """All trajectories."""
        return sum(self.by_state.values())

    @property
    def resolved(self) -> int:
        """The number of trajectories with a consensus."""
        return sum(self.by_state[state] for state in IN_RELEASES)


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """The work of one annotator; `last` is their latest claim or submission, `first` their first submission,
    `recent` how many they have submitted in the time over which the pace is measured."""

    name: str
    username: str
    open: int
    submitted: int
    returned: int
    last: datetime | None
    first: datetime | None
    recent: int


@dataclass(frozen=True, slots=True)
class ProjectProgress:
    """The whole picture: subsets in order of name, the sum of them, and the annotators.

    `free` is how many annotators are still to claim one of its trajectories, as far as that is known;
    `second_reading` is what judges as the second reader save, `judges_first` what they have settled.
    """

    subsets: list[SubsetProgress]
    all: SubsetProgress
    team: list[AnnotatorProgress]
    free: int
    now: datetime
    second_reading: SecondReading | None = None
    judges_first: JudgesFirstSummary | None = None

    @property
    def left(self) -> int:
        """The number of labellings still to be submitted: those nobody has claimed, and those under way."""
        return self.free + self.claimed

    @property
    def claimed(self) -> int:
        """The number of labellings under way."""
        return sum(work.open for work in self.team)

    @property
    def pace(self) -> float | None:
        """Submissions a day over the last fortnight, or since the first one if that is later; None without
        any in this time. A day that has begun counts as a whole one."""
        recent = sum(work.recent for work in self.team)
        begun = min((work.first for work in self.team if work.first), default=None)
        if not recent or begun is None:
            return None
        days = min(PACE_OVER, self.now - begun) / timedelta(days=1)
        return recent / max(days, 1.0)

    @property
    def projected_end(self) -> datetime | None:
        """When the last labelling is submitted at this pace; None when nothing is left or nothing moves."""
        pace = self.pace
        if not self.left or pace is None:
            return None
        return self.now + min(timedelta(days=self.left / pace), timedelta(days=36_500))


def progress(*, actor: Actor, project: Project, now: datetime | None = None) -> ProjectProgress:
    """The progress of a project, for its admins. Three queries and those of the permission, five more where
    judges are the second reader, and six where they are asked first."""
    now = now or timezone.now()
    require(actor, "progress.view", project)
    named = {
        pk: SubsetProgress(name)
        for pk, name in Subset.objects.filter(project=project).values_list("pk", "name")
    }
    everything = SubsetProgress("")
    free = 0
    for subset, where, trajectories, steps, slots in _states(actor, project):
        free += slots
        for counts in (named[subset], everything):
            counts.by_state[where] += trajectories
            counts.steps += steps
    subsets = sorted((counts for counts in named.values() if counts.total), key=lambda counts: counts.name)
    return ProjectProgress(
        subsets=subsets,
        all=everything,
        team=_team(project, now - PACE_OVER),
        free=free,
        now=now,
        second_reading=second_reading(project),
        judges_first=summary(project),
    )


def _states(actor: Actor, project: Project) -> Iterable[tuple[int, str, int, int, int]]:
    """(subset pk, state, trajectories, steps, free places) for every state that occurs."""
    held = Assignment.objects.filter(trajectory=OuterRef("pk"), state=AssignmentState.OPEN)
    where = Case(
        When(pk__in=being_labelled(actor), then=Value(TrajectoryState.LABELLING.value)),
        When(all_places_free(), state=TrajectoryState.LABELLING.value, then=Value(UNTOUCHED)),
        When(~Exists(held), state=TrajectoryState.LABELLING.value, then=Value(AWAITING)),
        default=shown_state(actor),
    )
    rows = Trajectory.objects.filter(project=project, live=True).annotate(where=where).order_by()
    return rows.values_list("subset", "where").annotate(
        n=Count("pk"),
        all_steps=Sum("step_count"),
        free=Sum("free_slots", filter=Q(state=TrajectoryState.LABELLING.value), default=0),
    )


def _team(project: Project, since: datetime) -> list[AnnotatorProgress]:
    """Annotators, and whoever has labelled without being one any more."""
    people = {
        row.user_id: row.user
        for row in Membership.objects.filter(project=project, is_annotator=True).select_related("user")
    }
    done: dict[int, dict[str, int]] = {pk: {} for pk in people}
    last: dict[int, datetime] = {}
    first: dict[int, datetime] = {}
    recent: dict[int, int] = {}
    names = {pk: (str(user), user.username) for pk, user in people.items()}
    rows = Assignment.objects.filter(project=project).values(
        "annotator", "annotator__username", "annotator__display_name", "state"
    )
    for row in rows.annotate(
        n=Count("pk"),
        claimed=Max("claimed_at"),
        finished=Max("submitted_at"),
        begun=Min("submitted_at"),
        recent=Count("pk", filter=Q(submitted_at__gte=since)),
    ).order_by():
        pk = row["annotator"]
        names[pk] = (row["annotator__display_name"] or row["annotator__username"], row["annotator__username"])
        done.setdefault(pk, {})[row["state"]] = row["n"]
        if row["state"] == AssignmentState.SUBMITTED:
            first[pk], recent[pk] = row["begun"], row["recent"]
        last[pk] = max(moment for moment in (row["claimed"], row["finished"], last.get(pk)) if moment)
    team = [
        AnnotatorProgress(
            name=names[pk][0],
            username=names[pk][1],
            open=states.get(AssignmentState.OPEN, 0),
            submitted=states.get(AssignmentState.SUBMITTED, 0),
            returned=states.get(AssignmentState.RETURNED, 0) + states.get(AssignmentState.EXPIRED, 0),
            last=last.get(pk),
            first=first.get(pk),
            recent=recent.get(pk, 0),
        )
        for pk, states in done.items()
    ]
    return sorted(team, key=lambda work: work.name.casefold())
