"""Which parts of one trajectory a person may see."""

from __future__ import annotations

from dataclasses import dataclass

from annotation import models as m
from annotation.core.experiment import POLICY, arm_of
from annotation.core.vocabulary import (
    AdjudicationState,
    AssignmentState,
    Role,
    SuggestionPolicy,
    TrajectoryState,
)

from .people import Operator, Viewer, roles


@dataclass(frozen=True, slots=True)
class FieldAccess:
    """Which parts of one trajectory a person may see.

    `mode` is whose eyes they see it with: "annotator", "adjudicator", "admin" or "none". `names`: whether
    others' labels come with names, or only as "A" and "B". `suggestions`: the policy in force for an
    annotator, or "all".
    """

    mode: str
    own_labels: bool = False
    others_labels: bool = False
    names: bool = False
    consensus: bool = False
    suggestions: str = SuggestionPolicy.NEVER.value
    reference_answer: bool = False
    reward_hints: bool = False
    raw: bool = False


NO_ACCESS = FieldAccess(mode="none")
_ADMIN_ACCESS = FieldAccess(
    mode="admin",
    own_labels=True,
    others_labels=True,
    names=True,
    consensus=True,
    suggestions="all",
    reference_answer=True,
    reward_hints=True,
    raw=True,
)


def suggestion_policy(user: m.User, trajectory: m.Trajectory) -> SuggestionPolicy:
    """The policy in force for a person who labels a trajectory: when they may see what judges suggest. Asked
    here and nowhere else. No query, when the trajectory comes with its project.

    While a project's experiment is on, the arm of the trajectory's task decides instead of the project's
    setting: two queries more, none when the trajectory comes with its subset and its task."""
    seed = trajectory.project.experiment_seed
    if seed is not None:
        return POLICY[arm_of(seed, trajectory.subset.name, trajectory.task.key)]
    return SuggestionPolicy(trajectory.project.suggestion_policy)


def field_access(user: Viewer, trajectory: m.Trajectory) -> FieldAccess:
    """What a person may see of a trajectory. At most three queries, five in an experiment."""
    if isinstance(user, Operator):
        return _ADMIN_ACCESS
    if not isinstance(user, m.User) or not user.is_active:
        return NO_ACCESS
    project = trajectory.project
    held = roles(user, project)
    own = m.Assignment.objects.filter(trajectory=trajectory, annotator=user).first()
    as_annotator = FieldAccess(
        mode="annotator",
        own_labels=True,
        suggestions=suggestion_policy(user, trajectory).value,
        reference_answer=project.show_reference_answer,
        reward_hints=project.show_reward_hints,
    )
    if own is not None and own.state == AssignmentState.OPEN:
        return as_annotator if held else NO_ACCESS
    if Role.ADMIN in held:
        return _ADMIN_ACCESS
    if Role.ADJUDICATOR in held and own is None:
        case = m.Adjudication.objects.filter(trajectory=trajectory, adjudicator=user)
        if case.exclude(state=AdjudicationState.RELEASED).exists():
            decided = trajectory.state == TrajectoryState.ADJUDICATED
            return FieldAccess(
                mode="adjudicator",
                others_labels=True,
                consensus=decided,
                suggestions=SuggestionPolicy.AFTER_LABEL.value,
                reference_answer=True,
                reward_hints=True,
            )
    if own is not None and own.state == AssignmentState.SUBMITTED and held:
        return as_annotator
    return NO_ACCESS
