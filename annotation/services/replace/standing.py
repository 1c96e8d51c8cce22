"""What stands on an item before it is replaced, and what carries over to what takes its place."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.core.decisions.record import option_digest
from annotation.core.vocabulary import SEEN_LABELS, AssignmentState, ExposureKind
from annotation.models import (
    Assignment,
    Exposure,
    Membership,
    Step,
    Trajectory,
    TrajectoryTag,
    User,
)
from annotation.policies import Actor

from .. import exposures


@dataclass(frozen=True, slots=True)
class Standing:
    """What ends when an item is replaced: the `submitted` labels of so many people, and `open` claims. Of the
    project's annotators `left` may label what takes its place, which `needed` have to."""

    submitted: int
    open: int
    left: int
    needed: int

    @property
    def ends(self) -> int:
        """The people whose work on it ends."""
        return self.submitted + self.open


def standing(*, trajectory: Trajectory, editor: User) -> Standing:
    """What would end if `editor` replaced an item. Three queries."""
    states = Assignment.objects.filter(trajectory=trajectory).order_by().values_list("state", flat=True)
    held = list(states)
    seen = Exposure.objects.filter(trajectory=trajectory, kind__in=SEEN_LABELS)
    people = Membership.objects.filter(
        project=trajectory.project_id, is_annotator=True, user__is_active=True
    ).exclude(user=editor)
    return Standing(
        submitted=held.count(AssignmentState.SUBMITTED),
        open=held.count(AssignmentState.OPEN),
        left=people.exclude(user__in=seen.values("user")).count(),
        needed=trajectory.project.annotators_per_trajectory,
    )


def carry_over(old: Trajectory, new: Trajectory, *, actor: Actor) -> None:
    """Give the tags of the old item to the new one, and note on it who has seen what of the old one: of an
    option that stays, and of the whole. Whoever edited it knows what they have written."""
    TrajectoryTag.objects.filter(trajectory=old).update(trajectory=new)
    exposures.carry_over(old, new, stays=_steps(old, new))
    if isinstance(actor, User):
        exposures.expose(user=actor, trajectory=new, kind=ExposureKind.LABEL)


def _steps(old: Trajectory, new: Trajectory) -> dict[int, int]:
    """The steps of the new item (pks) by those of the old one, of the options that both have."""
    before, after = _by_option(old), _by_option(new)
    return {step: after[option] for option, step in before.items() if option in after}


def _by_option(trajectory: Trajectory) -> dict[bytes, int]:
    messages = trajectory.content.parsed()["messages"]
    steps = Step.objects.filter(trajectory=trajectory).values_list("pk", "message_index")
    return {option_digest(messages[index]): pk for pk, index in steps}
