"""Send what judges settled to people after all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from django.db import transaction

from annotation.core.decisions.judges_first import JudgesFirst
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.vocabulary import TrajectoryState
from annotation.models import JudgesFirstVerdict, Project, Trajectory
from annotation.policies import Actor, require

from .. import audit
from .giving import give_to_people, lower_to_first

SENT_AT_ONCE: Final = 500
NOT_JUDGED: Final = translatable("Judges have settled none of these decisions.")


def send_back(*, actor: Actor, project: Project, trajectories: Collection[int] | None = None) -> int:
    """Take the consensus of judges back, and give the trajectories (pks; None: all) to people, for good; how
    many that were. Some at a time, with a constant number of statements each.

    What is not judged (any more) stays as it is. Raises Conflict when none of them is, Denied.
    """
    require(actor, "judges_first.settle", project)
    judged = Trajectory.objects.filter(project=project, live=True, state=TrajectoryState.JUDGED)
    if trajectories is not None:
        judged = judged.filter(pk__in=trajectories)
    pks = list(judged.order_by("pk").values_list("pk", flat=True))
    sent = sum(_send(actor, project, pks[at : at + SENT_AT_ONCE]) for at in range(0, len(pks), SENT_AT_ONCE))
    if not sent:
        raise Conflict(NOT_JUDGED, code="not_judged")
    lower_to_first(project)
    return sent


@transaction.atomic
def _send(actor: Actor, project: Project, pks: Sequence[int]) -> int:
    given = give_to_people(project, pks)
    JudgesFirstVerdict.objects.filter(trajectory__in=given).update(verdict=JudgesFirst.PEOPLE)
    audit.record(
        actor=actor, verb="judges_first.send_back", project=project, obj=project, trajectories=len(given)
    )
    return len(given)
