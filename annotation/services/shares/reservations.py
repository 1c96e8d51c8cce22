"""Places of trajectories that are kept for people: use them, and end them when their person may no longer.

Whoever ends some holds their people (services.claim_expiry.hold), and then the trajectories, in order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.core.vocabulary import SEEN_LABELS, ReservationEnd, TrajectoryState
from annotation.models import Assignment, Exposure, Membership, Reservation, Trajectory, User
from annotation.policies import OPERATOR, Actor

from .. import audit
from ..cursors import lower_cursors

LOOKED_AT_ONCE = 200
ALL = 2**63 - 1


def kept_for(annotator: int, trajectories: Collection[int]) -> set[int]:
    """Those of these trajectories of which a place is kept for a person."""
    rows = Reservation.objects.filter(annotator=annotator, trajectory__in=trajectories)
    return set(rows.order_by().values_list("trajectory", flat=True))


def used(annotator: int, trajectories: Collection[int]) -> None:
    """Their person has taken these places, which `Trajectory.reserved` counts no more."""
    Reservation.objects.filter(annotator=annotator, trajectory__in=trajectories).delete()


def lock(rows: QuerySet[Reservation], *, besides: Collection[int] = ()) -> list[Reservation]:
    """These reservations, as they are once their trajectories are locked, in order, and `besides` others."""
    wanted = list(rows.order_by().values_list("pk", "trajectory"))
    trajectories = Trajectory.objects.filter(pk__in={*besides, *(trajectory for _pk, trajectory in wanted)})
    list(trajectories.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    still = Reservation.objects.filter(pk__in=[pk for pk, _trajectory in wanted])
    return list(still.select_related("trajectory", "annotator", "project").order_by("pk"))


def free(rows: Collection[Reservation]) -> dict[int, int]:
    """End reservations that are locked; by project the first position from which there is more to claim:
    whoever calls this lowers the cursors to it, last of all."""
    Reservation.objects.filter(pk__in=[row.pk for row in rows]).delete()
    ended = Counter(row.trajectory_id for row in rows)
    for places in sorted({*ended.values()}):
        pks = [pk for pk, number in ended.items() if number == places]
        Trajectory.objects.filter(pk__in=pks).update(reserved=F("reserved") - places)
    first: dict[int, int] = defaultdict(lambda: ALL)
    for row in rows:
        first[row.project_id] = min(first[row.project_id], row.trajectory.position)
    return dict(first)


def record_end(rows: Collection[Reservation], *, actor: Actor, because: ReservationEnd) -> None:
    """Write into the audit log that places are kept no more: a row for each person and project."""
    of_whom = Counter((row.project, row.annotator) for row in rows)
    for (project, person), number in of_whom.items():
        audit.record(
            actor=actor,
            verb="reservation.end",
            project=project,
            obj=project,
            username=person.username,
            because=because.value,
            trajectories=number,
        )


def end(rows: QuerySet[Reservation], *, actor: Actor, because: ReservationEnd) -> list[Reservation]:
    """End reservations of people who are held, and say which: others can have the places."""
    ended = lock(rows)
    for project, position in sorted(free(ended).items()):
        lower_cursors(project_id=project, position=position)
    record_end(ended, actor=actor, because=because)
    return ended


def sweep() -> int:
    """Every worker calls this now and then: end what is kept for people who may not label it (any more):
    they have left, or have seen labels of it. Returns how many that were."""
    held = Membership.objects.filter(
        user=OuterRef("annotator"), project=OuterRef("project"), is_annotator=True, user__is_active=True
    )
    of_both = {"trajectory": OuterRef("trajectory")}
    seen = Exposure.objects.filter(**of_both, user=OuterRef("annotator"), kind__in=SEEN_LABELS)
    had = Assignment.objects.filter(**of_both, annotator=OuterRef("annotator"))
    over = Q(trajectory__live=False) | ~Q(trajectory__state=TrajectoryState.LABELLING)
    reasons = {
        ReservationEnd.LEFT: ~Q(Exists(held)),
        ReservationEnd.UNFIT: Q(over | Q(Exists(seen)) | Q(Exists(had))),
    }
    ended = 0
    for because, unfit in reasons.items():
        rows = Reservation.objects.filter(unfit)
        for person in sorted(set(rows.order_by().values_list("annotator", flat=True)[:LOOKED_AT_ONCE])):
            with transaction.atomic():
                User.objects.select_for_update(no_key=True).get(pk=person)
                ended += len(end(rows.filter(annotator=person), actor=OPERATOR, because=because))
    return ended
