"""A twin of a project: another with the same people, in which everything is there once more.

A question that forgets to say of which project it asks gets the rows of both, and of one row the twin's: its
numbers are negative, and so come first. What somebody is and has done in the project is the next person's in
the twin: everybody is there as somebody else, and whoever has no part in the one has one in the other.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection
from django.db.models import ForeignKey
from django.utils import timezone

from annotation.models import (
    ApiToken,
    AuditLink,
    CrowdPlace,
    KeptFigures,
    Membership,
    Notice,
    Project,
    User,
    frozen,
)

# people and what each has one of, what is computed of the rest, and notices, which every page counts
LEFT_OUT = {
    User,
    User.groups.through,
    User.user_permissions.through,
    ApiToken,
    CrowdPlace,
    AuditLink,
    KeptFigures,
    Notice,
}


def empty_twin(project: Project) -> Project:
    """A project of this kind with as many members, each of them an annotator, and nothing else in it."""
    twin = Project.objects.get(pk=project.pk)
    twin.pk, twin.slug, twin.name = -project.pk, f"{project.slug}-twin", "Twin"
    twin.save(force_insert=True)
    members, next_of = list(Membership.objects.filter(project=project)), _next_of()
    for row in members:
        row.pk, row.project, row.user_id = -row.pk, twin, next_of[row.user_id]
        row.is_annotator, row.is_adjudicator, row.is_admin = True, False, False
    Membership.objects.bulk_create(members)
    return twin


def fill(twin: Project) -> None:
    """Put everything that there is into the twin once more, and make of each member what they are not: an
    annotator adjudicator and admin, paused, new to the tutorial, and without the guidelines."""
    frozen.lift(connection)
    left_out = {*LEFT_OUT, Project, Membership}
    tables = [
        model
        for model in apps.get_app_config("annotation").get_models(include_auto_created=True)
        if model not in left_out
    ]
    twins, next_of = {*tables, Project, Membership}, _next_of()
    for model in tables:
        rows = list(model._base_manager.order_by("pk"))
        for row in rows:
            for column in row._meta.concrete_fields:
                value = getattr(row, column.attname)
                refers = isinstance(column, ForeignKey)
                if refers and column.related_model is User:
                    setattr(row, column.attname, next_of.get(value))
                elif column.related_model in twins if refers else column.primary_key or column.unique:
                    setattr(row, column.attname, _twin_of(value))
        model._base_manager.bulk_create(rows)
    Membership.objects.filter(project=twin).update(
        is_adjudicator=True,
        is_admin=True,
        paused_at=timezone.now(),
        pause_reason="admin",
        tutorial_done_at=None,
        guideline_seen=0,
    )


def _next_of() -> dict[int, int]:
    """The person after each, by pk; after the last comes the first."""
    pks = list(User.objects.order_by("pk").values_list("pk", flat=True))
    return dict(zip(pks, [*pks[1:], *pks[:1]], strict=True))


def _twin_of(value: Any) -> Any:
    """A number below nought, another UUID, a text turned round."""
    if isinstance(value, int):
        return -value
    if isinstance(value, UUID):
        return UUID(int=value.int ^ 1)
    return value[::-1] if isinstance(value, str) else value
