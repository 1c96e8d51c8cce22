"""Actors (people and the operator) and their roles."""

from __future__ import annotations

from typing import Final, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db import connections
from django.db.models import Model

from annotation import models as m
from annotation.core.vocabulary import Role


class Operator:
    """The person at the command line: may do everything, and is written into the audit log as the
    operator."""

    pk = None
    is_authenticated = True
    is_superuser = True

    def __str__(self) -> str:
        return "operator"


OPERATOR = Operator()
Actor = m.User | Operator
Viewer = m.User | Operator | AnonymousUser
M = TypeVar("M", bound=Model)

# Who may look at results that hold labels: frozen ones too, since a release shows the consensus.
RESULT_ROLES = (Role.ADMIN, Role.ADJUDICATOR)

ROLE_FIELDS = {Role.ANNOTATOR: "is_annotator", Role.ADJUDICATOR: "is_adjudicator", Role.ADMIN: "is_admin"}
# asked by every page: composing it took Django twenty times as long as asking it
HELD: Final = (
    f"SELECT {', '.join(ROLE_FIELDS.values())} FROM {m.Membership._meta.db_table}"
    " WHERE project_id = %s AND user_id = %s"
)


def recorded(actor: Actor) -> m.User | None:
    """The actor as the audit log stores it: a user, or null for the operator."""
    return actor if isinstance(actor, m.User) else None


def roles(user: Viewer, project: m.Project | int) -> frozenset[Role]:
    """The roles a person holds in a project (or the project of that pk); superusers administer every project.
    One query."""
    held: set[Role] = {Role.ADMIN} if getattr(user, "is_superuser", False) else set()
    if isinstance(user, m.User):
        key = project.pk if isinstance(project, m.Project) else project
        with connections[m.Membership.objects.db].cursor() as cursor:
            cursor.execute(HELD, [key, user.pk])
            for row in cursor.fetchall():
                held.update(role for role, has in zip(ROLE_FIELDS, row, strict=True) if has)
    return frozenset(held)
