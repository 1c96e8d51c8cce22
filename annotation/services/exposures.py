"""Noting what people have seen: the first time counts, and it can never be unseen (DESIGN §6)."""

from django.utils import timezone

from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure, Trajectory, User


def expose(*, user: User, trajectory: Trajectory, kind: ExposureKind) -> None:
    """Note that a person has now seen this of a whole trajectory. Whoever has can no longer claim it."""
    Exposure.objects.bulk_create(
        [Exposure(user=user, trajectory=trajectory, kind=kind.value, created_at=timezone.now())],
        ignore_conflicts=True,
    )
