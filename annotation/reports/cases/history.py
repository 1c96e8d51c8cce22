"""The history of a step, or of a whole trajectory: one view of the histories that services append to.

Who may not see names sees letters. Annotators see what they did and saw themselves; what is said in a
discussion that is open to them; and everything else once its case is resolved. Who has seen what is for
admins; others see their own sights.
"""

from __future__ import annotations

from annotation.core.vocabulary import AssignmentState
from annotation.models import Adjudication, Assignment, Step, Trajectory, User
from annotation.policies import FieldAccess, field_access
from annotation.policies.rechecks import not_closed

from ..shared.pseudonyms import letter_seed, letters
from .history_entries import HistoryEntry, HistoryReader, Place, entries


def history(
    *, actor: User, trajectory: Trajectory, place: Place, access: FieldAccess | None = None
) -> tuple[list[HistoryEntry], bool]:
    """The history of a place, the oldest first; and whether it tells of others' labels. A constant number of
    queries: at most 25.

    `trajectory` comes with its project, subset and task; `access`: as `field_access` has it, where it is
    known already.
    """
    access = access or field_access(actor, trajectory)
    resolved = access.discussed and access.consensus
    talk = access.others_labels or access.discussed
    assignments = _assignments(actor, trajectory, access, every_one=access.others_labels or resolved)
    steps = {step.pk: step for step in Step.objects.filter(trajectory=trajectory)}
    turns = Assignment.objects.filter(trajectory=trajectory).order_by()
    cases = Adjudication.objects.filter(trajectory=trajectory).order_by()
    since = min(
        (one.claimed_at for one in assignments.values() if one.annotator_id == actor.pk), default=None
    )
    reader = HistoryReader(
        user=actor,
        trajectory=trajectory,
        place=place,
        names=access.names,
        assignments=assignments,
        talk=talk,
        case=access.others_labels or resolved,
        consensus=access.consensus,
        # of what is closed to its annotator, nothing tells
        sights="everybody" if access.names else trajectory.project.created_at if talk else since,
        # a letter of one's own alone tells that there is a case
        letters=_letters(trajectory) if talk else {},
        steps=steps,
        annotators=frozenset(
            [one.annotator_id for one in assignments.values()]
            + (list(turns.values_list("annotator", flat=True)) if talk else [])
        ),
        adjudicators=frozenset(cases.values_list("adjudicator", flat=True) if talk else []),
    )
    return entries(reader), talk


def _assignments(
    actor: User, trajectory: Trajectory, access: FieldAccess, *, every_one: bool
) -> dict[int, Assignment]:
    """The turns at a trajectory whose events a person sees: all; of whom they see no names, the submitted
    ones; or their own, as far as these are not closed to them."""
    if every_one:
        rows = Assignment.objects.filter(trajectory=trajectory)
        if not access.names:
            rows = rows.filter(state=AssignmentState.SUBMITTED)
    else:
        rows = not_closed(
            trajectory.project, Assignment.stored.filter(trajectory=trajectory, annotator=actor)
        )
    return {row.pk: row for row in rows.select_related("annotator")}


def _letters(trajectory: Trajectory) -> dict[int, str]:
    seed = letter_seed(trajectory)
    if seed is None:
        return {}
    submitted = Assignment.objects.filter(trajectory=trajectory, state=AssignmentState.SUBMITTED)
    return letters(seed, trajectory.pk, submitted.order_by().values_list("annotator", flat=True))
