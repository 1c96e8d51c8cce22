"""Signing in through the organisation: accounts, and the roles that follow from groups (docs/sign-in.md)."""

from __future__ import annotations

import logging

from allauth.socialaccount.models import SocialAccount
from django.db import IntegrityError, transaction

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.i18n import translatable
from annotation.core.organisation.identity import Identity
from annotation.core.organisation.rules import Grants, Organisation
from annotation.core.vocabulary import Role
from annotation.models import Membership, Project, User
from annotation.policies import OPERATOR, ROLE_FIELDS, Actor, require

from .. import accounts, audit, claim_expiry, projects

log = logging.getLogger(__name__)

PROVIDER = "organisation"
"""The name under which allauth keeps whose account is whose."""


def sign_in(*, identity: Identity, organisation: Organisation) -> User:
    """The account of whom the provider has just named, made or linked at the first time, with the roles that
    their groups give now. Raises Denied for who may not come in, and Conflict (code "link_first") for whose
    address an account has that nobody has proved to be theirs."""
    try:
        return _sign_in(identity, organisation)
    except (IntegrityError, Invalid) as error:
        if isinstance(error, Invalid) and "username" not in error.fields:
            raise
        # in another window somebody, perhaps the same person, came for the first time, and was quicker
        return _sign_in(identity, organisation)


@transaction.atomic
def _sign_in(identity: Identity, organisation: Organisation) -> User:
    grants = organisation.grants(identity.groups)
    link = SocialAccount.objects.select_related("user").filter(provider=PROVIDER, uid=identity.uid).first()
    user = link.user if link else _newcomer(identity, grants, organisation)
    if not user.is_active:
        raise Denied(
            translatable("Your account is closed. Ask an admin of this site."), code="account_closed"
        )
    user = claim_expiry.hold(user)
    _administer(user, grants)
    _follow_groups(user, grants)
    return user


def _newcomer(identity: Identity, grants: Grants, organisation: Organisation) -> User:
    invited = False
    if identity.email:
        invited, people = projects.invited_people(email=identity.email)
        # who administers the site links by hand: there is too much to win
        plain = [person for person in people if not person.is_superuser and not _linked(person)]
        if len(plain) == 1 and User.objects.filter(email__iexact=identity.email).count() == 1:
            return _link(plain[0], identity, actor=plain[0])
        if User.objects.filter(email__iexact=identity.email, is_active=True).exists():
            raise Conflict(
                translatable(
                    "An account of this site already has your e-mail address. Sign in to it with its "
                    "password, and link it to your organisation on your profile page."
                ),
                code="link_first",
            )
    if not (organisation.anybody or grants or invited):
        raise Denied(
            translatable(
                "Your organisation knows you, but nothing on this site is open to you yet. Ask an admin of "
                "this site for an invitation."
            ),
            code="not_invited",
        )
    wish = identity.user_name or identity.email or identity.name or "person"
    user = accounts.new_user(
        username=accounts.free_user_name(accounts.plain_user_name(wish)),
        email=identity.email,
        display_name=identity.name[: accounts.NAME_SHOWN],
    )
    audit.record(actor=user, verb="account.create", obj=user, username=user.username, because="organisation")
    return _link(user, identity, actor=user)


def _linked(user: User) -> bool:
    return SocialAccount.objects.filter(provider=PROVIDER, user=user).exists()


def _link(user: User, identity: Identity, *, actor: Actor) -> User:
    SocialAccount.objects.create(user=user, provider=PROVIDER, uid=identity.uid)
    audit.record(actor=actor, verb="account.link", obj=user, username=user.username)
    return user


def is_linked(user: User) -> bool:
    """Whether somebody can sign in to an account through the organisation. One query."""
    return _linked(user)


@transaction.atomic
def link(*, actor: User, identity: Identity, organisation: Organisation) -> None:
    """Let a person sign in to their account through the organisation from now on, and give it the roles of
    their groups. Raises Conflict when either is linked already."""
    require(actor, "account.change", actor)
    user = claim_expiry.hold(actor)
    links = SocialAccount.objects.filter(provider=PROVIDER)
    if links.filter(uid=identity.uid).exclude(user=user).exists():
        raise Conflict(
            translatable("Your organisation’s account is linked to another account of this site."),
            code="linked_elsewhere",
        )
    if links.filter(user=user).exclude(uid=identity.uid).exists():
        raise Conflict(
            translatable("Your account is linked to another account of your organisation."),
            code="linked_elsewhere",
        )
    if not _linked(user):
        _link(user, identity, actor=actor)
    grants = organisation.grants(identity.groups)
    _administer(user, grants)
    _follow_groups(user, grants)


@transaction.atomic
def unlink(*, actor: User) -> None:
    """End the link of a person's account. Raises Conflict when it has no password: nobody could sign in to
    it."""
    require(actor, "account.change", actor)
    user = claim_expiry.hold(actor)
    if not user.has_usable_password():
        raise Conflict(
            translatable("Your account has no password, so you could not sign in any more."),
            code="no_password",
        )
    removed, _ = SocialAccount.objects.filter(provider=PROVIDER, user=user).delete()
    if removed:
        audit.record(actor=actor, verb="account.unlink", obj=user, username=user.username)


def _administer(user: User, grants: Grants) -> None:
    """Make somebody an admin of the site, or end what groups have given; what was given by hand stays."""
    if grants.site_admin == user.admin_from_groups or (grants.site_admin and user.is_superuser):
        return
    user.is_superuser = user.is_staff = user.admin_from_groups = grants.site_admin
    user.save(update_fields=["is_superuser", "is_staff", "admin_from_groups"])
    verb = "account.site_admin" if grants.site_admin else "account.site_admin_ended"
    audit.record(actor=OPERATOR, verb=verb, obj=user, username=user.username, because="groups")


def _follow_groups(user: User, grants: Grants) -> None:
    """Set what memberships groups give now, and end those that they gave before and give no more. A
    membership made by hand stays as it is."""
    held = {one.project.slug: one for one in _memberships(user)}
    projects = {project.slug: project for project in Project.objects.filter(slug__in=list(grants.roles))}
    for slug in sorted(grants.roles.keys() - projects.keys()):
        log.warning(
            "a group of the organisation gives roles in a project that is not there", extra={"slug": slug}
        )
    for slug, project in sorted(projects.items()):
        membership = held.get(slug)
        if membership is None or (
            membership.from_groups and frozenset(membership.roles) != grants.roles[slug]
        ):
            _give(user, project, grants.roles[slug])
    for slug, membership in sorted(held.items()):
        if membership.from_groups and slug not in grants.roles:
            _take(user, membership)


def _memberships(user: User) -> list[Membership]:
    return list(Membership.objects.filter(user=user).select_related("project"))


def _give(user: User, project: Project, roles: frozenset[Role]) -> None:
    try:
        with transaction.atomic():
            _set(user, project, roles)
    except Conflict:
        # the last admin stays one, beside what groups give
        _set(user, project, roles | {Role.ADMIN})


def _set(user: User, project: Project, roles: frozenset[Role]) -> None:
    held = {ROLE_FIELDS[role]: role in roles for role in Role}
    projects.add_member(actor=OPERATOR, project=project, user=user, from_groups=True, **held)


def _take(user: User, membership: Membership) -> None:
    try:
        with transaction.atomic():
            projects.remove_member(actor=OPERATOR, membership=membership, because_of_groups=True)
    except Conflict:
        log.warning(
            "the last admin of a project is in none of its groups any more, and stays",
            extra={"project": membership.project.slug, "username": user.username},
        )
