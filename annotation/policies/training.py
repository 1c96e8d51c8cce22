"""Keys of training trajectories, and the items that admins read."""

from __future__ import annotations

from django.db.models import F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery

from annotation import models as m
from annotation.core.vocabulary import Role

from .people import ROLE_FIELDS, Viewer
from .visibility import visible


def key_rows(trajectory: m.Trajectory) -> QuerySet[m.KeyLabel]:
    """The labels of a training trajectory's key: its own, or those of what it is a copy of."""
    of = Q(trajectory=trajectory)
    if trajectory.copy_of_id is not None:
        of |= Q(trajectory=trajectory.copy_of_id)
    return m.KeyLabel.objects.filter(of)


def keyed(rows: QuerySet[m.Trajectory]) -> QuerySet[m.Trajectory]:
    """Those of training trajectories whose key labels every step and the outcome. No query by itself."""
    of = Q(trajectory=OuterRef("pk")) | Q(trajectory=OuterRef("copy_of"))
    count = Func(F("pk"), function="COUNT", output_field=IntegerField())
    labels = m.KeyLabel.objects.filter(of).order_by().annotate(n=count).values("n")
    return rows.annotate(in_key=Subquery(labels)).filter(in_key=F("step_count") + 1)


def training_items(user: Viewer, rows: QuerySet[m.Trajectory]) -> QuerySet[m.Trajectory]:
    """Those of `rows` that are training trajectories of the projects that a person administers."""
    if not isinstance(user, m.User) or not user.is_active:
        return rows.none()
    rows = rows.filter(training=True)
    if user.is_superuser:
        return rows
    admin = {ROLE_FIELDS[Role.ADMIN]: True}
    held = m.Membership.objects.filter(user=user, **admin).values("project")
    return rows.filter(project__in=held)


def readable(user: Viewer, rows: QuerySet[m.Trajectory]) -> QuerySet[m.Trajectory]:
    """The trajectories whose text a person may read: those they may know of, and as an admin those of
    training."""
    every = m.Trajectory.objects.order_by()
    return rows.filter(
        Q(pk__in=visible(user, every).values("pk")) | Q(pk__in=training_items(user, every).values("pk"))
    )
