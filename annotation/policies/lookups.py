"""The row that an address names, as far as a person may know of it, by queries that are composed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic

from django.db.models import BigIntegerField, QuerySet

from annotation import models as m
from annotation.models.prepared import Prepared

from .people import M, Viewer
from .visibility import own, visible


class Lookup(Generic[M]):
    """One of these rows by its key, where a policy (`visible` or `own`) leaves it to a person; else None,
    which does not tell whether it is there.

    Composed for superusers, of whom policies ask less, and for all others. `examples`: two keys, as
    `Prepared` has them.
    """

    def __init__(
        self,
        policy: Callable[[Any, QuerySet[M]], QuerySet[M]],
        rows: QuerySet[M],
        by: str = "pk",
        examples: tuple[int | str, int | str] = (8_000_000_001, 8_000_000_002),
    ) -> None:
        def composed(*, superuser: bool) -> Prepared[M]:
            def compose(user: int, key: int | str) -> QuerySet[M]:
                viewer = m.User(pk=user, is_superuser=superuser)
                return policy(viewer, rows).filter(**{by: key}).order_by("pk")[:1]

            return Prepared(compose, "user", key=examples)

        self._of = {superuser: composed(superuser=superuser) for superuser in (False, True)}

    def __call__(self, user: Viewer, key: int | str) -> M | None:
        """The row. One query."""
        if not isinstance(user, m.User) or not user.is_active or not _can_be_asked(key):
            return None
        rows = self._of[user.is_superuser](user=user.pk, key=key)
        return rows[0] if rows else None


def _can_be_asked(key: int | str) -> bool:
    """Nothing stored has another key, and databases refuse the question."""
    return "\x00" not in key if isinstance(key, str) else key <= BigIntegerField.MAX_BIGINT


# ── With everything that they are shown with ──
ASSIGNMENTS: Final = m.Assignment.stored.select_related(
    "project", "annotator", "recheck", "trajectory__subset", "trajectory__task"
)
CASES: Final = m.Adjudication.objects.select_related(
    "project", "adjudicator", "trajectory__project", "trajectory__subset", "trajectory__task"
)
DISCUSSIONS: Final = m.Discussion.objects.select_related(
    "project", "trajectory__project", "trajectory__subset", "trajectory__task"
)
TRAJECTORIES: Final = m.Trajectory.objects.select_related("project", "subset", "task")

own_assignment: Final = Lookup(own, ASSIGNMENTS)
own_case: Final = Lookup(own, CASES)
visible_case: Final = Lookup(visible, CASES)
visible_discussion: Final = Lookup(visible, DISCUSSIONS)
visible_project: Final = Lookup(visible, m.Project.objects.all(), "slug", ("of no project", "of none"))
visible_trajectory: Final = Lookup(visible, TRAJECTORIES)
