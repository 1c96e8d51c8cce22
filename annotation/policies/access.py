"""Access to the parts of one trajectory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, QuerySet, Value, When

from annotation import models as m
from annotation.core.influence.experiment import POLICY, Arm, Unit, arm_of
from annotation.core.vocabulary import (
    NO_LONGER_BLIND,
    AdjudicationState,
    AssignmentState,
    RecheckKind,
    Role,
    SuggestionPolicy,
    TrajectoryState,
)
from annotation.models.prepared import Prepared

from .label_audits import own_case
from .people import Operator, Viewer, roles


@dataclass(frozen=True, slots=True)
class FieldAccess:
    """Access of one person to the parts of one trajectory.

    `mode` is whose eyes they see it with: "annotator", "adjudicator", "corrector" (of its first error),
    "admin" or "none". `names`: whether others' labels come with names, or only as "A" and "B". `suggestions`:
    the policy in force for an annotator, or "all". `discussed`: their discussion of it is open, and shows
    them the submitted labels as "A" and "B".
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
    discussed: bool = False


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


def deals_people(project: m.Project) -> bool:
    """Whether a project has an experiment that deals people on tasks to its arms."""
    return project.experiment_seed is not None and project.experiment_unit == Unit.ANNOTATOR


def suggestion_policy(user: m.User, trajectory: m.Trajectory) -> SuggestionPolicy:
    """The policy in force for a person who labels a trajectory: when they may see what judges suggest. Asked
    here and nowhere else. No query, when the trajectory comes with its project.

    While a project's experiment is on, the person's arm on the task decides instead of the project's setting:
    one query more. Whoever has none sees nothing. In older experiments the arm is the task's: two queries
    more, none when the trajectory comes with its subset and its task."""
    project = trajectory.project
    if project.experiment_seed is None:
        return SuggestionPolicy(project.suggestion_policy)
    if not deals_people(project):
        return POLICY[arm_of(project.experiment_seed, trajectory.subset.name, trajectory.task.key)]
    dealt = m.Allocation.objects.filter(task=trajectory.task_id, annotator=user)
    arm = dealt.values_list("arm", flat=True).first()
    return SuggestionPolicy.NEVER if arm is None else POLICY[Arm(arm)]


def being_labelled(user: Viewer) -> QuerySet[m.Assignment, Any]:
    """The trajectories that a person has open, as a subquery of their keys."""
    pk = user.pk if isinstance(user, m.User) else None
    rows = m.Assignment.stored.filter(annotator=pk, state=AssignmentState.OPEN).order_by()
    return rows.values("trajectory")


def shown_state(user: Viewer) -> Case:
    """The state of trajectories as lists show and count it: what a person has open is being labelled, to
    them. Whatever else were said of it would tell that it is a recheck."""
    mine = When(pk__in=being_labelled(user), then=Value(TrajectoryState.LABELLING.value))
    return Case(mine, default=F("state"), output_field=CharField())


def kept_from_lists(user: m.User, project: m.Project) -> Q | None:
    """Trajectories of which a list tells an admin nothing: those they are labelling, and those they could
    still claim and would lose by it. None: there are no such. Two queries."""
    own = being_labelled(user).filter(project=project)
    labelling = list(own.values_list("trajectory", flat=True))
    kept = Q(pk__in=labelling) if labelling else None
    if Role.ANNOTATOR in roles(user, project):
        seen = m.Exposure.objects.filter(trajectory=OuterRef("pk"), user=user, kind__in=NO_LONGER_BLIND)
        claimable = Q(~Exists(seen), state=TrajectoryState.LABELLING)
        kept = claimable if kept is None else kept | claimable
    return kept


def field_access(user: Viewer, trajectory: m.Trajectory) -> FieldAccess:
    """The access of a person to a trajectory; in the tutorial and in tests they see no suggestions. At most
    six queries, eight in an experiment."""
    if isinstance(user, Operator):
        return _ADMIN_ACCESS
    if not isinstance(user, m.User) or not user.is_active:
        return NO_ACCESS
    project = trajectory.project
    held = roles(user, project)
    # their turn among the N (True), and that of being asked once more (False)
    turns = _turns(trajectory=trajectory.pk, user=user.pk)
    own = {(state, kind is None) for state, kind in turns}
    # with their turns, so that it takes no longer to ask about training than about anything else
    taught = {kind for _state, kind in turns} & {RecheckKind.TUTORIAL, RecheckKind.TEST}
    policy = SuggestionPolicy.NEVER if taught else suggestion_policy(user, trajectory)
    as_annotator = FieldAccess(
        mode="annotator",
        own_labels=True,
        suggestions=policy.value,
        reference_answer=project.show_reference_answer,
        reward_hints=project.show_reward_hints,
    )
    if AssignmentState.OPEN in {state for state, _one_of_n in own}:
        return as_annotator if held else NO_ACCESS
    if Role.ADMIN in held:
        return _ADMIN_ACCESS
    if Role.ADJUDICATOR in held and not own and _cases(trajectory=trajectory.pk, user=user.pk):
        decided = trajectory.state == TrajectoryState.ADJUDICATED
        return FieldAccess(
            mode="adjudicator",
            others_labels=True,
            consensus=decided,
            suggestions=SuggestionPolicy.AFTER_LABEL.value,
            reference_answer=True,
            reward_hints=True,
        )
    if Role.ADJUDICATOR in held and own_case(user).filter(trajectory=trajectory).exists():
        # of three unnamed labels they decide: which is the consensus, and what judges say, would tell
        return FieldAccess(mode="adjudicator", reference_answer=True, reward_hints=True)
    if AssignmentState.SUBMITTED in {state for state, _one_of_n in own} and held:
        # asked of a recheck too, which has no part in it: the answer takes as long
        talk = m.Discussion.objects.filter(trajectory=trajectory).exists()
        if (AssignmentState.SUBMITTED, True) not in own or Role.ANNOTATOR not in held or not talk:
            return as_annotator
        resolved = trajectory.state == TrajectoryState.ADJUDICATED
        return replace(as_annotator, discussed=True, consensus=resolved)
    corrections = m.Correction.objects.filter(trajectory=trajectory, author=user)
    if held and corrections.filter(state__in=m.ACTIVE_CORRECTIONS).exists():
        return replace(as_annotator, mode="corrector", own_labels=False, suggestions=NO_ACCESS.suggestions)
    return NO_ACCESS


_turns: Final = Prepared(
    lambda trajectory, user: (
        m.Assignment.stored.filter(trajectory=trajectory, annotator=user)
        .order_by("pk")
        .values_list("state", "recheck__kind")
    ),
    *("trajectory", "user"),
)
_cases: Final = Prepared(
    lambda trajectory, user: (
        m.Adjudication.objects.filter(trajectory=trajectory, adjudicator=user)
        .exclude(state=AdjudicationState.RELEASED)
        .values_list("pk", flat=True)
    ),
    *("trajectory", "user"),
)
