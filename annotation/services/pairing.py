"""Put the labels of each two annotators of a trajectory side by side, for figures of agreement.

It is done once, when the trajectory is settled: from then on nobody can change a label of it, and what is
seen later fixes the values as they are (services/exposures.py), so that no blind value changes either.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Value

from annotation.core.agreement.label_pair_codec import SeenLabel, pack
from annotation.core.trajectories.messages import normalise
from annotation.core.vocabulary import AssignmentState, LabelSource, SecondPersonState
from annotation.models import (
    Assignment,
    Exposure,
    Label,
    OutcomeLabel,
    PairedLabels,
    SecondPerson,
    Step,
    Trajectory,
)
from annotation.models.blindness import with_blind_values, with_untouched


@dataclass(frozen=True, slots=True)
class _Turn:
    """One annotator's submitted turn at a trajectory; `touched`: they have seen something of its task."""

    pk: int
    annotator: int
    guideline: int
    submitted_at: datetime
    touched: bool


SeenLabels = dict[int | None, SeenLabel]
"""One annotator's labels by the steps' ordinals, and under None the outcome's."""


def write(trajectories: Collection[int]) -> None:
    """Store the pairs of trajectories that have just been settled, as part of their transaction. Seven
    queries, and two more where an annotator has seen something of the task."""
    PairedLabels.objects.bulk_create(pairs_of(trajectories))


def pairs_of(trajectories: Collection[int]) -> list[PairedLabels]:
    """The pairs of settled trajectories as their labels say, unsaved; none where one person labels alone."""
    submitted = _submitted(trajectories)
    needed = ("project", "subset", "task", "policy_model", "content__content")
    rows = Trajectory.objects.filter(pk__in=submitted).select_related("content").only(*needed).order_by("pk")
    rows_ = list(rows)
    turns = _turns(rows_, submitted)
    labels = _labels(turn for people in turns.values() for turn in people)
    calls = _calls(rows_)
    return [
        _pair(row, calls[row.pk], (first, second), (labels[first.pk], labels[second.pk]))
        for row in rows_
        for first, second in combinations(turns[row.pk], 2)
    ]


def _submitted(trajectories: Collection[int]) -> dict[int, list[tuple[int, int, int, datetime]]]:
    """The submitted turns (pk, annotator, guideline, when) of each trajectory that several people have
    labelled, in order of the annotators. Not where judges' doubt brought the second: people differ there
    more than elsewhere, and agreement would be that of what judges chose."""
    submitted: dict[int, list[tuple[int, int, int, datetime]]] = {pk: [] for pk in trajectories}
    doubted = SecondPerson.objects.filter(trajectory=OuterRef("trajectory"), state=SecondPersonState.ASKED)
    rows = Assignment.objects.filter(
        ~Exists(doubted), trajectory__in=submitted, state=AssignmentState.SUBMITTED
    )
    for trajectory, pk, annotator, guideline, at in rows.order_by("annotator").values_list(
        "trajectory", "pk", "annotator", "guideline_version", "submitted_at"
    ):
        if at is not None:  # which the database holds
            submitted[trajectory].append((pk, annotator, guideline, at))
    return {pk: turns for pk, turns in submitted.items() if len(turns) > 1}


def _turns(
    rows: Collection[Trajectory], submitted: Mapping[int, list[tuple[int, int, int, datetime]]]
) -> dict[int, list[_Turn]]:
    """The turns with whether their annotators have seen something of the task."""
    exposures = Exposure.objects.filter(
        user__in={annotator for turns in submitted.values() for _, annotator, _, _ in turns},
        trajectory__task__in={row.task_id for row in rows},
    )
    seen = set(exposures.order_by().values_list("user", "trajectory__task").distinct()) if rows else set()
    return {
        row.pk: [_Turn(*turn, touched=(turn[1], row.task_id) in seen) for turn in submitted[row.pk]]
        for row in rows
    }


