"""Scores that triage sorts by, and what triage has brought forward so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import numpy as np
from django.db import connections
from django.db.models import Case, Exists, OuterRef, QuerySet, Value, When

from annotation import models as m
from annotation.core.figures.measure import Measure
from annotation.core.i18n import translatable
from annotation.core.influence.triage import contested, share_found_early
from annotation.core.vocabulary import SETTLED, TrajectoryState
from annotation.policies import Actor, require

from ..shared.integer_rows import Integers, integer_rows

TRIAGED_AT_ONCE: Final = 10_000
DISPUTES: Final = (TrajectoryState.DISPUTED, TrajectoryState.ADJUDICATED)
HALF: Final = 0.5
NO_DISPUTE: Final = translatable("no fully labelled trajectory was disputed")


@dataclass(frozen=True, slots=True)
class Triage:
    """`seed` None: the queue is in an order of chance. `waiting`: trajectories nobody has begun, which
    triage would move. `found`: of the disputes so far, the share in the first half of the queue of settled
    trajectories. Chance finds 50 %."""

    seed: int | None
    batch_size: int
    waiting: int
    found: Measure


def triage_so_far(*, viewer: Actor, project: m.Project) -> Triage:
    """For admins. Two queries."""
    require(viewer, "influence.view", project)
    position, pk, disputed = _settled(project)
    disputes = np.flatnonzero(disputed[np.lexsort((pk, position))])
    share = share_found_early(disputes, len(pk), HALF)
    return Triage(
        seed=project.triage_seed,
        batch_size=project.triage_batch_size,
        waiting=unclaimed(project).count(),
        found=Measure(share, len(disputes), "" if share is not None else NO_DISPUTE),
    )


def _settled(project: m.Project) -> Integers:
    """Place in the queue, key, and whether it was disputed, of each settled trajectory: (3, n). Of an index
    alone, and in numpy, for there may be a hundred thousand."""
    disputed = Case(When(state__in=DISPUTES, then=Value(1)), default=Value(0))
    rows = m.Trajectory.objects.filter(project=project, live=True, state__in=SETTLED).order_by()
    return integer_rows(rows.values_list("position", "pk", disputed), 3).T


def unclaimed(project: m.Project) -> QuerySet[m.Trajectory]:
    """The trajectories that nobody has ever begun: all their places free, and no assignment given back."""
    begun = m.Assignment.objects.filter(trajectory=OuterRef("pk"))
    return m.Trajectory.objects.filter(
        ~Exists(begun),
        m.all_places_free(),
        project=project,
        live=True,
        state=TrajectoryState.LABELLING,
    )


def scores(project: m.Project) -> dict[int, float | None]:
    """The disagreement of judges about each trajectory that they have suggestions for, by its pk (see
    core.influence.triage.contested). Two queries; for services, which have asked permission."""
    return _scores(judge__project=project, trajectory__live=True)


def scores_of(trajectories: Collection[int]) -> dict[int, float | None]:
    """The same of these trajectories; those without suggestions are left out. Two queries."""
    return _scores(trajectory__in=trajectories)


def _scores(**of_suggestions: Any) -> dict[int, float | None]:
    outcomes: dict[int, list[int | None]] = defaultdict(list)
    suggestions = m.Suggestion.objects.filter(**of_suggestions).order_by()
    for trajectory, outcome in _rows(suggestions.values_list("trajectory", "outcome")):
        outcomes[trajectory].append(outcome)
    of_labels = {f"suggestion__{path}": value for path, value in of_suggestions.items()}
    labels = m.SuggestedLabel.objects.filter(**of_labels).order_by(
        "suggestion__trajectory_id", "suggestion_id"
    )
    scores: dict[int, float | None] = {pk: contested([], given) for pk, given in outcomes.items()}
    columns = ("suggestion__trajectory", "suggestion", "step", "value")
    for trajectory, of_it in groupby(_rows(labels.values_list(*columns)), key=lambda row: row[0]):
        judges: dict[int, dict[int, int | None]] = defaultdict(dict)
        for _trajectory, suggestion, step, value in of_it:
            judges[suggestion][step] = value
        scores[trajectory] = contested(list(judges.values()), outcomes[trajectory])
    return scores


def _rows(query: QuerySet[Any, Any]) -> Iterator[Any]:
    """Rows by the driver's own cursor: there may be a million, all whole numbers or null."""
    statement, values = query.query.sql_with_params()
    with connections[query.db].cursor() as cursor:
        cursor.execute(statement, values)
        while block := cursor.fetchmany(TRIAGED_AT_ONCE):
            yield from block
