"""Actors (people and the operator) and their roles."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser
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


def recorded(actor: Actor) -> m.User | None:
    """The actor as the audit log stores it: a user, or null for the operator."""
    return actor if isinstance(actor, m.User) else None


def roles(user: Viewer, project: m.Project | int) -> frozenset[Role]:
    """The roles a person holds in a project (or the project of that pk); superusers administer every project.
    One query."""
    held: set[Role] = {Role.ADMIN} if getattr(user, "is_superuser", False) else set()
    if isinstance(user, m.User):
        # unordered: the models' own order would join both tables, on every request
        membership = m.Membership.objects.filter(project=project, user=user).order_by().first()
        if membership is not None:
            held.update(membership.roles)
    return frozenset(held)