def _labels(turns: Iterable[_Turn]) -> dict[int, SeenLabels]:
    """The blind labels of each turn, by its pk."""
    labels: dict[int, SeenLabels] = {}
    which: dict[bool, list[int]] = {False: [], True: []}
    for turn in turns:
        labels[turn.pk] = {}
        which[turn.touched].append(turn.pk)
    for touched, pks in which.items():
        if not pks:
            continue
        # whoever has seen nothing of the task has left all labels untouched; the other question is a long one
        condition = with_untouched if touched else _with_all_untouched
        of_steps = condition(Label.stored.filter(assignment__in=pks)).order_by()
        columns = ("assignment", "blind", "untouched")
        for pk, value, untouched, ordinal, source in of_steps.values_list(
            *columns, "step__ordinal", "source"
        ):
            confirmed = source == LabelSource.PROPAGATED
            labels[pk][ordinal] = SeenLabel(value, confirmed, not untouched)
        of_outcomes = condition(OutcomeLabel.stored.filter(assignment__in=pks)).order_by()
        for pk, value, untouched in of_outcomes.values_list(*columns):
            labels[pk][None] = SeenLabel(value, False, not untouched)
    return labels


def _with_all_untouched(labels: QuerySet[Any]) -> QuerySet[Any]:
    return with_blind_values(labels).annotate(untouched=Value(True))


def _calls(trajectories: Collection[Trajectory]) -> dict[int, list[bool]]:
    """Whether each step of each trajectory calls a tool, in order."""
    steps: dict[int, list[int]] = {row.pk: [] for row in trajectories}
    rows = Step.objects.filter(trajectory__in=steps).order_by("trajectory", "ordinal")
    for pk, index in rows.values_list("trajectory", "message_index"):
        steps[pk].append(index)
    calls = {}
    for row in trajectories:
        messages = row.content.parsed()["messages"]
        own = normalise([messages[at] for at in steps[row.pk]])
        calls[row.pk] = [bool(message.tool_calls) for message in own]
    return calls


def _pair(
    trajectory: Trajectory,
    calls: list[bool],
    people: tuple[_Turn, _Turn],
    labels: tuple[SeenLabels, SeenLabels],
) -> PairedLabels:
    (first, second), (here, there) = people, labels
    later = max(first.submitted_at, second.submitted_at).date().toordinal()
    return PairedLabels(
        project_id=trajectory.project_id,
        subset_id=trajectory.subset_id,
        task_id=trajectory.task_id,
        trajectory_id=trajectory.pk,
        policy_model=trajectory.policy_model,
        first_id=first.annotator,
        second_id=second.annotator,
        first_guideline=first.guideline,
        second_guideline=second.guideline,
        week=later - (later - 1) % 7,
        n=sum(ordinal is not None and ordinal in there for ordinal in here),
        outcome=pack(here.get(None), there.get(None), call=False),
        steps=bytes(
            pack(here.get(ordinal), there.get(ordinal), call=call) for ordinal, call in enumerate(calls)
        ),
    )


COMPARED = [field.attname for field in PairedLabels._meta.concrete_fields if not field.primary_key]


def differing(trajectory_id: int) -> bool:
    """Whether the stored pairs of a settled trajectory are not those that its labels give."""

    def plain(rows: Iterable[PairedLabels]) -> list[tuple[Any, ...]]:
        told = (tuple(getattr(row, name) for name in COMPARED) for row in rows)
        return sorted(tuple(bytes(x) if isinstance(x, memoryview) else x for x in row) for row in told)

    stored = PairedLabels.objects.filter(trajectory=trajectory_id)
    return plain(stored) != plain(pairs_of([trajectory_id]))


def forget(*, trajectory_id: int) -> None:
    """Remove the pairs of a trajectory that is labelled once more."""
    PairedLabels.objects.filter(trajectory=trajectory_id).delete()


def repair(trajectory_id: int) -> None:
    """Replace the stored pairs of a trajectory by what its labels give."""
    PairedLabels.objects.filter(trajectory=trajectory_id).delete()
    write([trajectory_id])
