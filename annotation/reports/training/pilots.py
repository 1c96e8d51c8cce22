"""The progress of a pilot: how much of it each person has labelled, α so far, and the steps that people
differ about."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from annotation.core.figures.measure import Measure
from annotation.core.training.pilot_alpha import pilot_alpha
from annotation.core.vocabulary import AssignmentState, PilotState, RecheckKind
from annotation.models import Assignment, Label, Membership, Pilot, Trajectory, User
from annotation.policies import require


@dataclass(frozen=True, slots=True)
class PilotPerson:
    """An annotator, and how much of the pilot they have submitted."""

    person: User
    done: int


@dataclass(frozen=True, slots=True)
class DifferingStep:
    """A step to which people gave different labels: `votes` says who gave which, by name."""

    trajectory: Trajectory
    message_index: int
    number: int
    votes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class PilotProgress:
    """`size` trajectories; `alpha` over what is submitted so far. `blind`: its reader has still to label some
    of them, so that `differing` is empty."""

    pilot: Pilot
    size: int
    people: tuple[PilotPerson, ...]
    alpha: Measure
    differing: tuple[DifferingStep, ...]
    blind: bool = False

    @property
    def complete(self) -> bool:
        """Whether all annotators, two at least, have submitted all of it."""
        return len(self.people) > 1 and all(one.done >= self.size for one in self.people)


def pilot_shown(*, actor: User, pilot: Pilot) -> PilotProgress:
    """The progress of a pilot, without others' labels for an admin who has still to label some of it. For
    admins. Four queries and that of the permission."""
    require(actor, "training.view", pilot)
    progress = pilot_progress(pilot)
    mine = next((one for one in progress.people if one.person == actor), None)
    if pilot.state == PilotState.RUNNING and mine is not None and mine.done < progress.size:
        return replace(progress, differing=(), blind=True)
    return progress


def pilot_progress(pilot: Pilot) -> PilotProgress:
    """The progress of a pilot. For services that asked permission; four queries. `pilot` comes with its
    project and subset."""
    items = Trajectory.objects.filter(subset=pilot.subset_id, training=True)
    records = {row.pk: row for row in items.only("pk", "record_id")}
    members = Membership.objects.filter(project=pilot.project_id, is_annotator=True, user__is_active=True)
    people = [row.user for row in members.select_related("user").order_by("user__username")]
    turns = Assignment.stored.filter(
        trajectory__in=records, recheck__kind=RecheckKind.PILOT.value, state=AssignmentState.SUBMITTED
    )
    done: dict[int, int] = defaultdict(int)
    for annotator in turns.order_by().values_list("annotator", flat=True):
        done[annotator] += 1
    labels: dict[tuple[int, int, int], list[tuple[str, int]]] = defaultdict(list)
    rows = Label.stored.filter(assignment__in=turns, value__isnull=False).order_by(
        "step__trajectory_id", "step__message_index", "assignment__annotator__username"
    )
    columns = ("step__trajectory_id", "step__message_index", "step__ordinal")
    for trajectory, index, ordinal, name, value in rows.values_list(
        *columns, "assignment__annotator__username", "value"
    ):
        labels[trajectory, index, ordinal].append((name, value))
    steps: dict[int, list[list[int]]] = defaultdict(list)
    differing = []
    for (trajectory, index, ordinal), votes in labels.items():
        steps[trajectory].append([value for _name, value in votes])
        if len({value for _name, value in votes}) > 1:
            differing.append(DifferingStep(records[trajectory], index, ordinal + 1, tuple(votes)))
    return PilotProgress(
        pilot,
        len(records),
        tuple(PilotPerson(person, done[person.pk]) for person in people),
        pilot_alpha(steps),
        tuple(differing),
    )
