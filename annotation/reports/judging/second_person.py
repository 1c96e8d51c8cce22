"""The second reader of a project: what its rule is made from and asked about, and what it has saved."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from annotation import models as m
from annotation.core.scoring import MISSING, Predictions
from annotation.core.scoring import second_person as core
from annotation.core.scoring.labels import BoolArray
from annotation.core.vocabulary import (
    RESOLVED,
    SEEN_LABELS,
    AssignmentState,
    ConsensusKind,
    SecondPersonState,
    SecondReader,
)
from annotation.models.blindness import with_blind_values

from ..releases.release_preview import releases_holding
from .stack import StackMaterial, material

LABELLED_BY_A_JUDGE: Final = 0.9
"""A judge of whose suggestions more is missing is left out: it would send everything to two people."""
READ_AT_MOST: Final = 4 * core.FITTED_AT[-1]
"""So many doubly labelled trajectories, the first ones, are looked through for those without a gap."""
MS_OF_AN_HOUR: Final = 3_600_000
CLOSED: Final = (SecondPersonState.WAITING, SecondPersonState.SPARED)
"""As long as a trajectory is in one of these states, nobody but one person can claim it."""


@dataclass(frozen=True, slots=True)
class SecondReading:
    """The saving of judges as the second reader. `made_from`: the doubly labelled trajectories that the rule
    in force is made from (0: there is none), of the `doubly_labelled` that it could be. By what became of
    trajectories with one place: `waiting`, `spared` a second person, `asked` for one; `hours` that those who
    were spared would have taken, by the mean of all submissions (None: nobody's time is known)."""

    made_from: int
    doubly_labelled: int
    judges: int
    waiting: int
    spared: int
    asked: int
    hours: float | None

    @property
    def needed(self) -> int:
        """The number of doubly labelled trajectories that a first rule needs."""
        return core.FITTED_AT[0]

    @property
    def fewest_judges(self) -> int:
        """The number of judges that a rule needs."""
        return core.FEWEST_JUDGES

    @property
    def labels_a_trajectory(self) -> float | None:
        """People for each trajectory that had one place, as far as that is decided; None before."""
        decided = self.spared + self.asked
        return (self.spared + 2 * self.asked) / decided if decided else None


def second_reading(project: m.Project) -> SecondReading | None:
    """The saving in a project whose second reader judges are; None in others, without a query. Five queries;
    for reports, which have asked permission."""
    if project.second_reader != SecondReader.JUDGES:
        return None
    states = Counter(
        dict(
            m.SecondPerson.objects.filter(project=project, trajectory__live=True)
            .order_by()
            .values_list("state")
            .annotate(n=Count("pk"))
        )
    )
    fit = m.SecondPersonFit.objects.filter(project=project).first()
    submitted = m.Assignment.objects.filter(project=project, state=AssignmentState.SUBMITTED, active_ms__gt=0)
    mean = submitted.aggregate(mean=Avg("active_ms"))["mean"]
    judges = m.Judge.objects.filter(project=project, suggestions__isnull=False).distinct().count()
    spared = states[SecondPersonState.SPARED]
    return SecondReading(
        made_from=fit.number if fit else 0,
        doubly_labelled=doubly_labelled(project).count(),
        judges=judges,
        waiting=states[SecondPersonState.WAITING],
        spared=spared,
        asked=states[SecondPersonState.ASKED],
        hours=None if mean is None else spared * mean / MS_OF_AN_HOUR,
    )


def doubly_labelled(project: m.Project) -> QuerySet[m.Trajectory]:
    """The resolved trajectories that two people have labelled, and not because judges doubted; the first to
    be resolved first. No query by itself."""
    doubted = m.SecondPerson.objects.filter(trajectory=OuterRef("pk"))
    submitted = Count("assignments", filter=Q(assignments__state=AssignmentState.SUBMITTED) & _in_slots())
    rows = m.Trajectory.objects.filter(
        ~Exists(doubted), project=project, live=True, state__in=RESOLVED, outcome_consensus__isnull=False
    )
    return rows.annotate(people=submitted).filter(people=2).order_by("outcome_consensus__created_at", "pk")


class Alone(NamedTuple):
    """A trajectory whose one place is taken, as somebody meets it who brings a second person's labels: the
    newest release that holds it, whether its consensus has been `corrected`, and whether they have `seen`
    its labels."""

    release: str | None
    corrected: bool
    seen: bool


def labelled_alone(trajectories: Collection[int], person: m.User | None) -> dict[int, Alone]:
    """Those of these trajectories whose one place is taken. Up to four queries; none without a trajectory."""
    closed = m.Trajectory.objects.filter(
        pk__in=trajectories, live=True, free_slots=0, second_person__state__in=CLOSED
    )
    held = Count("assignments", filter=Q(assignments__state__in=m.ACTIVE_STATES) & _in_slots())
    rows = closed.annotate(
        held=held, release=Subquery(releases_holding("record_id", "subset__name", "project"))
    )
    releases = dict(rows.filter(held=1).order_by().values_list("pk", "release"))
    if not releases:
        return {}
    of_them = {"trajectory__in": releases}
    decided = ~Q(kind=ConsensusKind.ONE_PERSON)
    corrected = {
        pk
        for model in (m.Consensus, m.OutcomeConsensus)
        for pk in model.objects.filter(decided, **of_them).order_by().values_list("trajectory", flat=True)
    }
    exposures = m.Exposure.objects.filter(**of_them, user=person, kind__in=SEEN_LABELS)
    seen = set(exposures.values_list("trajectory", flat=True)) if person else set()
    return {pk: Alone(release, pk in corrected, pk in seen) for pk, release in releases.items()}


def _in_slots() -> Q:
    return Q(assignments__recheck__isnull=True)


def labelled_by(project: m.Project, trajectories: Collection[int]) -> dict[int, set[int]]:
    """By judge, those of these trajectories of which it labels every step and the outcome. One query."""
    given = Count("labels", filter=Q(labels__value__isnull=False))
    rows = m.Suggestion.objects.filter(
        judge__project=project, trajectory__in=trajectories, outcome__isnull=False
    ).order_by()
    annotators: dict[int, set[int]] = defaultdict(set)
    complete = rows.annotate(given=given).filter(given=F("trajectory__step_count"))
    for judge, trajectory in complete.values_list("judge", "trajectory"):
        annotators[judge].add(trajectory)
    return annotators


@dataclass(frozen=True, slots=True)
class FirstRead:
    """The material of a rule: the stack's, in which `labelled` are the trajectories it may be made from, in
    the order of `trajectories`, and the labels of their two people."""

    data: StackMaterial
    people: tuple[Predictions, Predictions]
    trajectories: list[int]


def first_read(project: m.Project) -> FirstRead | None:
    """The material from which a rule could be made now; None for too few judges or trajectories. A judge that
    lacks more than a tenth of the trajectories is left out, and then what others lack, or people have not
    labelled blind."""
    read = list(doubly_labelled(project).values_list("pk", flat=True)[:READ_AT_MOST])
    if len(read) < core.FITTED_AT[0]:
        return None
    complete = {
        judge: labelled
        for judge, labelled in labelled_by(project, read).items()
        if len(labelled) >= LABELLED_BY_A_JUDGE * len(read)
    }
    if len(complete) < core.FEWEST_JUDGES:
        return None
    common = set.intersection(*complete.values())
    first = [pk for pk in read if pk in common]
    data = material(project, only=first, judges=sorted(complete))
    people = (labels_of_people(data, slot=0), labels_of_people(data, slot=1))
    whole = people[0].there & people[1].there & data.labelled
    kept = {int(pk) for pk in data.trajectory[whole]}
    return FirstRead(data, people, [pk for pk in first if pk in kept])


def labels_of_people(data: StackMaterial, slot: int | None = None) -> Predictions:
    """The blind labels of whoever has submitted each trajectory in a slot (None: in whichever); `there` where
    none is missing. Three queries."""
    released = data.known
    where = {
        "assignment__trajectory__in": data.trajectory.tolist(),
        "assignment__state": AssignmentState.SUBMITTED,
    }
    if slot is not None:
        where["assignment__slot"] = slot
    place = {pk: at for at, pk in enumerate(data.trajectory.tolist())}
    predicted = Predictions.none(released)
    steps = m.Step.objects.filter(trajectory__in=place).order_by("trajectory", "ordinal")
    place_of_step = {pk: at for at, pk in enumerate(steps.values_list("pk", flat=True))}
    labels = with_blind_values(m.Label.objects.filter(**where)).order_by()
    for step, value in labels.values_list("step", "blind"):
        predicted.steps[place_of_step[step]] = value
    outcomes = with_blind_values(m.OutcomeLabel.objects.filter(**where)).order_by()
    for trajectory, value in outcomes.values_list("assignment__trajectory", "blind"):
        predicted.outcome[place[trajectory]] = value
    return replace(predicted, there=whole(data, predicted))


def whole(data: StackMaterial, predicted: Predictions) -> BoolArray:
    """The records (R,) of which every step and the outcome have a label."""
    lacking = predicted.outcome == MISSING
    lacking[data.known.record[predicted.steps == MISSING]] = True
    mask: BoolArray = ~lacking
    return mask


def places_of(data: StackMaterial, trajectories: Collection[int]) -> BoolArray:
    """A mask (R,) of the records of these trajectories."""
    mask: BoolArray = np.isin(data.trajectory, list(trajectories))
    return mask
