"""Gates before the queue: a pause, the tutorial, a test, a pilot."""

from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.models import Membership, Project
from annotation.policies.withheld import PAUSED

from . import marking, pilots, tutorial


def gate(membership: Membership, project: Project) -> int | None:
    """The turn (pk of a recheck) that a member must take before anything from the queue; None: the queue is
    open.

    Raises Conflict: code "paused" to whoever is paused, "pilot" to whoever has labelled a pilot that others
    have not.
    """
    refuse_paused(membership)
    now = timezone.now()
    turn = tutorial.next_turn(membership, project, now=now)
    if turn is None:
        turn = marking.next_item(membership)
    return turn if turn is not None else pilots.pilot_turn(membership)


def refuse_paused(membership: Membership | None) -> None:
    """Raises Conflict (code "paused") for somebody who is paused."""
    if membership is not None and membership.paused_at is not None:
        raise Conflict(PAUSED, code="paused")
