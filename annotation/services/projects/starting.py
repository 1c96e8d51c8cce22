"""Start a project with its people: from a template, or from another project, without its data."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import STEPS, by_name, settings_of
from annotation.core.project_templates import TEMPLATES
from annotation.models import Guideline, Invitation, Membership, Project, User
from annotation.policies import Actor, require

from .invitations import invite, invite_all
from .settings import SETTINGS, create_project

COPIED = SETTINGS - {"name", "description"}
"""The settings that a copy takes over."""


OTHER_GUIDELINES = translatable(
    "Guidelines can be copied only from a project of the same kind: labels mean something else in the other."
)


def settings_from(
    *, template: str = "", project: Project | None = None, kind: str = STEPS.name
) -> dict[str, Any]:
    """The settings of a starting point, as far as a project of that kind has them; those that it leaves out
    have their defaults."""
    # a new one has the defaults
    names = settings_of(by_name(kind), COPIED)
    settings = {name: getattr(project or Project(), name) for name in names}
    return settings | dict(TEMPLATES[template].settings if template else {})


@transaction.atomic
def start_project(
    *,
    actor: Actor,
    name: str,
    slug: str = "",
    kind: str = STEPS.name,
    settings: Mapping[str, Any],
    people: Sequence[tuple[str, str]] = (),
    guidelines: str | None = None,
    guidelines_of: Project | None = None,
    members_of: Project | None = None,
) -> tuple[Project, list[tuple[Invitation, str]]]:
    """Create a project, and invite `people` (e-mail address, name) as annotators: the project, and the
    invitations with the secrets of their links.

    `guidelines_of` is a project of the same kind whose guidelines it starts with. The members of `members_of`
    are invited with their roles, but for the actor: nobody becomes a member without accepting. Both need the
    right to change these projects.
    """
    text = guidelines
    if guidelines_of is not None:
        require(actor, "project.change", guidelines_of)
        if guidelines_of.kind != kind:
            raise Invalid(OTHER_GUIDELINES)
        newest = Guideline.objects.filter(project=guidelines_of).order_by("-version").first()
        text = newest.text if newest else None
    project = create_project(actor=actor, name=name, slug=slug, kind=kind, guidelines=text, **settings)
    invited = invite_all(actor=actor, project=project, people=people, is_annotator=True) if people else []
    if members_of is not None:
        require(actor, "members.change", members_of)
        members = Membership.objects.filter(project=members_of, user__is_active=True).select_related("user")
        for member in members.order_by("pk"):
            user: User = member.user
            # whoever signs in nowhere has no way to accept
            if user != actor and user.has_usable_password():
                invited.append(
                    invite(
                        actor=actor,
                        project=project,
                        email=user.email,
                        name=str(user)[:120],
                        is_annotator=member.is_annotator,
                        is_adjudicator=member.is_adjudicator,
                        is_admin=member.is_admin,
                    )
                )
    return project, invited
