"""A project's members, and the invitations that bring them in."""

import secrets
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid, NotFound
from annotation.core.i18n import translatable
from annotation.core.vocabulary import ExpiryReason
from annotation.models import Adjudication, Assignment, Invitation, Membership, Project, User
from annotation.policies import Actor, recorded, require

from .. import accounts, audit, open_work

INVITATION_DAYS = 14
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
) -> Membership:
    """Make a person a member, or set the roles of one who is. The last admin cannot lose the role; open work
    of a role that is lost goes back to the others."""
    require(actor, "members.change", project)
    if not (is_annotator or is_adjudicator or is_admin):
        raise Invalid(NO_ROLE, fields={"roles": NO_ROLE})
    open_work.hold(user)
    claims = [] if is_annotator else _open_claims(project, user)
    if not is_adjudicator:
        _release_cases(actor, project, user)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    held = {"is_annotator": is_annotator, "is_adjudicator": is_adjudicator, "is_admin": is_admin}
    current = Membership.objects.filter(project=project, user=user).first()
    if current is not None and current.is_admin and not is_admin:
        _keep_an_admin(project, current)
    membership, _ = Membership.objects.update_or_create(
        project=project, user=user, defaults=held, create_defaults={**held, "created_at": timezone.now()}
    )
    audit.record(
        actor=actor,
        verb="member.set",
        project=project,
        obj=membership,
        username=user.username,
        roles=[role.value for role in membership.roles],
    )
    open_work.expire(actor=actor, claims=claims, because=ExpiryReason.LEFT)
    return membership


@transaction.atomic
def remove_member(*, actor: Actor, membership: Membership) -> None:
    """End a membership. What the person labelled stays, their open work goes back to the others; the last
    admin cannot be removed."""
    require(actor, "members.change", membership)
    user = open_work.hold(membership.user)
    claims = _open_claims(membership.project, user)
    _release_cases(actor, membership.project, user)
    Project.objects.select_for_update(no_key=True).get(pk=membership.project_id)
    if membership.is_admin:
        _keep_an_admin(membership.project, membership)
    audit.record(
        actor=actor,
        verb="member.remove",
        project=membership.project,
        obj=membership,
        username=membership.user.username,
    )
    membership.delete()
    open_work.expire(actor=actor, claims=claims, because=ExpiryReason.LEFT)


def _open_claims(project: Project, user: User) -> list[Assignment]:
    return open_work.lock_claims(Assignment.objects.filter(project=project, annotator=user))


def _release_cases(actor: Actor, project: Project, user: User) -> None:
    cases = Adjudication.objects.filter(project=project, adjudicator=user)
    open_work.release_cases(actor=actor, cases=cases, because=ExpiryReason.LEFT)


def _keep_an_admin(project: Project, leaving: Membership) -> None:
    others = Membership.objects.filter(project=project, is_admin=True).exclude(pk=leaving.pk)
    if not others.exists():
        raise Conflict(
            translatable("A project needs an admin: make somebody else one first."), code="last_admin"
        )


@transaction.atomic
def invite(
    *,
    actor: Actor,
    project: Project,
    email: str = "",
    is_annotator: bool = False,
    is_adjudicator: bool = False,
    is_admin: bool = False,
    now: datetime | None = None,
) -> tuple[Invitation, str]:
    """Make an invitation: the row, and the secret of its link, which is never shown again."""
    require(actor, "members.change", project)
    if not (is_annotator or is_adjudicator or is_admin):
        raise Invalid(NO_ROLE, fields={"roles": NO_ROLE})
    if email:
        try:
            validate_email(email)
        except ValidationError as error:
            raise Invalid(
                translatable("This is not an e-mail address."), fields={"email": " ".join(error.messages)}
            ) from error
    now = now or timezone.now()
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        email=email,
        is_annotator=is_annotator,
        is_adjudicator=is_adjudicator,
        is_admin=is_admin,
        digest=accounts.digest_of(secret),
        created_by=recorded(actor),
        created_at=now,
        expires_at=now + timedelta(days=INVITATION_DAYS),
    )
    audit.record(actor=actor, verb="invitation.create", project=project, obj=invitation)
    return invitation, secret


def invitation_of(*, secret: str, now: datetime | None = None) -> Invitation:
    """The invitation that a link's secret opens. Raises NotFound when it is unknown, used, revoked or too
    old."""
    invitation = (
        Invitation.objects.select_related("project")
        .filter(
            digest=accounts.digest_of(secret),
            accepted_at=None,
            revoked_at=None,
            expires_at__gt=now or timezone.now(),
        )
        .first()
    )
    if invitation is None:
        raise NotFound(
            translatable("This invitation is not valid any more; ask for a new one."), code="invitation_gone"
        )
    return invitation


@transaction.atomic
def accept_invitation(
    *,
    secret: str,
    user: User | None = None,
    username: str = "",
    password: str = "",
    display_name: str = "",
    now: datetime | None = None,
) -> tuple[User, Membership]:
    """Join with a link's secret, as the signed-in `user` or as a new account. Roles are added to those held.

    The secret is the permission here, so there is no `actor`; a link works once.
    """
    now = now or timezone.now()
    invitation = invitation_of(secret=secret, now=now)
    if user is None:
        user = accounts.new_user(
            username=username, password=password, email=invitation.email, display_name=display_name
        )
    taken = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(
        accepted_at=now, accepted_by=user
    )
    if not taken:
        raise NotFound(
            translatable("This invitation is not valid any more; ask for a new one."), code="invitation_gone"
        )
    membership, _ = Membership.objects.get_or_create(
        project=invitation.project,
        user=user,
        defaults={
            "is_annotator": invitation.is_annotator,
            "is_adjudicator": invitation.is_adjudicator,
            "is_admin": invitation.is_admin,
            "created_at": now,
        },
    )
    for field in ("is_annotator", "is_adjudicator", "is_admin"):
        if getattr(invitation, field):
            setattr(membership, field, True)
    membership.save(update_fields=["is_annotator", "is_adjudicator", "is_admin"])
    audit.record(
        actor=user,
        verb="invitation.accept",
        project=invitation.project,
        obj=membership,
        username=user.username,
    )
    return user, membership


@transaction.atomic
def revoke_invitation(*, actor: Actor, invitation: Invitation) -> None:
    """Make an unused link invalid; repeating it changes nothing."""
    require(actor, "members.change", invitation)
    changed = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if changed:
        audit.record(actor=actor, verb="invitation.revoke", project=invitation.project, obj=invitation)
