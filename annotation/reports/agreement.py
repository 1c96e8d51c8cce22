"""Agreement of a project's annotators: figures over blind labels of trajectories whose N labels are all in.

Trajectories that are still being labelled are left out, so that nobody who may yet label one learns of
others' labels through a figure. Who annotated what, and figures of single pairs, are for admins;
adjudicators, who decide between "A" and "B", get figures in which nobody can be made out (docs/sealing.md).

Figures are made of paired labels (reports/paired_labels.py) and never read labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from django.db.models import Count

from annotation import models as m
from annotation.core.agreement.counts import Counts, count_outcome_pairs, count_step_pairs
from annotation.core.agreement.summary import Summary, summarise
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import VALUES, TrajectoryState
from annotation.policies import Actor, allowed, require

from .agreement_cuts import ALONE, CUTS, FOR_ALL, Selection, View, parse, select
from .agreement_pictures import Drawn, Pictures, measure_json, pictures, pictures_json
from .paired_labels import Kept, paired_rows

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
    """What the agreement page, the API and `agreement --json` show, of what `selection` leaves.

    `people` maps annotator ids to names. Without `with_people` it is empty, as are the parts' pairs; and
    trajectories whose pairs of annotators share fewer than `FEWEST` of a subset are left out of every figure.
    """

    project: m.Project
    overall: Part
    subsets: tuple[Part, ...]
    view: View
    selection: Selection
    pictures: Pictures
    with_people: bool = True

    @property
    def people(self) -> Mapping[int, str]:
        """The names of annotators by their ids."""
        return self.view.people

    def without_people(self) -> Agreement:
        """The same figures without anything of a single person, or of when they worked."""
        bare = [
            replace(part, steps=part.steps.without_people(), outcomes=part.outcomes.without_people())
            for part in (self.overall, *self.subsets)
        ]
        return replace(
            self,
            overall=bare[0],
            subsets=tuple(bare[1:]),
            view=replace(self.view, people={}, with_people=False),
            pictures=replace(self.pictures, weeks=(), annotators=()),
            with_people=False,
        )


@dataclass(frozen=True, slots=True)
class _Figures:
    """What is kept in memory until labels change: everything but the states of trajectories."""

    steps: dict[str, Summary]
    outcomes: dict[str, Summary]
    pictures: Pictures


def view_of(viewer: Actor, project: m.Project) -> tuple[View, Kept]:
    """A project's paired labels as the viewer may see them. Three queries and those of the permission; one
    more when there are new labels. Raises Denied to whoever may not see agreement."""
    require(viewer, "agreement.view", project)
    with_people = allowed(viewer, "agreement.pairs", project)
    subsets = dict(m.Subset.objects.filter(project=project).order_by("name").values_list("pk", "name"))
    kept = paired_rows(project)
    if not with_people:
        rows = kept.result("few", lambda: kept.rows.shared_by_at_least(FEWEST))
        return View(rows, subsets, {}, FOR_ALL, with_people), kept
    annotators = np.unique(np.concatenate([kept.rows.first, kept.rows.second])).tolist()
    people = {user.pk: str(user) for user in m.User.objects.filter(pk__in=annotators)}
    return View(kept.rows, subsets, people, CUTS, with_people), kept


def agreement(
    *,
    viewer: Actor,
    project: m.Project,
    asked: Mapping[str, str] | None = None,
    by: str = "",
    intervals: bool = True,
    details: bool = True,
) -> Agreement:
    """Every figure of the labels that the filters `asked` for leave, and the pictures of them, cut `by` one
    of `agreement_cuts.CUTS` (the subset, when it says nothing).

    Without `details` there are neither subsets nor single pairs of several, which take most of the time.
    Four queries and those of the permission, one more when there are new labels. Raises Invalid for a filter
    or a cut that there is not.
    """
    view, kept = view_of(viewer, project)
    selection = parse(view, asked or {})
    cut = parse_cut(view, by)
    states = _states(project)
    found = kept.result(
        # the subsets too: one without labels is made without any that are new
        ("figures", view.with_people, selection, cut, intervals, details, tuple(view.subsets)),
        lambda: _figures(view, selection, cut, intervals, details),
    )

    def part(pk: int | None, name: str) -> Part:
        steps, outcomes = found.steps[name], found.outcomes[name]
        return Part(name, steps, outcomes, _sum_states(states, pk))

    chosen = selection.part("subset")
    names = view.subsets.items() if details else ()
    subsets = [(pk, name) for pk, name in names if chosen is None or name == chosen.key]
    return Agreement(
        project=project,
        overall=part(None if chosen is None else chosen.number, ""),
        subsets=tuple(part(pk, name) for pk, name in subsets),
        view=view,
        selection=selection,
        pictures=found.pictures,
        with_people=view.with_people,
    )


def parse_cut(view: View, by: str) -> str:
    """The cut of that name, the subset when there is none. Raises Invalid for one that there is not."""
    if by and by not in view.cuts:
        raise Invalid(translatable("There is no cut “{name}”.", name=by[:40]), code="unknown_filter")
    return by or "subset"


def _figures(view: View, selection: Selection, cut: str, intervals: bool, details: bool) -> _Figures:
    rows, keep = select(view, selection)
    alone = any(name in ALONE for name, _ in selection.parts)
    steps = count_step_pairs(rows.pairs(keep, alone=alone))
    outcomes = count_outcome_pairs(rows.outcome_pairs(alone=alone))
    if keep is not None:  # outcomes belong to no step
        outcomes = outcomes.where(np.zeros(len(outcomes), dtype=bool))

    def summaries(counts: Counts) -> dict[str, Summary]:
        def of(counts: Counts) -> Summary:
            found = summarise(counts, with_intervals=intervals, with_pairs=details)
            return found if view.with_people else found.without_people()

        every = of(counts)
        if not details:
            return {"": every}
        # All of one subset is that subset: the same labels, the same figures.
        if len(view.subsets) == 1:
            return {"": every, **dict.fromkeys(view.subsets.values(), every)}
        return {"": every} | {
            name: of(counts.where(counts.subset == pk)) for pk, name in view.subsets.items()
        }

    of_steps = summaries(steps)
    headline = of_steps[""].headline
    shown = pictures(view, Drawn(rows, keep, steps, alone), cut, headline)
    return _Figures(of_steps, summaries(outcomes), shown)


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
    """The report as JSON: unrounded numbers, null with a reason where undefined. `confusion` has the first
    annotator of the only pair in its rows; of several pairs, or none that may be named, it is `symmetric`:
    each pair of labels is counted in both orders."""
    return {
        "project": report.project.slug,
        "filters": dict(report.selection.asked),
        "fewest_trajectories": 1 if report.with_people else FEWEST,
        "overall": _part_json(report.overall, report.people),
        "subsets": {part.name: _part_json(part, report.people) for part in report.subsets},
        "values": list(VALUES),
        **pictures_json(report.pictures, report.people),
    }


def _part_json(part: Part, people: Mapping[int, str]) -> dict[str, Any]:
    steps = part.steps
    offsets = steps.offsets
    return {
        "n": steps.n,
        "trajectories": steps.n_trajectories,
        "tasks": steps.n_tasks,
        "annotators": steps.n_annotators,
        "headline": steps.headline,
        "states": part.states,
        "figures": _figures_json(steps),
        "symmetric": len(steps.pairs) != 1,
        "confusion": steps.table.tolist(),
        "first_errors": asdict(offsets) if offsets is not None else None,
        "outcome": {
            "n": part.outcomes.n,
            "figures": _figures_json(part.outcomes),
            "confusion": part.outcomes.table.tolist(),
        },
        "pairs": [
            {
                "annotators": [people.get(pair.first, "?"), people.get(pair.second, "?")],
                "n": pair.n,
                "figures": {name: measure_json(measure) for name, measure in pair.figures.items()},
                "confusion": pair.confusion.tolist(),
            }
            for pair in steps.pairs
        ],
    }


def _figures_json(summary: Summary) -> dict[str, Any]:
    return {name: measure_json(measure) for name, measure in summary.figures.items()}
