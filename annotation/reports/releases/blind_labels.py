"""Labels of each annotator, and their blindness: for releases, which know annotators by pseudonyms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.utils.crypto import salted_hmac

from annotation.core.releases.record_format import BlindLabels
from annotation.core.vocabulary import AssignmentState
from annotation.models import Assignment, Exposure, Label, OutcomeLabel, Project
from annotation.models.blindness import BLIND_VALUE

SALT = "tristep.annotators-of-releases"


@dataclass(frozen=True, slots=True)
class AnnotatorTurn:
    """One annotator's labels of one trajectory. `in_sight`: how many labels of steps were given after seeing
    something that tells of them. `blind`: what they said, of those who had seen nothing of the trajectory
    before submitting; else None."""

    annotator: int
    guideline_version: int
    labels: int
    in_sight: int
    blind: BlindLabels | None


def pseudonyms(project: Project) -> dict[int, str]:
    """A name for each annotator who has submitted something in a project: "annotator-1" … in the order of a
    keyed hash of project and user name, from which neither can be told. One query."""
    submitted = Assignment.objects.filter(project=project, state=AssignmentState.SUBMITTED).order_by()
    people = submitted.values_list("annotator", "annotator__username").distinct()

    def order(person: tuple[int, str]) -> str:
        return salted_hmac(SALT, f"{project.slug}/{person[1]}", algorithm="sha256").hexdigest()

    return {pk: f"annotator-{at}" for at, (pk, _) in enumerate(sorted(people, key=order), 1)}


def turns(trajectories: Sequence[int], names: Mapping[int, str]) -> dict[int, list[AnnotatorTurn]]:
    """The submitted turns of each trajectory, by pk, in the order of the pseudonyms `names`. Three queries.

    An exposure before submitting makes the turn not blind, whatever it told of; one after it changes
    nothing, since labels are closed by then.
    """
    seen = Exposure.objects.filter(
        user=OuterRef("annotator"),
        trajectory=OuterRef("trajectory"),
        created_at__lt=OuterRef("submitted_at"),
    )
    submitted = Assignment.objects.filter(trajectory__in=trajectories, state=AssignmentState.SUBMITTED)
    columns = ("pk", "trajectory", "annotator", "guideline_version", "seen")
    rows = list(submitted.annotate(seen=Exists(seen)).order_by().values_list(*columns))
    # rechecks are not among these assignments, so no manager has to leave them out once more
    of = {"assignment__in": [row[0] for row in rows]}
    steps: dict[int, dict[int, tuple[int | None, int | None]]] = {row[0]: {} for row in rows}
    labels = Label.stored.filter(value__isnull=False, **of).annotate(blind=BLIND_VALUE).order_by()
    for pk, index, value, blind in labels.values_list("assignment", "step__message_index", "value", "blind"):
        steps[pk][index] = (value, blind)
    outcomes = dict(
        OutcomeLabel.stored.filter(**of).annotate(blind=BLIND_VALUE).values_list("assignment", "blind")
    )
    number = {pk: at for at, pk in enumerate(names)}
    by_trajectory: dict[int, list[AnnotatorTurn]] = {pk: [] for pk in trajectories}
    for pk, trajectory, annotator, version, exposed in sorted(rows, key=lambda row: number[row[2]]):
        blind = {index: label[1] for index, label in sorted(steps[pk].items())}
        in_sight = sum(value is None for value in blind.values())
        blind_labels = None
        if not exposed and not in_sight:
            blind_labels = BlindLabels(names[annotator], blind, outcomes.get(pk))
        by_trajectory[trajectory].append(
            AnnotatorTurn(annotator, version, len(blind), in_sight, blind_labels)
        )
    return by_trajectory
