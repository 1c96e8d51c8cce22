"""Permission to put an item with other options in the place of one."""

from __future__ import annotations

from typing import Final

from annotation import models as m
from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AdjudicationState, AssignmentState, Role

from .people import Operator, Viewer, roles

LABELLING: Final = translatable("You are labelling this item; submit or return it first.")
NOT_YOURS: Final = translatable("Only admins, and the adjudicator who has its case, may edit an item.")


def why_not_replace(actor: Viewer, trajectory: m.Trajectory) -> Denied | None:
    """The reason why somebody may not replace an item; None for an admin, and for the adjudicator who has its
    open case, unless they are labelling it. At most three queries."""
    if isinstance(actor, Operator):
        return None
    if not isinstance(actor, m.User):
        return Denied(NOT_YOURS, code="not_yours")
    of_it = {"trajectory": trajectory}
    held = roles(actor, trajectory.project_id)
    case = m.Adjudication.objects.filter(**of_it, adjudicator=actor, state=AdjudicationState.OPEN)
    if Role.ADMIN not in held and not (Role.ADJUDICATOR in held and case.exists()):
        return Denied(NOT_YOURS, code="not_yours")
    mine = m.Assignment.stored.filter(**of_it, annotator=actor, state=AssignmentState.OPEN)
    return Denied(LABELLING, code="labelling") if mine.exists() else None
