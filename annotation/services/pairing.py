"""Put the labels of each two annotators of a trajectory side by side, for figures of agreement.

It is done once, when the trajectory is settled: from then on nobody can change a label of it, and what is
seen later fixes the values as they are (services/exposures.py), so that no blind value changes either.
"""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.agreement.packed import SeenLabel, pack
from annotation.core.messages import normalise
from annotation.core.vocabulary import SETTLED, AssignmentState, LabelSource
from annotation.models import Assignment, Label, OutcomeLabel, PairedLabels, Step, Trajectory
from annotation.models.blindness import with_untouched

from .blocks import in_blocks

FOUND = ("assignment__annotator", "blind", "untouched")


def write(*, trajectory_id: int) -> None:
    """Store the pairs of a trajectory that has just been settled. Six queries; part of its transaction."""
    PairedLabels.objects.bulk_create(pairs_of(trajectory_id))


def pairs_of(trajectory_id: int) -> list[PairedLabels]:
    """The pairs of a settled trajectory as its labels say, unsaved; none where one person labels alone."""
    # only what is needed: the migration that fills the table runs before later columns are there
    needed = ("project", "subset", "task", "policy_model", "content__content")
    trajectory = Trajectory.objects.select_related("content").only(*needed).get(pk=trajectory_id)
    submitted = Assignment.objects.filter(trajectory=trajectory, state=AssignmentState.SUBMITTED)
    people = list(
        submitted.order_by("annotator").values_list("annotator", "guideline_version", "submitted_at")
    )
    if len(people) < 2:
        return []
    of = {"assignment__in": submitted}
    labels: dict[int, dict[int | None, SeenLabel]] = {annotator: {} for annotator, _, _ in people}
    for annotator, value, untouched, ordinal, source in with_untouched(
        Label.objects.filter(**of)
    ).values_list(*FOUND, "step__ordinal", "source"):
        confirmed = source == LabelSource.PROPAGATED
        labels[annotator][ordinal] = SeenLabel(value, confirmed, not untouched)
    for annotator, value, untouched in with_untouched(OutcomeLabel.objects.filter(**of)).values_list(*FOUND):
        labels[annotator][None] = SeenLabel(value, False, not untouched)
    calls = _calls(trajectory)
    return [
        _pair(trajectory, calls, (first, second), (labels[first[0]], labels[second[0]]))
        for first, second in combinations(people, 2)
    ]


def _calls(trajectory: Trajectory) -> list[bool]:
    """Whether each step calls a tool, in order."""
    messages = normalise(trajectory.content.parsed()["messages"])
    indexes = Step.objects.filter(trajectory=trajectory).order_by("ordinal")
    return [bool(messages[index].tool_calls) for index in indexes.values_list("message_index", flat=True)]


def _pair(
    trajectory: Trajectory,
    calls: list[bool],
    people: tuple[Any, Any],
    labels: tuple[dict[int | None, SeenLabel], dict[int | None, SeenLabel]],
) -> PairedLabels:
    (first, first_guideline, first_at), (second, second_guideline, second_at) = people
    here, there = labels
    later = max(first_at, second_at).date().toordinal()
    return PairedLabels(
        project_id=trajectory.project_id,
        subset_id=trajectory.subset_id,
        task_id=trajectory.task_id,
        trajectory_id=trajectory.pk,
        policy_model=trajectory.policy_model,
        first_id=first,
        second_id=second,
        first_guideline=first_guideline,
        second_guideline=second_guideline,
        week=later - (later - 1) % 7,
        n=sum(ordinal is not None and ordinal in there for ordinal in here),
        outcome=pack(here.get(None), there.get(None), call=False),
        steps=bytes(
            pack(here.get(ordinal), there.get(ordinal), call=call) for ordinal, call in enumerate(calls)
        ),
    )


def unpaired(trajectories: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Those settled trajectories whose pairs are not stored: of labels from before there were any."""
    stored = PairedLabels.objects.filter(trajectory=OuterRef("pk"))
    two = Assignment.objects.filter(trajectory=OuterRef("pk"), state=AssignmentState.SUBMITTED, slot__gt=0)
    return trajectories.filter(~Exists(stored), Exists(two), state__in=SETTLED, live=True)


def fill(trajectories: Iterable[int]) -> None:
    """Store the pairs of settled trajectories that have none, in short turns."""
    in_blocks(trajectories, lambda pk: write(trajectory_id=pk))


COMPARED = [field.attname for field in PairedLabels._meta.concrete_fields if not field.primary_key]


def differing(trajectory_id: int) -> bool:
    """Whether the stored pairs of a settled trajectory are not those that its labels give."""

    def plain(rows: Iterable[PairedLabels]) -> list[tuple[Any, ...]]:
        told = (tuple(getattr(row, name) for name in COMPARED) for row in rows)
        return sorted(tuple(bytes(x) if isinstance(x, memoryview) else x for x in row) for row in told)

    stored = PairedLabels.objects.filter(trajectory=trajectory_id)
    return plain(stored) != plain(pairs_of(trajectory_id))


def forget(*, trajectory_id: int) -> None:
    """Remove the pairs of a trajectory that is labelled once more."""
    PairedLabels.objects.filter(trajectory=trajectory_id).delete()


def repair(trajectory_id: int) -> None:
    """Replace the stored pairs of a trajectory by what its labels give."""
    PairedLabels.objects.filter(trajectory=trajectory_id).delete()
    write(trajectory_id=trajectory_id)
