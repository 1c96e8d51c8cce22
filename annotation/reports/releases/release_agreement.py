"""Agreement in a release's manifest: over the whole project, and over the trajectories in it.

Both without disputes that nobody has resolved: everybody may read a manifest, and the difference of the two,
or of two releases, could be one trajectory whose annotators do not know yet what the others said.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation import models as m
from annotation.core.agreement.pair_counts import CountedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.agreement.summary import summarise
from annotation.core.figures.measure import IntArray, figures_json
from annotation.core.kinds import ProjectKind
from annotation.core.vocabulary import TrajectoryState
from annotation.policies import Actor

from ..agreement.report import view_of


def agreement_twice(*, viewer: Actor, project: m.Project, trajectories: IntArray) -> dict[str, Any]:
    """{"project": …, "release": …} with intervals: over all blind pairs of labels of the project's resolved
    trajectories, and over those of `trajectories`, by pk.

    Each is {"overall": figures of steps by name, "outcome": {"n", "figures", "confusion"}, "n",
    "trajectories", "tasks", "annotators", "headline" (the name of the figure to go by), "subsets": {name: the
    same without "subsets"}}. No figure tells of a single annotator. One query more than `agreement.view_of`.
    """
    view, kept = view_of(viewer, project)
    rows = kept.rows
    disputed = m.Trajectory.objects.filter(project=project, state=TrajectoryState.DISPUTED)
    resolved = ~np.isin(rows.trajectory, list(disputed.order_by().values_list("pk", flat=True)))
    inside = np.isin(rows.trajectory, trajectories)
    kind = project.of_kind
    whole = _part(kept.counted, None if resolved.all() else resolved, view.subsets, kind)
    if (inside == resolved).all():
        return {"project": whole, "release": whole}
    subsets = {pk: name for pk, name in view.subsets.items() if (inside & (rows.subset == pk)).any()}
    return {"project": whole, "release": _part(kept.counted, inside, subsets, kind)}


def _part(counted: CountedRows, chosen: BoolArray | None, subsets: Any, kind: ProjectKind) -> dict[str, Any]:
    every = _figures(counted, chosen, kind)
    # all of one subset is that subset
    if len(subsets) == 1:
        return {**every, "subsets": dict.fromkeys(subsets.values(), every)}
    return {
        **every,
        "subsets": {
            name: _figures(counted, (counted.rows.subset == pk) & (True if chosen is None else chosen), kind)
            for pk, name in subsets.items()
        },
    }


def _figures(counted: CountedRows, chosen: BoolArray | None, kind: ProjectKind) -> dict[str, Any]:
    steps, outcomes = (
        summarise(counted.counts(sums, chosen)[0], with_pairs=False, kind=kind).without_people()
        for sums in (counted.steps, counted.outcomes)
    )
    return {
        "n": steps.n,
        "trajectories": steps.n_trajectories,
        "tasks": steps.n_tasks,
        "annotators": steps.n_annotators,
        "headline": steps.headline,
        "overall": figures_json(steps.figures),
        "outcome": {
            "n": outcomes.n,
            "figures": figures_json(outcomes.figures),
            "confusion": outcomes.table.tolist(),
        },
    }
