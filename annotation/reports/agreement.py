"""Agreement of a project's annotators: figures over blind labels of trajectories whose N labels are all in.

Trajectories that are still being labelled are left out, so that nobody who may yet label one learns of
others' labels through a figure. Who annotated what, and figures of single pairs, are for admins;
adjudicators, who decide between "A" and "B", get figures in which nobody can be made out (docs/sealing.md).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet, Value

from annotation import models as m
from annotation.core.agreement.measure import Measure
from annotation.core.agreement.pairs import LabelTable, at_least
from annotation.core.agreement.summary import Summary, summarise
from annotation.core.seed import SEED
from annotation.core.vocabulary import SETTLED, VALUES, AssignmentState, TrajectoryState
from annotation.policies import Actor, allowed, require

from ..models.blindness import BLIND_VALUE
from .integer_rows import integer_rows

FEWEST = 5
"""Of how many trajectories a pair's labels count for those who may not know the pair."""


@dataclass(frozen=True, slots=True)
class Part:
    """The figures of one subset, or of all together (`name` empty)."""

    name: str
    steps: Summary
    outcomes: Summary
    states: dict[str, int]


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the agreement page and `agreement --json` show.

    `people` maps annotator ids to names. Without `with_people` it is empty, as are the parts' pairs; tables
    are symmetric; and trajectories whose pairs of annotators share fewer than `FEWEST` of a subset are left
    out of every figure. `seed` is that of the intervals' resampling.
    """

    project: m.Project
    overall: Part
    subsets: tuple[Part, ...]
    people: dict[int, str]
    seed: int
    with_people: bool = True

    def without_people(self) -> "Agreement":
        """The same figures without anything of a single person."""
        bare = [
            replace(part, steps=part.steps.without_people(), outcomes=part.outcomes.without_people())
            for part in (self.overall, *self.subsets)
        ]
        return replace(self, overall=bare[0], subsets=tuple(bare[1:]), people={}, with_people=False)


def agreement(*, viewer: Actor, project: m.Project, intervals: bool = True) -> Agreement:
    """Compute every figure. Five queries and those of the permission; raises Denied to whoever may not see
    agreement."""
    require(viewer, "agreement.view", project)
    with_people = allowed(viewer, "agreement.pairs", project)
    subsets = dict(m.Subset.objects.filter(project=project).order_by("name").values_list("pk", "name"))
    states = _states(project)
    steps, outcomes = (LabelTable.of(integer_rows(rows(project), 6)) for rows in (_step_rows, _outcome_rows))
    people: dict[int, str] = {}
    if with_people:
        annotators = sorted({int(one) for one in steps.annotator} | {int(one) for one in outcomes.annotator})
        people = {user.pk: str(user) for user in m.User.objects.filter(pk__in=annotators)}
    else:
        steps, outcomes = at_least(steps, FEWEST), at_least(outcomes, FEWEST)

    def part(pk: int | None, name: str) -> Part:
        rng = np.random.default_rng(SEED) if intervals else None
        of_steps = steps if pk is None else steps.where(steps.subset == pk)
        of_outcomes = outcomes if pk is None else outcomes.where(outcomes.subset == pk)
        return Part(
            name=name,
            steps=summarise(of_steps, rng=rng),
            outcomes=summarise(of_outcomes),
            states=_sum_states(states, pk),
        )

    overall = part(None, "")
    # All of one subset is that subset: the same labels, the same seed, the same figures.
    parts = (
        [replace(overall, name=name) for name in subsets.values()]
        if len(subsets) == 1
        else [part(pk, name) for pk, name in subsets.items()]
    )
    found = Agreement(project=project, overall=overall, subsets=tuple(parts), people=people, seed=SEED)
    return found if with_people else found.without_people()


def _step_rows(project: m.Project) -> QuerySet[Any, Any]:
    return (
        m.Label.objects.filter(
            assignment__project=project,
            assignment__state=AssignmentState.SUBMITTED,
            assignment__trajectory__live=True,
            assignment__trajectory__state__in=SETTLED,
        )
        .annotate(blind=BLIND_VALUE)
        .filter(blind__isnull=False)
        .values_list(
            "assignment__trajectory",
            "step__ordinal",
            "assignment__annotator",
            "blind",
            "assignment__trajectory__task",
            "assignment__trajectory__subset",
        )
        .order_by()
    )


def _outcome_rows(project: m.Project) -> QuerySet[Any, Any]:
    return (
        m.OutcomeLabel.objects.filter(
            assignment__project=project,
            assignment__state=AssignmentState.SUBMITTED,
            assignment__trajectory__live=True,
            assignment__trajectory__state__in=SETTLED,
        )
        .annotate(blind=BLIND_VALUE, position=Value(0))
        .filter(blind__isnull=False)
        .values_list(
            "assignment__trajectory",
            "position",
            "assignment__annotator",
            "blind",
            "assignment__trajectory__task",
            "assignment__trajectory__subset",
        )
        .order_by()
    )


def _states(project: m.Project) -> list[tuple[int, str, int]]:
    return list(
        m.Trajectory.objects.filter(project=project, live=True)
        .order_by()
        .values_list("subset", "state")
        .annotate(n=Count("pk"))
    )


def _sum_states(rows: list[tuple[int, str, int]], subset: int | None) -> dict[str, int]:
    counts = {state.value: 0 for state in TrajectoryState}
    for pk, state, n in rows:
        if subset is None or pk == subset:
            counts[state] += n
    return counts


def as_json(report: Agreement) -> dict[str, Any]:
    """The report as JSON: unrounded numbers, null with a reason where undefined. `symmetric`: each pair of
    labels is counted in both orders in `confusion`, and `pairs` is empty."""
    return {
        "project": report.project.slug,
        "symmetric": not report.with_people,
        "fewest_trajectories": 1 if report.with_people else FEWEST,
        "overall": _part_json(report.overall, report.people),
        "subsets": {part.name: _part_json(part, report.people) for part in report.subsets},
        "values": list(VALUES),
        "interval_seed": report.seed,
    }


def _part_json(part: Part, people: dict[int, str]) -> dict[str, Any]:
    steps = part.steps
    return {
        "n": steps.n,
        "trajectories": steps.n_trajectories,
        "tasks": steps.n_tasks,
        "percent_agreement": steps.figures.agreement.value,
        "kappa": steps.figures.kappa.value,
        "linear_kappa": steps.figures.kappa_linear.value,
        "quadratic_kappa": steps.figures.kappa_quadratic.value,
        "confusion": steps.confusion.tolist(),
        "states": part.states,
        "disputed": part.states[TrajectoryState.DISPUTED.value],
        "unanimous": part.states[TrajectoryState.UNANIMOUS.value],
        "figures": _figures_json(steps),
        "outcome": {
            "n": part.outcomes.n,
            **_figures_json(part.outcomes),
            "confusion": part.outcomes.confusion.tolist(),
        },
        "pairs": [
            {
                "annotators": [people.get(pair.first, "?"), people.get(pair.second, "?")],
                "n": pair.n,
                "percent_agreement": pair.figures.agreement.value,
                "kappa": pair.figures.kappa.value,
                "linear_kappa": pair.figures.kappa_linear.value,
                "quadratic_kappa": pair.figures.kappa_quadratic.value,
                "confusion": pair.confusion.tolist(),
            }
            for pair in steps.pairs
        ],
    }


def _figures_json(summary: Summary) -> dict[str, Any]:
    figures = summary.figures
    return {
        "percent_agreement": measure_json(figures.agreement),
        "kappa": measure_json(figures.kappa),
        "linear_kappa": measure_json(figures.kappa_linear),
        "quadratic_kappa": measure_json(figures.kappa_quadratic),
        "error_kappa": measure_json(figures.kappa_error),
        "error_presence_kappa": measure_json(figures.error_presence),
        "first_error_agreement": measure_json(figures.first_error),
        "transition_kappa": measure_json(figures.transition),
        "alpha": measure_json(summary.alpha),
    }


def measure_json(measure: Measure) -> dict[str, Any]:
    """One figure: {"value", "n", "reason", "interval": [low, high] or null, "interval_reason"}."""
    interval = measure.interval
    known = interval is not None and interval.low is not None
    return {
        "value": measure.value,
        "n": measure.n,
        "reason": measure.reason,
        "interval": [interval.low, interval.high] if interval is not None and known else None,
        "interval_reason": interval.reason if interval is not None else "",
    }
