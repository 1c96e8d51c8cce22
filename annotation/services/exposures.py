"""Note what people have seen: the first exposure counts, and is never taken back (docs/design.md, "Who may
see what")."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.core.vocabulary import ExposureKind
from annotation.models import Assignment, Exposure, Label, OutcomeLabel, Trajectory, User


def expose(*, user: User, trajectory: Trajectory, kind: ExposureKind) -> None:
    """Note that a person has now seen this of a whole trajectory. Whoever has can no longer claim it; what
    their own labels of it say at this moment are the blind values."""
    first = {"user": user, "trajectory": trajectory, "step": None, "kind": kind.value}
    if Exposure.objects.filter(**first).exists():
        return
    now = timezone.now()
    with transaction.atomic():
        _seen, fresh = Exposure.objects.get_or_create(**first, defaults={"created_at": now})
        if fresh:
            for model in (Label, OutcomeLabel):
                own = {"assignment__annotator": user, "assignment__trajectory": trajectory}
                model.objects.filter(**own, exposed_at__isnull=True).update(
                    blind_value=F("value"), exposed_at=now
                )


def expose_suggestions(
    *, user: User, trajectory: Trajectory, steps: Iterable[int | None], now: datetime
) -> set[int | None]:
    """Note that a person now sees what judges suggest for these steps (by pk; None: for the outcome).

    Answers which of them they had not seen before. The caller holds a lock of the person's own, so that two
    windows do not both see something for the first time.
    """
    seen = Exposure.objects.filter(user=user, trajectory=trajectory, kind=ExposureKind.SUGGESTION)
    fresh = set(steps) - set(seen.values_list("step", flat=True))
    Exposure.objects.bulk_create(
        [
            Exposure(
                user=user,
                trajectory=trajectory,
                step_id=step,
                kind=ExposureKind.SUGGESTION.value,
                created_at=now,
            )
            for step in fresh
        ],
        ignore_conflicts=True,
    )
    return fresh


def fix_blind_values(*, assignment: Assignment, steps: Iterable[int | None], now: datetime) -> None:
    """What the labels of these steps are now (None: the outcome) is their blind value for ever: this is the
    first exposure. Labels that were exposed before keep the blind value they have."""
    wanted = set(steps)
    first = {"blind_value": F("value"), "exposed_at": now}
    unexposed = {"assignment": assignment, "exposed_at__isnull": True}
    if wanted - {None}:
        Label.objects.filter(step__in=wanted - {None}, **unexposed).update(**first)
    if None in wanted:
        OutcomeLabel.objects.filter(**unexposed).update(**first)
