"""The options of an item as somebody edits them, and what ends when it is replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotation.core.decisions.record import kind_asked
from annotation.core.kinds import Feature
from annotation.core.trajectories.messages import message_text, normalise
from annotation.core.trajectories.trajectory import step_indexes
from annotation.core.vocabulary import SEEN_LABELS, AssignmentState, DecisionKind
from annotation.models import Assignment, Exposure, Membership, Trajectory, User
from annotation.policies.replacing import why_not_replace


@dataclass(frozen=True, slots=True)
class EditedOption:
    """An option by the index of its message: its text, and its calls as (name, arguments)."""

    index: int
    number: int
    text: str
    calls: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ItemOptions:
    """The options of an item, in the stored order, and what ends when it is replaced: the `submitted` labels
    of so many people, and `open` claims. Of the project's annotators `left` may label what takes its place,
    which `needed` have to."""

    kind: DecisionKind
    options: tuple[EditedOption, ...]
    submitted: int
    open: int
    left: int
    needed: int

    @property
    def ends(self) -> int:
        """The people whose work on it ends."""
        return self.submitted + self.open


def item_options(*, viewer: User, trajectory: Trajectory) -> ItemOptions:
    """The options with which an editor of an item begins; `trajectory` comes with its project and its
    content. Raises Denied as `why_not_replace`, Conflict for steps of one run."""
    if (refused := why_not_replace(viewer, trajectory)) is not None:
        raise refused
    trajectory.project.of_kind.require(Feature.PAIRS)
    content = trajectory.content.parsed()
    messages = content["messages"]
    states = Assignment.objects.filter(trajectory=trajectory).order_by().values_list("state", flat=True)
    held = list(states)
    seen = Exposure.objects.filter(trajectory=trajectory, kind__in=SEEN_LABELS)
    people = Membership.objects.filter(
        project=trajectory.project_id, is_annotator=True, user__is_active=True
    ).exclude(user=viewer)
    return ItemOptions(
        kind=kind_asked(content),
        options=tuple(
            _option(index, number, messages[index]) for number, index in enumerate(step_indexes(messages), 1)
        ),
        submitted=held.count(AssignmentState.SUBMITTED),
        open=held.count(AssignmentState.OPEN),
        left=people.exclude(user__in=seen.values("user")).count(),
        needed=trajectory.project.annotators_per_trajectory,
    )


def _option(index: int, number: int, message: dict[str, Any]) -> EditedOption:
    (read,) = normalise([message])
    calls = tuple((call.name, call.arguments_raw) for call in read.tool_calls if call.origin == "tool_calls")
    return EditedOption(index, number, message_text(message), calls)
