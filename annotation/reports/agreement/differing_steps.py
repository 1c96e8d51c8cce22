"""The very steps that a cell, a bar or a dot of the agreement page is made of, a page of them at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from annotation import models as m
from annotation.core.agreement import label_pair_codec, unit_selection
from annotation.core.agreement.after_discussion import changed, revised
from annotation.core.agreement.pair_table import PLACES, PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.figures.grouping import distinct
from annotation.core.figures.measure import IntArray
from annotation.core.vocabulary import AssignmentState
from annotation.policies import Actor, require

from .cuts import Selection, View, parse, select, select_outcomes
from .report import view_of

PER_PAGE: Final = 50


@dataclass(frozen=True, slots=True)
class OneLabel:
    """One annotator's label of the step: the value that figures count, and their marks and note. `now`: what
    they say after discussion, where they changed it."""

    annotator: str
    value: int
    now: int | None
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class LabelsOfStep:
    """One step with the labels of two annotators, or of all who labelled it where a figure counts steps.
    `message_index` and `number` are None for an outcome."""

    trajectory: m.Trajectory
    message_index: int | None
    number: int | None
    labels: tuple[OneLabel, ...]

    @property
    def anchor(self) -> str:
        """The anchor of the step on the page of the trajectory."""
        return "outcome" if self.message_index is None else f"m{self.message_index}"

    @property
    def differ(self) -> bool:
        """Whether the values differ."""
        return len({label.value for label in self.labels}) > 1


COLUMNS: Final = ("trajectory", "ordinal", "first", "second", "first_value", "second_value")
_NOW: Final = ("first_now", "second_now")


@dataclass
class Steps:
    """The steps that a selection leaves, by trajectory and step. `count` is the n of the figure whose steps
    these are; `starts` says where each of them begins in `columns`, which has a row for each pair of
    labels."""

    view: View
    selection: Selection
    starts: IntArray = field(repr=False)
    columns: Mapping[str, IntArray] = field(repr=False)

    @property
    def of_outcomes(self) -> bool:
        """Whether these are outcomes."""
        return "of" in dict(self.selection.listed)

    @property
    def of_steps(self) -> bool:
        """Whether each is a step with all its labels; else a pair of labels."""
        return len(self.starts) < len(self.columns["trajectory"])

    @property
    def count(self) -> int:
        """The number of steps."""
        return len(self.starts)

    def rows(self, chosen: Sequence[int]) -> list[LabelsOfStep]:
        """Some of them, by number from 0, with what was said. Three queries."""
        ends = np.append(self.starts[1:], len(self.columns["trajectory"]))
        starts = self.starts[np.array(chosen, dtype=np.int64)].tolist()
        ends = ends[np.array(chosen, dtype=np.int64)].tolist()
        names = (*COLUMNS, *_NOW)
        rows = [
            list(zip(*(self.columns[name][start:end].tolist() for name in names), strict=True))
            for start, end in zip(starts, ends, strict=True)
        ]
        trajectories = m.Trajectory.objects.select_related("subset", "task").in_bulk(
            {unit[0][0] for unit in rows}
        )
        steps, said = self._stored(rows, trajectories)

        def one(step: int | None, trajectory: int, annotator: int, value: int, now: int) -> OneLabel:
            reason, note = said.get((step or trajectory, annotator), ("", ""))
            name = self.view.people.get(annotator, "?")
            return OneLabel(name, value - 1, now - 1 if now != value else None, reason, note)

        found = []
        for unit in rows:
            trajectory, ordinal = unit[0][:2]
            step = None if self.of_outcomes else steps[trajectory, ordinal]
            pk = step.pk if step else None
            values = {}
            for _, _, first, second, a, b, a_now, b_now in unit:
                values.update({first: (a, a_now), second: (b, b_now)})
            labels = tuple(one(pk, trajectory, who, *values[who]) for who in sorted(values))
            found.append(
                LabelsOfStep(
                    trajectories[trajectory],
                    step.message_index if step else None,
                    ordinal + 1 if step else None,
                    labels,
                )
            )
        return found

    def _stored(
        self, shown: list[list[tuple[int, ...]]], trajectories: Mapping[int, m.Trajectory]
    ) -> tuple[dict[tuple[int, int], m.Step], dict[tuple[int, int], tuple[str, str]]]:
        """The steps by trajectory and ordinal; and by step (or trajectory, of outcomes) and annotator the
        reason and the note."""
        submitted = {"assignment__state": AssignmentState.SUBMITTED}
        if self.of_outcomes:
            outcomes = m.OutcomeLabel.objects.filter(assignment__trajectory__in=trajectories, **submitted)
            found = outcomes.values_list("assignment__trajectory", "assignment__annotator", "reason", "note")
            return {}, {(row[0], row[1]): (row[2], row[3]) for row in found}
        steps = {
            (step.trajectory_id, step.ordinal): step
            for step in m.Step.objects.filter(trajectory__in=trajectories).order_by()
        }
        wanted = [steps[unit[0][0], unit[0][1]].pk for unit in shown]
        labels = m.Label.objects.filter(step__in=wanted, **submitted)
        rows = labels.values_list("step", "assignment__annotator", "reason", "note")
        return steps, {(row[0], row[1]): (row[2], row[3]) for row in rows}


def steps(*, viewer: Actor, project: m.Project, asked: Mapping[str, str]) -> Steps:
    """The steps that filters leave, for those who may know pairs of annotators. Four queries and those of
    the permission, more when there are new labels (`agreement.view_of`). Raises Denied, and Invalid for a
    filter that there is not."""
    view, _kept = view_of(viewer, project)
    if not view.with_people:
        require(viewer, "agreement.pairs", project)
    selection = parse(view, asked, lists=True)
    listed = dict(selection.listed)
    blind, keep = select(view, selection)
    after = revised(blind, view.changes)
    if "of" in listed:
        blind, keep = select_outcomes(blind, selection)
        after = after.of_outcomes()
    shown = after if "when" in listed else blind
    both = label_pair_codec.paired(shown.steps)
    numbers = np.flatnonzero(both if keep is None else both & keep)
    numbers = numbers[_unit(shown, keep, selection, listed)]
    numbers = numbers[_listed(shown, listed, ordered=selection.part("pair") is not None)[numbers]]
    if "changed" in listed:
        numbers = numbers[changed(blind.steps, after.steps)[numbers]]
    row = shown.row_of_step[numbers]
    columns: dict[str, Any] = {
        "trajectory": shown.trajectory[row],
        "ordinal": shown.ordinal[numbers],
        "first": shown.first[row],
        "second": shown.second[row],
    }
    for end, rows in (("value", blind), ("now", after)):
        first, second = label_pair_codec.values(rows.steps[numbers])
        columns[f"first_{end}"], columns[f"second_{end}"] = first.astype(np.int64), second.astype(np.int64)
    order = np.lexsort((columns["ordinal"], columns["trajectory"]))
    columns = {name: column[order] for name, column in columns.items()}
    starts = np.arange(len(numbers))
    if listed.get("figure") in unit_selection.BY_STEP and not selection.alone:
        starts = distinct(columns["trajectory"], columns["ordinal"])[0]
    return Steps(view, selection, starts, columns)


def _unit(
    rows: PairedRows, keep: BoolArray | None, selection: Selection, listed: Mapping[str, str]
) -> BoolArray:
    """A mask of the pairs of labels behind a figure, or behind a bar of the first errors."""
    pairs = rows.pairs(keep, alone=selection.alone)
    unit = np.ones(len(pairs), dtype=bool)
    if "figure" in listed:
        unit &= unit_selection.of_figure(pairs, listed["figure"])
    if "first_error" in listed:
        unit &= unit_selection.of_first_errors(pairs, listed["first_error"])
    return unit


def _listed(rows: PairedRows, listed: Mapping[str, str], *, ordered: bool) -> BoolArray:
    """A mask (steps,) of the steps that meet a list's further conditions. `ordered`: labels are those of the
    first and the second annotator."""
    fits = np.ones(len(rows.steps), dtype=bool)
    first, second = label_pair_codec.values(rows.steps)
    if "place" in listed:
        fits &= np.minimum(rows.ordinal + 1, PLACES) == int(listed["place"])
    if "labels" in listed:
        a, b = (int(value) + 1 for value in listed["labels"].split(","))
        same = (first == a) & (second == b)
        fits &= same if ordered else same | (first == b) & (second == a)
    if "differ" in listed:
        fits &= first != second
    if "annotator" in listed or "value" in listed:
        who = int(listed.get("annotator", -1))
        here, there = (rows.first == who)[rows.row_of_step], (rows.second == who)[rows.row_of_step]
        code = int(listed["value"]) + 1 if "value" in listed else None
        if "annotator" in listed:
            fits &= here | there
        if code is not None:
            fits &= np.where(here, first, second) == code
    return fits
