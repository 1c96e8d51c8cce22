"""Select the questions for which a judge can write distractors: choices of a next action with a known key and
fewer options than wanted, that nobody has begun to label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.decisions.judges_first import key_of
from annotation.core.decisions.record import KEY, MAX_OPTIONS
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.judging import JudgeInput
from annotation.core.judging.distractors import Writing
from annotation.core.trajectories.trajectory import SourceLabel
from annotation.core.vocabulary import Ability, DecisionKind, TrajectoryState
from annotation.models import Assignment, Judge, Trajectory, TrajectoryContent

from .run_selection import RunSelection, in_subset

LOADED_AT_ONCE: Final = 500
_SELECTED_BY: Final = frozenset({"subset", "limit"})


def check_options(options: int) -> None:
    """Raises Invalid for a number of options that no question can have."""
    if not 2 <= options <= MAX_OPTIONS:
        problem = translatable("A whole number from 2 to {most}.", most=MAX_OPTIONS)
        raise Invalid(problem, fields={"options": problem})


def short_questions(judge: Judge, selection: RunSelection, options: int) -> list[int]:
    """The questions of the judge's project (pks, in the order of the queue) with fewer than `options`
    options, of a subset and up to a limit if the selection says so. One query, and one for every 500 that may
    be.

    Raises Invalid, by field, for a selection by anything else.
    """
    check_options(options)
    if unknown := selection.as_dict().keys() - _SELECTED_BY:
        problem = translatable("Questions cannot be selected by this field.")
        raise Invalid(problem, fields=dict.fromkeys(sorted(unknown), problem))
    if selection.limit is not None and selection.limit < 1:
        problem = translatable("At least 1.")
        raise Invalid(problem, fields={"limit": problem})
    rows = unlabelled(in_subset(judge, selection, Trajectory.objects.filter(project=judge.project_id)))
    may_be = rows.filter(step_count__lt=options, content__source_labels__isnull=False)
    short: list[int] = []
    pks = list(may_be.order_by("position", "pk").values_list("pk", flat=True))
    for start in range(0, len(pks), LOADED_AT_ONCE):
        part = pks[start : start + LOADED_AT_ONCE]
        asked = set(_with_key(part))
        short += [pk for pk in part if pk in asked]
        if selection.limit is not None and len(short) >= selection.limit:
            return short[: selection.limit]
    return short


def unlabelled(rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Those that nobody has begun to label, and that no judge has settled."""
    begun = Assignment.stored.filter(trajectory=OuterRef("pk"))
    return rows.filter(~Exists(begun), live=True, state=TrajectoryState.LABELLING)


def _with_key(pks: Iterable[int]) -> Iterator[int]:
    contents = TrajectoryContent.objects.filter(trajectory__in=pks)
    for row in contents.only("trajectory", "content", "source_labels"):
        asked = row.asked()
        choice = asked is not None and asked["kind"] == DecisionKind.CHOICE
        if asked and choice and asked["ability"] == Ability.PLANNING:
            labels = row.labels_of_source()
            if any(label.value == 1 for label in labels if label.name == KEY):
                yield row.trajectory_id


def writing_of(material: JudgeInput, labels: Iterable[SourceLabel], options: int) -> Writing | None:
    """The options to be written for a question, from its content and the labels of its source; None without a
    key, or where it has enough options."""
    key = key_of(material.steps, labels)
    right = tuple(index for index, label in key.items() if label == 1)
    needed = options - len(material.steps)
    return Writing(right, needed) if right and needed > 0 else None
