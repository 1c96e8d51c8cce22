"""Progress of a project: trajectories by subset and state, and what each annotator has done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Case, Count, Max, Sum, Value, When

from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.models import Assignment, Membership, Project, Subset, Trajectory
from annotation.policies import Actor, require, shown_state

UNTOUCHED = "untouched"
"""A trajectory that is still to be labelled and that nobody has claimed: all its slots are free."""

STATES_IN_ORDER = (
    TrajectoryState.UNANIMOUS.value,
    TrajectoryState.ADJUDICATED.value,
    TrajectoryState.DISPUTED.value,
    TrajectoryState.LABELLING.value,
    UNTOUCHED,
)


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
        return self.by_state[TrajectoryState.UNANIMOUS] + self.by_state[TrajectoryState.ADJUDICATED]


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """The work of one annotator; `last` is their latest claim or submission."""

    name: str
    username: str
    open: int
    submitted: int
    returned: int
    last: datetime | None


@dataclass(frozen=True, slots=True)
class ProjectProgress:
    """The whole picture: subsets in order of name, the sum of them, and the annotators."""

    subsets: list[SubsetProgress]
    all: SubsetProgress
    team: list[AnnotatorProgress]


def progress(*, actor: Actor, project: Project) -> ProjectProgress:
    """The progress of a project, for its admins. Three queries and those of the permission."""
    require(actor, "progress.view", project)
    named = {
        pk: SubsetProgress(name)
        for pk, name in Subset.objects.filter(project=project).values_list("pk", "name")
    }
    everything = SubsetProgress("")
    for subset, where, trajectories, steps in _states(actor, project):
        for counts in (named[subset], everything):
            counts.by_state[where] += trajectories
            counts.steps += steps
    subsets = sorted((counts for counts in named.values() if counts.total), key=lambda counts: counts.name)
    return ProjectProgress(subsets=subsets, all=everything, team=_team(project))


def _states(actor: Actor, project: Project) -> Iterable[tuple[int, str, int, int]]:
    """(subset pk, state, trajectories, steps) for every state that occurs."""
    where = Case(
        When(
            state=TrajectoryState.LABELLING.value,
            free_slots=project.annotators_per_trajectory,
            then=Value(UNTOUCHED),
        ),
        default=shown_state(actor),
    )
    rows = Trajectory.objects.filter(project=project, live=True).annotate(where=where).order_by()
    return rows.values_list("subset", "where").annotate(n=Count("pk"), all_steps=Sum("step_count"))


def _team(project: Project) -> list[AnnotatorProgress]:
    """Annotators, and whoever has labelled without being one any more."""
    people = {
        row.user_id: row.user
        for row in Membership.objects.filter(project=project, is_annotator=True).select_related("user")
    }
    done: dict[int, dict[str, int]] = {pk: {} for pk in people}
    last: dict[int, datetime] = {}
    names = {pk: (str(user), user.username) for pk, user in people.items()}
    rows = Assignment.objects.filter(project=project).values(
        "annotator", "annotator__username", "annotator__display_name", "state"
    )
    for row in rows.annotate(
        n=Count("pk"), claimed=Max("claimed_at"), finished=Max("submitted_at")
    ).order_by():
        pk = row["annotator"]
        names[pk] = (row["annotator__display_name"] or row["annotator__username"], row["annotator__username"])
        done.setdefault(pk, {})[row["state"]] = row["n"]
        last[pk] = max(moment for moment in (row["claimed"], row["finished"], last.get(pk)) if moment)
    team = [
        AnnotatorProgress(
            name=names[pk][0],
            username=names[pk][1],
            open=states.get(AssignmentState.OPEN, 0),
            submitted=states.get(AssignmentState.SUBMITTED, 0),
            returned=states.get(AssignmentState.RETURNED, 0) + states.get(AssignmentState.EXPIRED, 0),
            last=last.get(pk),
        )
        for pk, states in done.items()
    ]
    return sorted(team, key=lambda work: work.name.casefold())
