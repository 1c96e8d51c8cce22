"""Participants in the discussion of a trajectory, and their voices."""

from __future__ import annotations

from dataclasses import dataclass

from annotation import models as m
from annotation.core.vocabulary import AdjudicationState, AssignmentState, Role, Voice

from .people import Viewer, roles


@dataclass(frozen=True, slots=True)
class Participants:
    """The people told of a discussion: the annotators whose labels it is about, as far as they are still
    annotators here, and the adjudicator who has the case, if anybody has. By pk."""

    annotators: tuple[int, ...]
    adjudicator: int | None


def voice_of(user: Viewer, trajectory: m.Trajectory) -> Voice | None:
    """The voice of a person in the discussion of a trajectory; None: not at all.

    Who has labelled it speaks as an annotator, whatever else they are. At most three queries.
    """
    if not isinstance(user, m.User) or not user.is_active:
        return None
    held = roles(user, trajectory.project_id)
    mine = m.Assignment.stored.filter(trajectory=trajectory, annotator=user)
    turns = list(mine.only("state", "recheck"))
    own = next((row for row in turns if row.recheck_id is None), None)
    if own is None and any(row.state == AssignmentState.OPEN for row in turns):
        return None
    if own is not None:
        submitted = own.state == AssignmentState.SUBMITTED
        return Voice.ANNOTATOR if submitted and Role.ANNOTATOR in held else None
    if Role.ADJUDICATOR in held:
        case = m.Adjudication.objects.filter(trajectory=trajectory, adjudicator=user)
        if case.exclude(state=AdjudicationState.RELEASED).exists():
            return Voice.ADJUDICATOR
    return Voice.ADMIN if Role.ADMIN in held else None


def participants(trajectory: m.Trajectory) -> Participants:
    """The people whom a discussion concerns. Two queries."""
    annotators = m.Membership.objects.filter(
        project=trajectory.project_id,
        is_annotator=True,
        user__is_active=True,
        user__assignments__trajectory=trajectory,
        user__assignments__state=AssignmentState.SUBMITTED,
        user__assignments__recheck__isnull=True,
    )
    case = m.Adjudication.objects.filter(trajectory=trajectory).exclude(state=AdjudicationState.RELEASED)
    return Participants(
        annotators=tuple(annotators.order_by("user").values_list("user", flat=True)),
        adjudicator=case.order_by().values_list("adjudicator", flat=True).first(),
    )
