"""Finding people by name, for those who may add them."""

from __future__ import annotations

from annotation.models import Project, User
from annotation.policies import Actor, require


def person_named(*, actor: Actor, project: Project, username: str) -> User | None:
    """The active account with exactly this user name, or None.

    Project admins may ask for a name they know; nobody but a superuser can list accounts.
    """
    require(actor, "members.change", project)
    return User.objects.filter(username=username.strip(), is_active=True).first()
