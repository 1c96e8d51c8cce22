"""The very steps that a cell, a bar or a dot of the agreement page is made of, a page of them at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from annotation import models as m
from annotation.core.agreement import packed
from annotation.core.agreement.measure import IntArray
from annotation.policies import Actor, require

from .agreement import view_of
from .agreement_cuts import Selection, View, parse, select

PER_PAGE: Final = 50


@dataclass(frozen=True, slots=True)
class OneLabel:
    """What one annotator said of the step: the value that figures count, and what they wrote beside it."""

    annotator: str
    value: int
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class PairOfLabels:
    """One step with the labels of two annotators."""

    trajectory: m.Trajectory
    message_index: int
    number: int
    labels: tuple[OneLabel, OneLabel]

    @property
    def differ(self) -> bool:
        """Whether the two values differ."""
        return self.labels[0].value != self.labels[1].value


@dataclass
class Steps:
    """The pairs of labels that a selection leaves, by trajectory and step. `count` is the n of the figure
    whose steps these are."""

    view: View
    selection: Selection
    columns: Mapping[str, IntArray] = field(repr=False)

    @cached_property
    def count(self) -> int:
        """How many pairs of labels."""
        return len(self.columns["trajectory"])

    def page(self, number: int, per_page: int = PER_PAGE) -> list[PairOfLabels]:
        """One page of them, `number` from 1, or the last one before it. Three queries."""
        number = max(1, min(number, -(-self.count // per_page)))
        chosen = slice((number - 1) * per_page, number * per_page)
        rows = list(zip(*(self.columns[name][chosen].tolist() for name in COLUMNS), strict=True))
        trajectories = m.Trajectory.objects.select_related("subset", "task").in_bulk({row[0] for row in rows})
        steps = {
            (step.trajectory_id, step.ordinal): step
            for step in m.Step.objects.filter(trajectory__in=trajectories).order_by()
        }
        labels = {
            (label.step_id, label.assignment.annotator_id): label
            for label in m.Label.objects.filter(
                step__in=[steps[row[0], row[1]].pk for row in rows], assignment__state="submitted"
            ).select_related("assignment")
        }

        def one(step: m.Step, annotator: int, value: int) -> OneLabel:
            label = labels.get((step.pk, annotator))
            name = self.view.people.get(annotator, "?")
            return OneLabel(name, value - 1, label.reason if label else "", label.note if label else "")

        found = []
        for trajectory, ordinal, first, second, first_value, second_value in rows:
            step = steps[trajectory, ordinal]
            pair = (one(step, first, first_value), one(step, second, second_value))
            found.append(PairOfLabels(trajectories[trajectory], step.message_index, ordinal + 1, pair))
        return found


COLUMNS: Final = ("trajectory", "ordinal", "first", "second", "first_value", "second_value")


def steps(*, viewer: Actor, project: m.Project, asked: Mapping[str, str]) -> Steps:
    """The steps that filters leave, for those who may know pairs of annotators. Three queries and those of
    the permission. Raises Denied, and Invalid for a filter that there is not."""
    require(viewer, "agreement.pairs", project)
    view, _kept = view_of(viewer, project)
    selection = parse(view, asked, lists=True)
    rows, keep = select(view, selection)
    both = packed.paired(rows.steps)
    numbers = np.flatnonzero(both if keep is None else both & keep)
    row, ordinal = rows.row_of_step[numbers], rows.ordinal[numbers]
    first_value, second_value = packed.values(rows.steps[numbers])
    found: dict[str, Any] = {
        "trajectory": rows.trajectory[row],
        "ordinal": ordinal,
        "first": rows.first[row],
        "second": rows.second[row],
        "first_value": first_value.astype(np.int64),
        "second_value": second_value.astype(np.int64),
    }
    order = np.lexsort((ordinal, found["trajectory"]))
    return Steps(view, selection, {name: column[order] for name, column in found.items()})
