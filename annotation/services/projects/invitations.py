"""Invitations: the way into a project for whoever accepts one. Nobody is made a member without their consent,
and nobody learns which accounts there are (docs/decisions/0025-members-come-by-invitation.md)."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from email.utils import getaddresses

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid, NotFound
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.models import Invitation, Membership, Project, User
from annotation.policies import Actor, recorded, require

from .. import accounts, audit
from .members import NO_ROLE

INVITATION_DAYS = 14
MAX_NAME = 120
MAX_INVITED = 200


@transaction.atomic
def invite(
    *,
    actor: Actor,
    project: Project,
    email: str = "",
    name: str = "",
    is_annotator: bool = False,
    is_adjudicator: bool = False,
    is_admin: bool = False,
    now: datetime | None = None,
) -> tuple[Invitation, str]:
    """Make an invitation: the row, and the secret of its link, which is never shown again.

    Whether anybody of this address or name has an account is not looked up, so that nobody learns it.
    """
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
    if len(name.strip()) > MAX_NAME:
        message = translatable("Keep the name under {name} characters.", name=MAX_NAME)
        raise Invalid(message, fields={"name": message})
    now = now or timezone.now()
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        email=email,
        name=escape(name.strip()),
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


def people_listed(text: str) -> list[tuple[str, str]]:
    """The (e-mail address, name) of each person of a pasted list: "dora@example.org", "Dora" or both, as
    "Dora <dora@example.org>"; one a line, or several as mail programs copy them. Raises Invalid
    naming every line with something that is neither."""
    people: list[tuple[str, str]] = []
    no_address: list[str] = []
    too_long: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        listed = [person for part in line.split(";") for person in _listed(part.strip(" \t,"))]
        if not all(_is_address(email) for _name, email in listed if email is not None):
            no_address.append(str(number))
        if any(len(name) > MAX_NAME for name, _email in listed):
            too_long.append(str(number))
        people += [(email or "", name) for name, email in listed]
    problem = ""
    if no_address:
        problem = translatable("No e-mail address, in line {lines}.", lines=", ".join(no_address))
    elif too_long:
        problem = translatable(
            "Longer than {name} characters, in line {lines}.", name=MAX_NAME, lines=", ".join(too_long)
        )
    elif len(people) > MAX_INVITED:
        problem = translatable("Invite at most {n} people at once.", n=MAX_INVITED)
    if problem:
        raise Invalid(problem, fields={"people": problem})
    return people


def _listed(words: str) -> list[tuple[str, str | None]]:
    """The (name, e-mail address) of each person in a part of a line: a name alone has no address (None)."""
    if "@" in words:
        return [*getaddresses([words])]
    return [(words, None)] if words else []


def _is_address(email: str) -> bool:
    try:
        validate_email(email)
    except ValidationError:
        return False
    return True


@transaction.atomic
def invite_all(
    *,
    actor: Actor,
    project: Project,
    people: Sequence[tuple[str, str]],
    is_annotator: bool = False,
    is_adjudicator: bool = False,
    is_admin: bool = False,
) -> list[tuple[Invitation, str]]:
    """Make an invitation for each (e-mail address, name), in the same roles: all of them or none."""
    require(actor, "members.change", project)
    return [
        invite(
            actor=actor,
            project=project,
            email=email,
            name=name,
            is_annotator=is_annotator,
            is_adjudicator=is_adjudicator,
            is_admin=is_admin,
        )
        for email, name in people
    ]


def _open(now: datetime) -> QuerySet[Invitation]:
    """Invitations that nobody has answered or revoked, and whose time is not over."""
    unanswered = {"accepted_at": None, "declined_at": None, "revoked_at": None}
    return Invitation.objects.filter(**unanswered, expires_at__gt=now)


def _gone() -> NotFound:
    return NotFound(
        translatable("This invitation is no longer valid; ask for a new one."), code="invitation_gone"
    )


def invitation_of(*, secret: str, now: datetime | None = None) -> Invitation:
    """The invitation that a link's secret opens. Raises NotFound when it is unknown, answered, revoked or too
    old."""
    rows = _open(now or timezone.now()).select_related("project")
    invitation = rows.filter(digest=accounts.digest_of(secret)).first()
    if invitation is None:
        raise _gone()
    return invitation


def invited_people(*, email: str, now: datetime | None = None) -> tuple[bool, list[User]]:
    """Whether an invitation to an address is open; and those who have accepted one, with an account that
    still has this address."""
    sent = Invitation.objects.filter(email__iexact=email)
    accepted = sent.filter(accepted_by__email__iexact=email).values("accepted_by")
    people = list(User.objects.filter(pk__in=accepted).order_by("pk"))
    return _open(now or timezone.now()).filter(email__iexact=email).exists(), people


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
    """Join with a link's secret, as the signed-in `user` or as a new account under the wished user name, to
    which digits are added when it is taken. Roles are added to those held.

    The secret is the permission here, so there is no `actor`; a link works once.
    """
    now = now or timezone.now()
    invitation = invitation_of(secret=secret, now=now)
    if user is None:
        user = accounts.new_user(
            username=accounts.free_user_name(username),
            password=password,
            email=invitation.email,
            # an e-mail address is no name to be shown to others
            display_name=display_name or ("" if "@" in username else " ".join(username.split())[:MAX_NAME]),
        )
    if not _open(now).filter(pk=invitation.pk).update(accepted_at=now, accepted_by=user):
        raise _gone()
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
    # from here on by hand: groups would take what the invitation gave
    membership.from_groups = False
    membership.save(update_fields=["is_annotator", "is_adjudicator", "is_admin", "from_groups"])
    audit.record(
        actor=user,
        verb="invitation.accept",
        project=invitation.project,
        obj=membership,
        username=user.username,
    )
    return user, membership


@transaction.atomic
def decline_invitation(*, secret: str, now: datetime | None = None) -> None:
    """Say no with a link's secret; the link ends.

    Who has declined is kept nowhere, the audit log included: it would tell whose account it was.
    """
    now = now or timezone.now()
    invitation = invitation_of(secret=secret, now=now)
    if not _open(now).filter(pk=invitation.pk).update(declined_at=now):
        raise _gone()


@transaction.atomic
def renew_invitation(
    *, actor: Actor, invitation: Invitation, now: datetime | None = None
) -> tuple[Invitation, str]:
    """Make a new link for an invitation that is pending or expired: the row, and the secret, which is never
    shown again. The old link ends, and the new one has the whole time.

    Raises Conflict when the invitation has been answered or withdrawn.
    """
    require(actor, "members.change", invitation)
    now = now or timezone.now()
    secret = secrets.token_urlsafe(32)
    unanswered = {"accepted_at": None, "declined_at": None, "revoked_at": None}
    changed = Invitation.objects.filter(pk=invitation.pk, **unanswered).update(
        digest=accounts.digest_of(secret), expires_at=now + timedelta(days=INVITATION_DAYS)
    )
    if not changed:
        raise Conflict(
            translatable("This invitation has been answered or withdrawn; make a new one."),
            code="invitation_gone",
        )
    audit.record(actor=actor, verb="invitation.renew", project=invitation.project, obj=invitation)
    invitation.refresh_from_db()
    return invitation, secret


@transaction.atomic
def revoke_invitation(*, actor: Actor, invitation: Invitation) -> None:
    """Make an unused link invalid; repeating it changes nothing."""
    require(actor, "members.change", invitation)
    now = timezone.now()
    if _open(now).filter(pk=invitation.pk).update(revoked_at=now):
        audit.record(actor=actor, verb="invitation.revoke", project=invitation.project, obj=invitation)
