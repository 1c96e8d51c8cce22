"""Carrying over from an item to the one that takes its place."""

from __future__ import annotations

from annotation.core.decisions.record import option_digest
from annotation.core.vocabulary import ExposureKind
from annotation.models import Step, Trajectory, TrajectoryTag, User
from annotation.policies import Actor

from .. import exposures


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
