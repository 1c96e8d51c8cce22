"""Progress of a project: trajectories by subset and state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Case, Count, Exists, OuterRef, Q, Sum, Value, When

from annotation.core.kinds import Feature, ProjectKind
from annotation.core.vocabulary import (
    IN_RELEASES,
    AssignmentState,
    SecondPersonState,
    SecondReader,
    TrajectoryState,
)
from annotation.models import Assignment, Project, SecondPerson, Subset, Trajectory, all_places_free
from annotation.policies import Actor, being_labelled, require, shown_state

from ..judging.judges_first import JudgesFirstSummary, summary
from ..judging.second_person import SecondReading, second_reading
from . import trajectory_counts

UNTOUCHED = "untouched"
"""A trajectory that is still to be labelled and that nobody has claimed: all its slots are free."""

AWAITING = "awaiting"
"""A trajectory that is still to be labelled, that somebody has labelled, and that nobody holds."""

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
class ProjectProgress:
    """Subsets in order of name, and the sum of them.

    `second_reading` is what judges as the second reader save, `judges_first` what they have settled.
    """

    subsets: list[SubsetProgress]
    all: SubsetProgress
    second_reading: SecondReading | None = None
    judges_first: JudgesFirstSummary | None = None


def progress(*, actor: Actor, project: Project, now: bool = True) -> ProjectProgress:
    """The progress of a project, for its admins; not of `now`, it may be some seconds old where there is much
    (`trajectory_counts`). At most three queries and those of the permission, five more where judges are the
    second reader, and six where they are asked first."""
    require(actor, "progress.view", project)
    named = {
        pk: SubsetProgress(name)
        for pk, name in Subset.objects.filter(project=project).values_list("pk", "name")
    }
    everything = SubsetProgress("")
    for subset, where, trajectories, steps in _states(actor, project, now):
        # what was counted a while ago may be of a subset that is gone, and lack what somebody holds by now
        for counts in (named[subset], everything) if subset in named else ():
            counts.by_state[where] = max(0, counts.by_state[where] + trajectories)
            counts.steps += steps
    return ProjectProgress(
        subsets=sorted((counts for counts in named.values() if counts.total), key=lambda counts: counts.name),
        all=everything,
        second_reading=second_reading(project),
        judges_first=summary(project),
    )


def _states(actor: Actor, project: Project, now: bool) -> Iterable[tuple[int, str, int, int]]:
    """(subset pk, state, trajectories, steps), where a state may occur several times and trajectories may be
    negative: all are counted by an index as if nobody held any, and those that somebody holds, or whom judges
    have decided to give to a second person, are taken from there to where they belong."""
    for alike in trajectory_counts.by_state([project.pk], now=now).get(project.pk, ()):
        there = _left_alone(project, alike.state, alike.free_slots)
        yield alike.subset, there, alike.trajectories, alike.steps
    held = Assignment.objects.filter(trajectory=OuterRef("pk"), state=AssignmentState.OPEN)
    where = Case(
        When(pk__in=being_labelled(actor), then=Value(TrajectoryState.LABELLING.value)),
        When(all_places_free(), state=TrajectoryState.LABELLING.value, then=Value(UNTOUCHED)),
        When(~Exists(held), state=TrajectoryState.LABELLING.value, then=Value(AWAITING)),
        default=shown_state(actor),
    )
    opened = Assignment.stored.filter(project=project, state=AssignmentState.OPEN).order_by()
    others = Q(pk__in=opened.values("trajectory"))
    if project.second_reader == SecondReader.JUDGES:
        waiting = SecondPerson.objects.filter(project=project, state=SecondPersonState.WAITING.value)
        others = Q(pk__in=opened.values("trajectory").union(waiting.values("trajectory")))
    # by their keys alone: that they are of the project would have all of it looked through
    few = Trajectory.objects.filter(others, live=True).order_by()
    rows = few.annotate(where=where).values_list("subset", "state", "free_slots", "where")
    numbers = rows.annotate(n=Count("pk"), all_steps=Sum("step_count"))
    for subset, state, free, there, n, steps in numbers:
        yield subset, _left_alone(project, state, free), -n, -steps
        yield subset, there, n, steps


def _left_alone(project: Project, state: str, free_slots: int) -> str:
    """The state of a trajectory that nobody holds."""
    if state != TrajectoryState.LABELLING:
        return state
    return UNTOUCHED if free_slots == project.annotators_per_trajectory else AWAITING
