"""The very steps that a cell, a bar or a dot of the agreement page is made of, a page of them at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, Final

import numpy as np

from annotation import models as m
from annotation.core.agreement import label_pair_codec, unit_selection
from annotation.core.agreement.after_discussion import changed, revised
from annotation.core.agreement.pair_table import PLACES, PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.errors import Invalid
from annotation.core.figures.grouping import distinct, keys
from annotation.core.figures.measure import IntArray
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.core.trajectories.messages import message_beginning
from annotation.core.vocabulary import AssignmentState
from annotation.policies import Actor, require

from .cuts import DIFFERENCES, LabelSelection, LabelView, parse, select, select_outcomes
from .report import view_of

MOST_TEXT: Final = 600
"""So many characters of a step are enough to know which it is."""
STEP_SORTS: Final = ("record", "-record", "step", "-step", "difference", "-difference")
"""Orders of a list: by trajectory and step, by the number of the step, by how far the labels are apart."""


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
    `message_index` and `number` are None for an outcome; `text`: how the message begins, or the final
    answer."""

    trajectory: m.Trajectory
    message_index: int | None
    number: int | None
    text: str
    labels: tuple[OneLabel, ...]

    @property
    def differ(self) -> bool:
        """Whether the values differ."""
        return len({label.value for label in self.labels}) > 1


LISTED_COLUMNS: Final = ("trajectory", "ordinal", "first", "second", "first_value", "second_value")
_NOW: Final = ("first_now", "second_now")


@dataclass
class DifferingSteps:
    """The steps that a selection leaves, in order. `count` is the n of the figure whose steps these are;
    `starts` and `ends` say where each of them is in `columns`, which has a row for each pair of labels."""

    view: LabelView
    selection: LabelSelection
    starts: IntArray = field(repr=False)
    ends: IntArray = field(repr=False)
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

    @property
    def most_labels(self) -> int:
        """The largest number of labels of one of these: n labels make n(n − 1)/2 pairs."""
        pairs = int((self.ends - self.starts).max(initial=1))
        return (1 + isqrt(1 + 8 * pairs)) // 2

    def rows(self, chosen: Sequence[int]) -> list[LabelsOfStep]:
        """Some of them, by number from 0, with what was said. Four queries."""
        starts = self.starts[np.array(chosen, dtype=np.int64)].tolist()
        ends = self.ends[np.array(chosen, dtype=np.int64)].tolist()
        names = (*LISTED_COLUMNS, *_NOW)
        rows = [
            list(zip(*(self.columns[name][start:end].tolist() for name in names), strict=True))
            for start, end in zip(starts, ends, strict=True)
        ]
        trajectories = m.Trajectory.objects.select_related("subset", "task").in_bulk(
            {unit[0][0] for unit in rows}
        )
        steps, stored = self._stored(rows, trajectories)
        # of each unit its trajectory, and its step unless it is an outcome
        places = [(unit[0][0], None if self.of_outcomes else steps[unit[0][:2]]) for unit in rows]
        texts = _texts({(pk, step.message_index if step else None) for pk, step in places})

        def one(step: m.Step | None, trajectory: int, annotator: int, value: int, now: int) -> OneLabel:
            reason, note = stored.get((step.pk if step else trajectory, annotator), ("", ""))
            name = self.view.people.get(annotator, "?")
            return OneLabel(name, value - 1, now - 1 if now != value else None, reason, note)

        listed = []
        for unit, (trajectory, step) in zip(rows, places, strict=True):
            values = {}
            for _, _, first, second, a, b, a_now, b_now in unit:
                values.update({first: (a, a_now), second: (b, b_now)})
            labels = tuple(one(step, trajectory, who, *values[who]) for who in sorted(values))
            index = step.message_index if step else None
            number = step.ordinal + 1 if step else None
            text = texts[trajectory, index]
            listed.append(LabelsOfStep(trajectories[trajectory], index, number, text, labels))
        return listed

    def _stored(
        self, shown: list[list[tuple[int, ...]]], trajectories: Mapping[int, m.Trajectory]
    ) -> tuple[dict[tuple[int, int], m.Step], dict[tuple[int, int], tuple[str, str]]]:
        """The steps by trajectory and ordinal; and by step (or trajectory, of outcomes) and annotator the
        reason and the note."""
        submitted = {"assignment__state": AssignmentState.SUBMITTED}
        if self.of_outcomes:
            outcomes = m.OutcomeLabel.objects.filter(assignment__trajectory__in=trajectories, **submitted)
            reasons = outcomes.values_list(
                "assignment__trajectory", "assignment__annotator", "reason", "note"
            )
            return {}, {(row[0], row[1]): (row[2], row[3]) for row in reasons}
        ordinals = {unit[0][1] for unit in shown}
        found_steps = m.Step.objects.filter(trajectory__in=trajectories, ordinal__in=ordinals)
        steps = {(step.trajectory_id, step.ordinal): step for step in found_steps.order_by()}
        wanted = [steps[unit[0][0], unit[0][1]].pk for unit in shown]
        labels = m.Label.objects.filter(step__in=wanted, **submitted)
        rows = labels.values_list("step", "assignment__annotator", "reason", "note")
        return steps, {(row[0], row[1]): (row[2], row[3]) for row in rows}


