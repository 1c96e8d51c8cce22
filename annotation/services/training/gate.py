"""What stands before the queue: a pause, the tutorial, a test, a pilot."""

from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.models import Membership, Project

from . import marking, pilots, tutorial

PAUSED = translatable(
    "You are given nothing new at the moment; what you have begun you can finish. The project's admins know "
    "of it, and will tell you more."
)


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
