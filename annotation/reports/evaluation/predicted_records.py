"""Trajectories as a release holds them, with the consensus of each step and what a model predicts of it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.core.errors import NotFound
from annotation.core.figures.first_errors import FirstErrors
from annotation.core.figures.measure import IntArray
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.releases.frozen_content import content_of
from annotation.core.scoring import MISSING
from annotation.core.scoring.details import Worst, erring, in_cell, in_class
from annotation.core.scoring.pairs import wrong_pairs
from annotation.models import PredictionReasons, PredictionSet, Release, ReleaseRecord, Step, Trajectory
from annotation.policies import Actor, Viewer, require

from ..shared.release_labels import parsed_record, predictions, released_labels
from ..shared.transcripts import Transcript, read_content
from .answered_questions import AnsweredQuestion, answer_to, is_asked

CLASSES = tuple(FirstErrors.__dataclass_fields__)


@dataclass(slots=True)
class PredictedStep:
    """A step (None: the outcome) of a record: its consensus, how it came about, the step at which its error
    began and why; and what the model says of it. `predicted` is None without a label, and when there is no
    model. Of a decision that is not answered by labels: the `score` of the option, or in how many of the
    orders in which it was shown it was `chosen`."""

    step: Step | None
    released: int
    kind: str
    root: Step | None = None
    code: str = ""
    predicted: int | None = None
    reason: str = ""
    labelled: bool = True
    score: float | None = None
    chosen: tuple[int, int] | None = None

    @property
    def differs(self) -> bool:
        """Whether the model, where it says labels, says another, or none."""
        return self.labelled and self.predicted != self.released


@dataclass(slots=True)
class FrozenRecord:
    """One record of a release. With a model: whether it was `asked`, whether its judgement `failed`, its
    `comment`, of a decision in how many of all `pairs` it puts the better option first, and of a question
    what it `answered`. `record_id`, `subset` and `policy_model` are texts as they came in; `trajectory`: the
    live one of this name, if there is one; `record`: the line of the release."""

    release: Release
    ordinal: int
    record_id: str
    subset: str
    policy_model: str
    transcript: Transcript
    steps: list[PredictedStep]
    outcome: PredictedStep
    trajectory: Trajectory | None
    record: Mapping[str, Any]
    asked: bool = False
    failed: bool = False
    comment: str = ""
    pairs: tuple[int, int] | None = None
    answered: AnsweredQuestion | None = None

    @property
    def told(self) -> list[PredictedStep]:
        """The steps, and the outcome, of which the model says something."""
        every = (*self.steps, self.outcome)
        return [one for one in every if one.predicted is not None or one.reason or not one.labelled]

    @property
    def differing(self) -> list[int]:
        """The messages of the steps that the model labels otherwise."""
        return [one.step.message_index for one in self.steps if one.step and one.differs]

    @property
    def wrong(self) -> int:
        """The number of steps that the model labels otherwise."""
        return len(self.differing)


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """A record in a list: its place in the release, how the model does on it, and how many of its steps are
    what was asked for (`indexes`: the first of them)."""

    ordinal: int
    record_id: str
    subset: str
    found: Worst
    count: int
    indexes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PredictedRecordFilter:
    """A filter of records: with steps of a `released` label that the model labels `predicted` (None: not at
    all), or whose first error the model sees in `first` (a class of FirstErrors). Nothing: those with an
    error of the model."""

    cell: tuple[int, int | None] | None = None
    first: str = ""
    subset: str = ""


def raw_record(release: Release, ordinal: int) -> tuple[ReleaseRecord, bytes, dict[str, Any]]:
    """A record of a release with its line and what that says. One query. Raises NotFound, and Conflict on a
    damaged one."""
    row = ReleaseRecord.objects.filter(release=release, ordinal=ordinal).first()
    if row is None:
        raise NotFound(translatable("There is no such record in this release."))
    record = parsed_record(row.record_id, row.body)
    return row, zlib.decompress(bytes(row.body)), record


def frozen_record(*, actor: Viewer, release: Release, ordinal: int) -> FrozenRecord:
    """One record with its consensus. Two queries and those of the permission. Raises NotFound, and Conflict
    on a damaged record."""
    require(actor, "release.view", release)
    row, _line, record = raw_record(release, ordinal)
    content = content_of(record)
    steps = [
        Step(message_index=int(index), ordinal=number)
        for number, index in enumerate(sorted(record["step_labels"], key=int))
    ]
    by_index = {step.message_index: step for step in steps}
    roots, codes = record["step_roots"], record["step_reasons"]
    trajectory = Trajectory.objects.filter(
        project=release.project_id, subset__name=row.subset, record_id=row.record_id, live=True
    )
    return FrozenRecord(
        release=release,
        ordinal=ordinal,
        record_id=record["record_id"],
        subset=record["subset"],
        policy_model=record.get("policy_model") or "",
        transcript=read_content(content, reference_answer=True, hints=False),
        steps=[_step(step, record, roots, codes, by_index) for step in steps],
        outcome=PredictedStep(
            None, record["final_label"], record.get("final_kind", ""), code=record["final_reason"]
        ),
        trajectory=trajectory.select_related("project", "subset", "task").first(),
        record=record,
    )


def _step(
    step: Step,
    record: Mapping[str, Any],
    roots: Mapping[str, int],
    codes: Mapping[str, str],
    by_index: Mapping[int, Step],
) -> PredictedStep:
    key = str(step.message_index)
    return PredictedStep(
        step,
        record["step_labels"][key],
        (record.get("step_kinds") or {}).get(key, ""),
        root=by_index.get(roots.get(key, -1)),
        code=codes.get(key, ""),
    )


def add_predictions(shown: FrozenRecord, row: PredictionSet) -> None:
    """Say beside each step what a model predicts of it, with its reasons. Two queries."""
    released = released_labels(row.release)
    (predicted,) = predictions(released, [row])
    starts = released.starts()
    values = predicted.steps[starts[shown.ordinal] : starts[shown.ordinal + 1]].tolist()
    line_reasons = _reasons(row, shown.ordinal)
    reasons = line_reasons.get("steps", {})
    for one, value in zip(shown.steps, values, strict=True):
        one.predicted = None if value == MISSING else value
        one.reason = reasons.get(str(one.step.message_index) if one.step else "", "")
    outcome = int(predicted.outcome[shown.ordinal])
    shown.outcome.predicted = None if outcome == MISSING else outcome
    shown.outcome.reason = line_reasons.get("final", "")
    if released.kind.has(Feature.PAIRS):
        if is_asked(released, shown.ordinal):
            shown.answered = answer_to(released, predicted, shown.ordinal, shown.record, line_reasons)
        else:
            every, wrong = (int(one[shown.ordinal]) for one in wrong_pairs(released, predicted))
            shown.pairs = (every - wrong, every) if every else None
        _add_answer(shown, line_reasons)
    shown.comment = line_reasons.get("comment", "")
    shown.asked, shown.failed = bool(predicted.there[shown.ordinal]), bool(predicted.failed[shown.ordinal])


def _add_answer(shown: FrozenRecord, reasons: Mapping[str, Any]) -> None:
    """Say of the options of a decision which score each has, or how often it was chosen."""
    shown.outcome.labelled = shown.outcome.predicted is not None
    scores, choices = reasons.get("scores"), reasons.get("choices")
    if "output" in reasons:
        for one in shown.steps:
            one.labelled = False
    for one in shown.steps if scores is not None or choices else ():
        index = one.step.message_index if one.step else -1
        one.labelled, one.score = False, (scores or {}).get(str(index))
        orders = [choice for choice in choices or () if index in choice["order"]]
        if orders:
            one.chosen = (sum(choice["choice"] == index for choice in orders), len(orders))


def _reasons(row: PredictionSet, ordinal: int) -> dict[str, Any]:
    """The reasons and comment of a model on a record; those stored last count."""
    kept = PredictionReasons.objects.filter(prediction_set=row, first__lte=ordinal, last__gte=ordinal)
    reasons: dict[str, Any] = {}
    for body in kept.order_by("pk").values_list("body", flat=True):
        reasons = json.loads(zlib.decompress(bytes(body))).get(str(ordinal), reasons)
    return reasons


def model_records(*, actor: Actor, row: PredictionSet, asked: PredictedRecordFilter) -> list[ListedRecord]:
    """The records of a list, those with the most wrong steps first (or with the most steps of the cell). One
    query and those of the permission; `row` comes with its release."""
    require(actor, "release.view", row.release)
    whole = released_labels(row.release)
    (predicted,) = predictions(whole, [row])
    # a model is scored on the subsets of which it predicts anything
    covered = np.isin(whole.subset, whole.subset[predicted.there])
    if asked.subset:
        names = [at for at, name in enumerate(whole.subsets) if name == asked.subset]
        covered &= np.isin(whole.subset, names)
    counts: IntArray | None = None
    steps: IntArray = np.zeros(0, dtype=np.int64)
    if asked.cell is not None:
        steps = np.flatnonzero(in_cell(whole, predicted, *asked.cell) & covered[whole.record])
        counts = np.bincount(whole.record[steps], minlength=whole.n_records)
        chosen = counts > 0
    elif asked.first:
        chosen = covered & in_class(whole, predicted, CLASSES.index(asked.first))
    else:
        chosen = covered
    only_wrong = asked.cell is None and not asked.first
    errors = erring(whole, predicted, chosen, only_wrong=only_wrong, first=counts)
    of_record: dict[int, list[int]] = {}
    for at in steps.tolist():
        of_record.setdefault(int(whole.record[at]), []).append(int(whole.message_index[at]))
    return [
        ListedRecord(
            one.record,
            whole.record_id[one.record],
            whole.subsets[whole.subset[one.record]],
            one,
            int(counts[one.record]) if counts is not None else one.wrong,
            tuple(of_record.get(one.record, ())),
        )
        for one in errors
    ]
