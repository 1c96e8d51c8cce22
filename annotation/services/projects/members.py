"""A project's members: their roles, and their leaving. They come by invitation."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import ExpiryReason
from annotation.models import Adjudication, Assignment, Membership, Project, Reservation, User
from annotation.policies import Actor, require

from .. import audit, claim_expiry, proficiency
from ..transitions import require_version

NO_ROLE = translatable("Choose at least one role.")


@transaction.atomic
def add_member(
    *,
    actor: Actor,
    project: Project,
    user: User,
    is_annotator: bool = False,
    is_adjudicator: bool = False,
    is_admin: bool = False,
    from_groups: bool = False,
) -> Membership:
    """Make a person a member without asking them, or set the roles of one who is: for the operator, whose
    rules for groups of the organisation (`from_groups`) are such too.

    The last admin cannot lose the role; open work of a role that is lost goes back to the others.
    """
    require(actor, "member.add", project)
    return _set_roles(actor, project, user, is_annotator, is_adjudicator, is_admin, from_groups=from_groups)


@transaction.atomic
def set_roles(
    *,
    actor: Actor,
    membership: Membership,
    is_annotator: bool = False,
    is_adjudicator: bool = False,
    is_admin: bool = False,
    version: str | None = None,
) -> Membership:
    """Set the roles of a member. The last admin cannot lose the role; open work of a role that is lost goes
    back to the others. Raises StaleVersion when the roles are no longer at the `version` that the actor began
    from."""
    require(actor, "members.change", membership)
    project, user = membership.project, membership.user
    return _set_roles(actor, project, user, is_annotator, is_adjudicator, is_admin, version)


def _set_roles(
    actor: Actor,
    project: Project,
    user: User,
    is_annotator: bool,
    is_adjudicator: bool,
    is_admin: bool,
    version: str | None = None,
    *,
    from_groups: bool = False,
) -> Membership:
    if not (is_annotator or is_adjudicator or is_admin):
        raise Invalid(NO_ROLE, fields={"roles": NO_ROLE})
    claim_expiry.hold(user)
    claims = [] if is_annotator else _open_claims(project, user)
    if not is_adjudicator:
        _release_cases(actor, project, user)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    held = {"is_annotator": is_annotator, "is_adjudicator": is_adjudicator, "is_admin": is_admin}
    current = Membership.objects.filter(project=project, user=user).first()
    if current is not None:
        require_version(current, version, held)
    if current is not None and current.is_admin and not is_admin:
        _keep_an_admin(project, current)
    # before the membership: trajectories are locked first, here as in claiming
    kept = None if is_annotator else _kept(project, user)
    claim_expiry.expire(actor=actor, claims=claims, because=ExpiryReason.LEFT, kept=kept)
    if not is_annotator:
        proficiency.stop_attempts_of(actor=actor, user=user, project=project)
    values = {**held, "from_groups": from_groups}
    membership, _ = Membership.objects.update_or_create(
        project=project, user=user, defaults=values, create_defaults={**values, "created_at": timezone.now()}
    )
    audit.record(
        actor=actor,
        verb="member.set",
        project=project,
        obj=membership,
        username=user.username,
        roles=[role.value for role in membership.roles],
        **({"because": "groups"} if from_groups else {}),
    )
    return membership


@transaction.atomic
def remove_member(*, actor: Actor, membership: Membership, because_of_groups: bool = False) -> None:
    """End a membership. What the person labelled stays, their open work goes back to the others; the last
    admin cannot be removed."""
    require(actor, "members.change", membership)
    user = claim_expiry.hold(membership.user)
    claims = _open_claims(membership.project, user)
    _release_cases(actor, membership.project, user)
    Project.objects.select_for_update(no_key=True).get(pk=membership.project_id)
    if membership.is_admin:
        _keep_an_admin(membership.project, membership)
    kept = _kept(membership.project, user)
    claim_expiry.expire(actor=actor, claims=claims, because=ExpiryReason.LEFT, kept=kept)
    proficiency.stop_attempts_of(actor=actor, user=user, project=membership.project)
    audit.record(
        actor=actor,
        verb="member.remove",
        project=membership.project,
        obj=membership,
        username=membership.user.username,
        **({"because": "groups"} if because_of_groups else {}),
    )
    membership.delete()


def _open_claims(project: Project, user: User) -> list[Assignment]:
    return claim_expiry.lock_claims(Assignment.stored.filter(project=project, annotator=user))


def _kept(project: Project, user: User) -> QuerySet[Reservation]:
    """The places that are kept for a person in a project."""
    return Reservation.objects.filter(project=project, annotator=user)


def _release_cases(actor: Actor, project: Project, user: User) -> None:
    cases = Adjudication.objects.filter(project=project, adjudicator=user)
    claim_expiry.release_cases(actor=actor, cases=cases, because=ExpiryReason.LEFT)


def _keep_an_admin(project: Project, leaving: Membership) -> None:
    admins = Membership.objects.filter(project=project, is_admin=True, user__is_active=True)
    others = admins.exclude(pk=leaving.pk)
    if not others.exists():
        raise Conflict(
            translatable("A project needs an admin: make somebody else an admin first."), code="last_admin"
        )
