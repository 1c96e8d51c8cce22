"""People's turns at training trajectories: asked for, and what follows when one is done."""

from collections.abc import Collection
from datetime import datetime

from annotation.core.vocabulary import ExposureKind, RecheckKind
from annotation.models import Project, Recheck, TestAttempt, Trajectory, User

from .. import exposures


def ask(
    *,
    kind: RecheckKind,
    project: Project,
    trajectories: Collection[int],
    annotator: User,
    now: datetime,
    attempt: TestAttempt | None = None,
) -> None:
    """Ask somebody for the labels of training trajectories, by pk and in this order, for services that asked
    permission; what was asked of them for the same before is not asked again."""
    Recheck.objects.bulk_create(
        (
            Recheck(
                project=project,
                trajectory_id=pk,
                kind=kind.value,
                annotator=annotator,
                attempt=attempt,
                due_at=now,
                dealt_at=now,
                created_at=now,
            )
            for pk in trajectories
        ),
        ignore_conflicts=True,
    )


def note_key_seen(*, user: User, trajectory: Trajectory, now: datetime) -> None:
    """Note that somebody has seen the key of a training trajectory: of it, and of the original and all other
    copies, which they are given no more."""
    root = trajectory.copy_of_id or trajectory.pk
    family = Trajectory.objects.filter(copy_of=root).values_list("pk", flat=True)
    seen = [(pk, None) for pk in {root, trajectory.pk, *family}]
    exposures.note(user=user, kind=ExposureKind.CONSENSUS, seen=seen, now=now)


def note_sat(*, user: int, trajectory: Trajectory, now: datetime) -> None:
    """Note that somebody has labelled the content of a training trajectory, without seeing its key: what it
    was made of is given to them no more."""
    originals = []
    at: Trajectory | None = trajectory
    while at is not None and at.copy_of_id is not None:
        originals.append((at.copy_of_id, None))
        at = at.copy_of
    if originals:
        exposures.note(user=User.objects.get(pk=user), kind=ExposureKind.LABEL, seen=originals, now=now)
