"""Projects: their settings, guidelines, subsets, members and invitations."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.core.errors import Conflict, Invalid, Locked, NotFound
from annotation.models import Assignment, Guideline, Invitation, Membership, Project, Subset, Trajectory, User
from annotation.policies import Actor, recorded, require

from . import accounts, audit

SETTINGS = frozenset(
    {
        "name",
        "description",
        "annotators_per_trajectory",
        "suggestion_policy",
        "show_reference_answer",
        "show_reward_hints",
        "carry_forward",
    }
)
INVITATION_DAYS = 14
NO_ROLE = "Choose at least one role."


def _clean(project: Project) -> None:
    try:
        # no maker: the operator made it
        project.full_clean(exclude=["created_by"], validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise Invalid(
            "The project cannot be saved as given.",
            fields={name: " ".join(messages) for name, messages in error.message_dict.items()},
        ) from error


@transaction.atomic
def create_project(
    *, actor: Actor, name: str, slug: str = "", guidelines: str = "", **settings: Any
) -> Project:
    """Start a project; its maker becomes an admin member. Raises Invalid when the slug is taken or a value is
    wrong."""
    require(actor, "project.create")
    unknown = set(settings) - SETTINGS
    if unknown:
        raise Invalid("Unknown settings.", fields=dict.fromkeys(sorted(unknown), "There is no such setting."))
    now = timezone.now()
    project = Project(
        name=name.strip(),
        slug=slug.strip() or slugify(name)[:64],
        created_by=recorded(actor),
        created_at=now,
        **settings,
    )
    _clean(project)
    try:
        with transaction.atomic():
            project.save(force_insert=True)
    except IntegrityError as error:
        raise Invalid(
            "This slug is taken.", fields={"slug": "This slug is taken; choose another."}
        ) from error
    Guideline.objects.create(
        project=project, version=1, text=guidelines, created_by=recorded(actor), created_at=now
    )
    if isinstance(actor, User):
        Membership.objects.create(project=project, user=actor, is_admin=True, created_at=now)
    audit.record(actor=actor, verb="project.create", project=project, obj=project, slug=project.slug)
    return project


@transaction.atomic
def update_project(*, actor: Actor, project: Project, values: Mapping[str, Any]) -> Project:
    """Change settings. N is locked after the first claim; the free slots of every trajectory follow it
    before."""
    require(actor, "project.change", project)
    unknown = set(values) - SETTINGS
    if unknown:
        raise Invalid("Unknown settings.", fields=dict.fromkeys(sorted(unknown), "There is no such setting."))
    current = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    before = {key: getattr(current, key) for key in values}
    for key, value in values.items():
        setattr(current, key, value)
    _clean(current)
    wanted = current.annotators_per_trajectory
    if wanted != before.get("annotators_per_trajectory", wanted):
        # Update first, look afterwards: a claim that is under way holds its trajectory's row, so that either
        # this update waits for it and then sees its assignment, or it waits for this and then counts from the
        # new N.
        Trajectory.objects.filter(project=current).update(free_slots=wanted)
        if Assignment.objects.filter(project=current).exists():
            raise Locked(
                "The number of annotators is locked: somebody has already claimed a trajectory.",
                code="annotators_locked",
            )
    current.save(update_fields=sorted(values))
    changed = sorted(key for key in values if before[key] != values[key])
    if changed:
        audit.record(actor=actor, verb="project.change", project=current, obj=current, fields=changed)
    return current


@transaction.atomic
def write_guidelines(*, actor: Actor, project: Project, text: str) -> Guideline:
    """Put a new version of the guidelines in force; the same text again makes no version."""
    require(actor, "project.change", project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    newest = Guideline.objects.filter(project=project).order_by("-version").first()
    if newest is not None and newest.text == text:
        return newest
    guideline = Guideline.objects.create(
        project=project,
        version=newest.version + 1 if newest else 1,
        text=text,
        created_by=recorded(actor),
        created_at=timezone.now(),
    )
    audit.record(
        actor=actor, verb="guidelines.write", project=project, obj=guideline, version=guideline.version
    )
    return guideline


@transaction.atomic
def ensure_subset(
    *, actor: Actor, project: Project, name: str, suspend_on_user_turn: bool | None = None
) -> Subset:
    """The subset of that name, made when missing. Raises Invalid when the name is not a slug."""
    require(actor, "import", project)
    subset = Subset(project=project, name=name.strip(), created_at=timezone.now())
    try:
        subset.clean_fields()
    except ValidationError as error:
        reason = "Use letters, digits, hyphens and underscores for a subset's name (at most 64)."
        raise Invalid(reason, fields={"subset": reason}) from error
    subset, made = Subset.objects.get_or_create(
        project=project, name=subset.name, defaults={"created_at": subset.created_at}
    )
    if made:
        audit.record(actor=actor, verb="subset.create", project=project, obj=subset, name=subset.name)
    if suspend_on_user_turn is not None and subset.suspend_on_user_turn != suspend_on_user_turn:
        return update_subset(actor=actor, subset=subset, suspend_on_user_turn=suspend_on_user_turn)
    return subset


@transaction.atomic
def update_subset(*, actor: Actor, subset: Subset, suspend_on_user_turn: bool) -> Subset:
    """Change how the propagation rule treats user messages in a subset."""
    require(actor, "project.change", subset)
    subset.suspend_on_user_turn = suspend_on_user_turn
    subset.save(update_fields=["suspend_on_user_turn"])
    audit.record(
        actor=actor,
        verb="subset.change",
        project=subset.project,
        obj=subset,
        suspend_on_user_turn=suspend_on_user_turn,
    )
    return subset


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
    """Make a person a member, or set the roles of one who is. The last admin cannot lose the role."""
    require(actor, "members.change", project)
    if not (is_annotator or is_adjudicator or is_admin):
        raise Invalid(NO_ROLE, fields={"roles": NO_ROLE})
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
    return membership


@transaction.atomic
def remove_member(*, actor: Actor, membership: Membership) -> None:
    """End a membership. What the person labelled stays; the last admin cannot be removed."""
    require(actor, "members.change", membership)
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


def _keep_an_admin(project: Project, leaving: Membership) -> None:
    others = Membership.objects.filter(project=project, is_admin=True).exclude(pk=leaving.pk)
    if not others.exists():
        raise Conflict("A project needs an admin: make somebody else one first.", code="last_admin")


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
                "This is not an e-mail address.", fields={"email": " ".join(error.messages)}
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
        raise NotFound("This invitation is not valid any more; ask for a new one.", code="invitation_gone")
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
        raise NotFound("This invitation is not valid any more; ask for a new one.", code="invitation_gone")
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


def lower_cursors(*, project_id: int, position: int) -> None:
    """Whatever frees or adds something to claim at `position` calls this: no cursor may stand beyond it.

    The rows are locked in one order, so that two people who give something back at once cannot deadlock.
    """
    beyond = Membership.objects.filter(project_id=project_id, claim_cursor__gt=position)
    wanted = list(beyond.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    Membership.objects.filter(pk__in=wanted, claim_cursor__gt=position).update(claim_cursor=position)
