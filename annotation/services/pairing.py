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
from annotation.models.prepared import Prepared


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
    rows = _rows(trajectories=submitted)
    turns = _turns(rows, submitted)
    labels = _labels(turn for people in turns.values() for turn in people)
    calls = _calls(rows)
    return [
        _pair(row, calls[row.pk], (first, second), (labels[first.pk], labels[second.pk]))
        for row in rows
        for first, second in combinations(turns[row.pk], 2)
    ]


_rows = Prepared(
    lambda trajectories: (
        Trajectory.objects.filter(pk__in=trajectories)
        .select_related("content")
        .only("project", "subset", "task", "policy_model", "content__content")
        .order_by("pk")
    ),
    "trajectories",
)


def _submitted(trajectories: Collection[int]) -> dict[int, list[tuple[int, int, int, datetime]]]:
    """The submitted turns (pk, annotator, guideline, when) of each trajectory that several people have
    labelled, in order of the annotators. Not where judges' doubt brought the second: people differ there
    more than elsewhere, and agreement would be that of what judges chose."""
    submitted: dict[int, list[tuple[int, int, int, datetime]]] = {pk: [] for pk in trajectories}
    for trajectory, pk, annotator, guideline, at in _undoubted(trajectories=submitted):
        if at is not None:  # which the database holds
            submitted[trajectory].append((pk, annotator, guideline, at))
    return {pk: turns for pk, turns in submitted.items() if len(turns) > 1}


def _submissions(
    trajectories: Collection[int],
) -> QuerySet[Assignment, tuple[int, int, int, int, datetime | None]]:
    doubted = SecondPerson.objects.filter(trajectory=OuterRef("trajectory"), state=SecondPersonState.ASKED)
    rows = Assignment.objects.filter(
        ~Exists(doubted), trajectory__in=trajectories, state=AssignmentState.SUBMITTED
    )
    return rows.order_by("annotator").values_list(
        "trajectory", "pk", "annotator", "guideline_version", "submitted_at"
    )


_undoubted = Prepared(_submissions, "trajectories")


def _turns(
    rows: Collection[Trajectory], submitted: Mapping[int, list[tuple[int, int, int, datetime]]]
) -> dict[int, list[_Turn]]:
    """The turns with whether their annotators have seen something of the task."""
    people = {annotator for turns in submitted.values() for _, annotator, _, _ in turns}
    seen = set(_seen(people=people, tasks={row.task_id for row in rows}))
    return {
        row.pk: [_Turn(*turn, touched=(turn[1], row.task_id) in seen) for turn in submitted[row.pk]]
        for row in rows
    }


_seen = Prepared(
    lambda people, tasks: (
        Exposure.objects.filter(user__in=people, trajectory__task__in=tasks)
        .order_by()
        .values_list("user", "trajectory__task")
        .distinct()
    ),
    "people",
    "tasks",
)


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
        for pk, value, untouched, ordinal, source in _of_steps(touched=touched, assignments=pks):
            confirmed = source == LabelSource.PROPAGATED
            labels[pk][ordinal] = SeenLabel(value, confirmed, not untouched)
        for pk, value, untouched in _of_outcomes(touched=touched, assignments=pks):
            labels[pk][None] = SeenLabel(value, False, not untouched)
    return labels


def _judged(labels: QuerySet[Any], assignments: Collection[int], touched: bool) -> QuerySet[Any]:
    rows = labels.filter(assignment__in=assignments).order_by()
    # whoever has seen nothing of the task has left all labels untouched; the other question is a long one
    return with_untouched(rows) if touched else with_blind_values(rows).annotate(untouched=Value(True))


_of_steps = Prepared(
    lambda assignments, touched: _judged(Label.stored.all(), assignments, touched).values_list(
        "assignment", "blind", "untouched", "step__ordinal", "source"
    ),
    "assignments",
)
_of_outcomes = Prepared(
    lambda assignments, touched: _judged(OutcomeLabel.stored.all(), assignments, touched).values_list(
        "assignment", "blind", "untouched"
    ),
    "assignments",
)


def _calls(trajectories: Collection[Trajectory]) -> dict[int, list[bool]]:
    """Whether each step of each trajectory calls a tool, in order."""
    steps: dict[int, list[int]] = {row.pk: [] for row in trajectories}
    for pk, index in _indexes(trajectories=steps):
        steps[pk].append(index)
    calls = {}
    for row in trajectories:
        messages = row.content.parsed()["messages"]
        own = normalise([messages[at] for at in steps[row.pk]])
        calls[row.pk] = [bool(message.tool_calls) for message in own]
    return calls


_indexes = Prepared(
    lambda trajectories: (
        Step.objects.filter(trajectory__in=trajectories)
        .order_by("trajectory", "ordinal")
        .values_list("trajectory", "message_index")
    ),
    "trajectories",
)


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
        states = (tuple(getattr(row, name) for name in COMPARED) for row in rows)
        return sorted(tuple(bytes(x) if isinstance(x, memoryview) else x for x in row) for row in states)

    stored = PairedLabels.objects.filter(trajectory=trajectory_id)
    return plain(stored) != plain(pairs_of([trajectory_id]))


def forget(*, trajectory_id: int) -> None:
    """Remove the pairs of a trajectory that is labelled once more."""
    PairedLabels.objects.filter(trajectory=trajectory_id).delete()


def repair(trajectory_id: int) -> None:
    """Replace the stored pairs of a trajectory by what its labels give."""
    PairedLabels.objects.filter(trajectory=trajectory_id).delete()
    write([trajectory_id])