def _texts(places: Iterable[tuple[int, int | None]]) -> dict[tuple[int, int | None], str]:
    """The beginnings of these messages, by trajectory and message index; with None, the final answers. One
    query; one content at a time is in memory."""
    indexes_of: dict[int, list[int | None]] = defaultdict(list)
    for trajectory, index in places:
        indexes_of[trajectory].append(index)
    texts: dict[tuple[int, int | None], str] = {}
    rows = m.TrajectoryContent.objects.filter(pk__in=indexes_of).only("content")
    for row in rows.iterator(chunk_size=1):
        content = row.parsed()
        for index in indexes_of[row.pk]:
            texts[row.pk, index] = escape(
                (content.get("answer_text") or "")[:MOST_TEXT]
                if index is None
                else message_beginning(content["messages"][index], MOST_TEXT)
            )
    return texts


def steps(
    *, viewer: Actor, project: m.Project, asked: Mapping[str, str], sort: str = STEP_SORTS[0]
) -> DifferingSteps:
    """The steps that filters leave, for those who may know pairs of annotators. Four queries and those of
    the permission, one more with a reason, more when there are new labels (`agreement.view_of`). Raises
    Denied, and Invalid for an unknown filter or order."""
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
    if "reason" in listed:
        fits = _with_reason(columns, project, listed["reason"], of_outcomes="of" in listed)
        columns = {name: column[fits] for name, column in columns.items()}
    order = np.lexsort((columns["ordinal"], columns["trajectory"]))
    columns = {name: column[order] for name, column in columns.items()}
    starts = np.arange(len(order))
    if listed.get("figure") in unit_selection.BY_STEP and not selection.alone:
        starts = distinct(columns["trajectory"], columns["ordinal"])[0]
    ends = np.append(starts[1:], len(order))
    order = _order(columns, starts, sort)
    return DifferingSteps(view, selection, starts[order], ends[order], columns)


def _order(columns: Mapping[str, IntArray], starts: IntArray, sort: str) -> IntArray:
    """The order of the steps that begin at `starts`, which are in that of their records."""
    if sort not in STEP_SORTS:
        message = translatable("There is no order “{name}”.", name=sort[:40])
        raise Invalid(message, code="unknown_filter")
    if not len(starts):
        return starts
    by = {
        "record": columns["trajectory"][starts],
        "step": columns["ordinal"][starts],
        "difference": np.maximum.reduceat(np.abs(columns["first_value"] - columns["second_value"]), starts),
    }[sort.removeprefix("-")]
    return np.argsort(-by if sort.startswith("-") else by, kind="stable")


def _with_reason(
    columns: Mapping[str, IntArray], project: m.Project, code: str, *, of_outcomes: bool
) -> BoolArray:
    """A mask of the pairs of labels of which one has this reason code. One query."""
    given = {"reason": code, "assignment__project": project, "assignment__state": AssignmentState.SUBMITTED}
    if of_outcomes:
        outcomes = m.OutcomeLabel.objects.filter(**given)
        rows = [(*row, 0) for row in outcomes.values_list("assignment__trajectory", "assignment__annotator")]
    else:
        labels = m.Label.objects.filter(**given)
        rows = list(labels.values_list("step__trajectory", "assignment__annotator", "step__ordinal"))
    coded = np.array(rows, dtype=np.int64).reshape(-1, 3)
    pairs = [np.tile(columns["trajectory"], 2), np.append(columns["first"], columns["second"])]
    pairs.append(np.tile(columns["ordinal"], 2))
    both = keys(*(np.append(coded[:, at], column) for at, column in enumerate(pairs)))
    first, second = np.isin(both[len(coded) :], both[: len(coded)]).reshape(2, -1)
    fits: BoolArray = first | second
    return fits


def _unit(
    rows: PairedRows, keep: BoolArray | None, selection: LabelSelection, listed: Mapping[str, str]
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
        apart = np.abs(first.astype(np.int8) - second.astype(np.int8))
        fits &= apart > 0 if (far := DIFFERENCES[listed["differ"]]) is None else apart == far
    if "annotator" in listed or "value" in listed:
        who = int(listed.get("annotator", -1))
        here, there = (rows.first == who)[rows.row_of_step], (rows.second == who)[rows.row_of_step]
        code = int(listed["value"]) + 1 if "value" in listed else None
        if "annotator" in listed:
            fits &= here | there
        if code is not None:
            fits &= np.where(here, first, second) == code
    return fits
