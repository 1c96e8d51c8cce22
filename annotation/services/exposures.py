"""Note what people have seen: the first exposure counts, and is never taken back (docs/design.md, "Who may
see what").

Every exposure is written by `note`, and taken over by `carry_over` where an item is replaced. What shows
somebody another's judgement stands in services/noted_reads.py, services/label/reveal.py,
services/adjudicate/claim_case.py and services/release (export, compare, public), and notes it before it shows
it.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure, Label, OutcomeLabel, Trajectory, User

NOTED_AT_ONCE = 500
"""So many trajectories are noted in one transaction, which others have to wait for."""

Seen = tuple[int, int | None]
"""A trajectory by pk, and one of its steps; None: all of it, or of suggestions the outcome."""


def note(*, user: User, kind: ExposureKind, seen: Collection[Seen], now: datetime | None = None) -> set[Seen]:
    """Note that a person has now seen this, and answer what of it they had not seen before.

    What their own labels of it say at this moment are the blind values. Labels that were exposed before keep
    the blind value they have.
    """
    noted = Exposure.objects.filter(user=user, kind=kind, trajectory__in={pk for pk, _ in seen})
    fresh = set(seen) - set(noted.order_by().values_list("trajectory", "step"))
    if not fresh:
        return fresh
    moment = now or timezone.now()
    with transaction.atomic():
        Exposure.objects.bulk_create(
            [
                Exposure(user=user, trajectory_id=pk, step_id=step, kind=kind.value, created_at=moment)
                for pk, step in fresh
            ],
            ignore_conflicts=True,
        )
        _fix_blind_values(user, kind, fresh, moment)
    return fresh


def _fix_blind_values(user: User, kind: ExposureKind, fresh: set[Seen], now: datetime) -> None:
    """Fix the blind values of a person's labels: their present values, for ever.

    Labels that are made later get their `exposed_at` from services/label/rows.py (`READ`), by the same
    condition in SQL; models/blindness.py reads what both have written.
    """
    own = {"assignment__annotator": user, "exposed_at__isnull": True}
    first = {"blind_value": F("value"), "exposed_at": now}
    wholes = {pk for pk, step in fresh if step is None}
    whole = Q(assignment__trajectory__in=wholes)
    steps = {step for _, step in fresh if step is not None}
    # of suggestions, what is seen without a step is the outcome and tells of no step
    of_steps = Q(step__in=steps) if kind == ExposureKind.SUGGESTION else whole | Q(step__in=steps)
    if steps or kind != ExposureKind.SUGGESTION:
        Label.stored.filter(of_steps, **own).update(**first)
    if wholes:
        OutcomeLabel.stored.filter(whole, **own).update(**first)


def expose(*, user: User, trajectory: Trajectory, kind: ExposureKind) -> None:
    """Note that a person has now seen this of a whole trajectory. Whoever has seen others' labels or the
    consensus of it can no longer claim it."""
    note(user=user, kind=kind, seen=[(trajectory.pk, None)])


def expose_all(*, user: User, trajectories: Iterable[int], kind: ExposureKind) -> None:
    """Note it of many trajectories, by pk, block by block."""
    pks = list(trajectories)
    for start in range(0, len(pks), NOTED_AT_ONCE):
        note(user=user, kind=kind, seen=[(pk, None) for pk in pks[start : start + NOTED_AT_ONCE]])


def carry_over(old: Trajectory, new: Trajectory, *, stays: Mapping[int, int]) -> None:
    """Note of a trajectory that takes the place of another, and that nobody has labelled yet, who has seen
    what of that: of the whole, and of the steps (pks) that stand in both. When they saw it stays."""
    Exposure.objects.bulk_create(
        Exposure(
            user_id=row.user_id,
            trajectory=new,
            step_id=None if row.step_id is None else stays[row.step_id],
            kind=row.kind,
            created_at=row.created_at,
        )
        for row in Exposure.objects.filter(trajectory=old)
        if row.step_id is None or row.step_id in stays
    )


def expose_suggestions(
    *, user: User, trajectory: Trajectory, steps: Iterable[int | None], now: datetime
) -> set[int | None]:
    """Note that a person now sees what judges suggest for these steps (by pk; None: for the outcome), and
    answer which of them they had not seen before.

    The caller holds a lock of the person's own, so that two windows do not both see something for the first
    time.
    """
    seen = [(trajectory.pk, step) for step in steps]
    return {step for _, step in note(user=user, kind=ExposureKind.SUGGESTION, seen=seen, now=now)}
