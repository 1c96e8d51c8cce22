"""Accounts and personal tokens."""

import hashlib
import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import available_timezones

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from annotation.core import keymap
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.vocabulary import ExpiryReason, TokenScope
from annotation.models import Adjudication, ApiToken, Assignment, Reservation, User
from annotation.models.prepared import Prepared
from annotation.policies import Actor, require

from . import audit, claim_expiry

TOKEN_PREFIX = "tri_"
MAX_TOKEN_DAYS = 366
NAME_KEPT = 140
"""So much of a user name is left when something is added to it."""
NAME_SHOWN = 120
LAST_USED_PRECISION = timedelta(minutes=1)
PROFILE_FIELDS = frozenset({"display_name", "email", "time_zone", "language", "theme", "mail_notices"})


def digest_of(secret: str) -> str:
    """sha256, in hex, of a token or link secret; they are long and random, so no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


@transaction.atomic
def create_user(
    *,
    actor: Actor,
    username: str,
    password: str | None = None,
    email: str = "",
    display_name: str = "",
    is_superuser: bool = False,
    check_password: bool = True,
) -> User:
    """Make an account; without a password nobody can sign in to it. Raises Invalid with the fields that are
    wrong."""
    require(actor, "account.create")
    user = new_user(
        username=username,
        password=password,
        email=email,
        display_name=display_name,
        is_superuser=is_superuser,
        check_password=check_password,
    )
    audit.record(actor=actor, verb="account.create", obj=user, username=user.username)
    return user


def new_user(
    *,
    username: str,
    password: str | None = None,
    email: str = "",
    display_name: str = "",
    is_superuser: bool = False,
    check_password: bool = True,
) -> User:
    """The account itself, validated; for services that have asked permission in their own way and audit
    it."""
    user = User(
        username=User.normalize_username(username.strip()),
        email=User.objects.normalize_email(email),
        display_name=display_name.strip(),
        is_superuser=is_superuser,
        is_staff=is_superuser,
    )
    fields: dict[str, str] = {}
    try:
        UnicodeUsernameValidator()(user.username)
    except ValidationError as error:
        fields["username"] = " ".join(error.messages)
    if not user.username:
        fields["username"] = translatable("Enter a user name.")
    if password is not None and check_password:
        try:
            validate_password(password, user)
        except ValidationError as error:
            fields["password"] = " ".join(error.messages)
    if fields:
        raise Invalid(translatable("The account could not be created; check the fields."), fields=fields)
    if password is None:
        user.set_unusable_password()
    else:
        user.set_password(password)
    try:
        with transaction.atomic():
            user.full_clean(exclude=["password"])
            user.save(force_insert=True)
    except ValidationError as error:
        raise Invalid(
            translatable("The account could not be created; check the fields."),
            fields={name: " ".join(messages) for name, messages in error.message_dict.items()},
        ) from error
    except IntegrityError as error:
        raise Invalid(
            translatable("This user name is taken."),
            fields={"username": translatable("This user name is taken.")},
        ) from error
    return user


def user_name(wish: str) -> str:
    """A name or an e-mail address as one signs in with it: with hyphens for spaces."""
    return "-".join(User.normalize_username(wish).split())


def plain_user_name(wish: str) -> str:
    """A name from elsewhere as a user name: without the signs that none may have, and not longer than one
    may be."""
    return re.sub(r"[^\w.@+-]", "", user_name(wish))[:NAME_KEPT] or "person"


def free_user_name(wish: str) -> str:
    """A user name as wished, and with five digits more when it is taken, in whatever case."""
    name = user_name(wish)
    candidate = name
    while User.objects.filter(username__iexact=candidate).exists():
        candidate = f"{name[:NAME_KEPT]}-{secrets.randbelow(100_000):05}"
    return candidate


@transaction.atomic
def ensure_first_admin(
    *, actor: Actor, username: str = "admin", password: str | None = None
) -> tuple[User, str] | None:
    """Make a superuser in a database without one, and return it with its password; None when one exists
    already."""
    require(actor, "account.create")
    if User.objects.filter(is_superuser=True, is_active=True).exists():
        return None
    secret = password or secrets.token_urlsafe(12)
    name = (
        username
        if not User.objects.filter(username=username).exists()
        else f"{username}-{secrets.token_hex(3)}"
    )
    user = new_user(username=name, password=secret, is_superuser=True, check_password=False)
    audit.record(actor=actor, verb="account.first_admin", obj=user, username=user.username)
    return user, secret


@transaction.atomic
def update_profile(*, actor: Actor, user: User, values: Mapping[str, Any]) -> User:
    """Change a person's own settings. Raises Invalid with the fields that are wrong."""
    require(actor, "account.change", user)
    unknown = set(values) - PROFILE_FIELDS
    if unknown:
        raise Invalid(
            translatable("Unknown fields."),
            fields=dict.fromkeys(sorted(unknown), translatable("Unknown setting.")),
        )
    zone = values.get("time_zone", user.time_zone)
    if zone and zone not in available_timezones():
        raise Invalid(
            translatable("Unknown time zone."),
            fields={"time_zone": translatable("Choose a time zone from the list.")},
        )
    for name, value in values.items():
        setattr(user, name, value)
    try:
        user.clean_fields(
            exclude=[field.name for field in User._meta.fields if field.name not in PROFILE_FIELDS]
        )
    except ValidationError as error:
        raise Invalid(
            translatable("The profile could not be saved; check the fields."),
            fields={name: " ".join(messages) for name, messages in error.message_dict.items()},
        ) from error
    user.save(update_fields=sorted(values))
    audit.record(actor=actor, verb="account.change", obj=user, fields=sorted(values))
    return user


@transaction.atomic
def change_keys(*, actor: Actor, user: User, keys: Mapping[str, Any]) -> User:
    """Change the keys of the workbench: {action: key}; an action that is left out has its usual one.

    Raises Invalid with `fields` for what cannot be a key, and for two actions with the same one.
    """
    require(actor, "account.change", user)
    user.keymap = keymap.checked(keys)
    user.save(update_fields=["keymap"])
    audit.record(actor=actor, verb="account.change", obj=user, fields=["keymap"])
    return user


@transaction.atomic
def make_password_link(*, actor: Actor, user: User) -> tuple[str, str]:
    """The (uid, token) of a one-time link with which a person sets a new password, for sites without a mail
    server.

    Only whoever administers accounts may make one; it ends with its first use, or after
    PASSWORD_RESET_TIMEOUT.
    """
    require(actor, "account.create")
    audit.record(actor=actor, verb="account.password_link", obj=user, username=user.username)
    return urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)


@transaction.atomic
def close_account(*, actor: Actor, user: User) -> User:
    """End an account: nobody can sign in to it, and its open work goes back to the others. Labels stay.

    Raises Conflict for one's own account (code "own_account"), so that somebody is left to open it again.
    """
    require(actor, "account.create")
    if isinstance(actor, User) and actor.pk == user.pk:
        raise Conflict(translatable("You cannot close your own account."), code="own_account")
    user = claim_expiry.hold(user)
    if not user.is_active:
        return user
    claims = claim_expiry.lock_claims(Assignment.stored.filter(annotator=user))
    cases = Adjudication.objects.filter(adjudicator=user)
    claim_expiry.release_cases(actor=actor, cases=cases, because=ExpiryReason.LEFT)
    user.is_active = False
    user.save(update_fields=["is_active"])
    audit.record(actor=actor, verb="account.close", obj=user, username=user.username)
    kept = Reservation.objects.filter(annotator=user)
    claim_expiry.expire(actor=actor, claims=claims, because=ExpiryReason.LEFT, kept=kept)
    return user


@transaction.atomic
def open_account(*, actor: Actor, user: User) -> User:
    """Let a person whose account was closed sign in again, in the roles they had."""
    require(actor, "account.create")
    user = claim_expiry.hold(user)
    if not user.is_active:
        user.is_active = True
        user.save(update_fields=["is_active"])
        audit.record(actor=actor, verb="account.open", obj=user, username=user.username)
    return user


@transaction.atomic
def replace_password(*, actor: Actor, user: User) -> str:
    """Give the account a random password, and return it; every session of it ends."""
    require(actor, "account.create")
    secret = secrets.token_urlsafe(12)
    user.set_password(secret)
    user.save(update_fields=["password"])
    audit.record(actor=actor, verb="account.password_replaced", obj=user, username=user.username)
    return secret


@transaction.atomic
def issue_token(
    *,
    actor: Actor,
    user: User,
    name: str,
    days: int | None = 90,
    scope: TokenScope = TokenScope.ADMIN,
    now: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Make a personal token: the row, and the token itself, which is never shown again."""
    require(actor, "token.change", user)
    now = now or timezone.now()
    if not name.strip():
        raise Invalid(
            translatable("Enter a name for the token."),
            fields={"name": translatable("Enter a name for the token.")},
        )
    if days is not None and not 1 <= days <= MAX_TOKEN_DAYS:
        reason = translatable("Choose between 1 and {token_days} days.", token_days=MAX_TOKEN_DAYS)
        raise Invalid(reason, fields={"days": reason})
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name.strip()[:80],
        prefix=secret[:10],
        digest=digest_of(secret),
        created_at=now,
        expires_at=now + timedelta(days=days) if days is not None else None,
        scope=TokenScope(scope),
    )
    audit.record(actor=actor, verb="token.issue", obj=token, name=token.name, scope=token.scope)
    return token, secret


@transaction.atomic
def revoke_token(*, actor: Actor, token: ApiToken) -> None:
    """End a token at once; repeating it changes nothing."""
    require(actor, "token.change", token.user)
    changed = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    if changed:
        audit.record(actor=actor, verb="token.revoke", obj=token, name=token.name)


@transaction.atomic
def revoke_all_tokens(*, user: User) -> None:
    """End every token of a person whose password has changed."""
    tokens = list(ApiToken.objects.select_for_update().filter(user=user, revoked_at=None))
    if tokens:
        ended = ApiToken.objects.filter(pk__in=[token.pk for token in tokens])
        ended.update(revoked_at=timezone.now())
    for token in tokens:
        audit.record(actor=user, verb="token.revoke", obj=token, name=token.name)


def user_of_token(*, secret: str, now: datetime | None = None) -> tuple[User, ApiToken] | None:
    """The active person whose valid token this is, or None. Notes the use, at most once a minute."""
    now = now or timezone.now()
    token = _by_digest.first(digest=digest_of(secret))
    if (
        token is None
        or not token.user.is_active
        or (token.expires_at is not None and token.expires_at <= now)
    ):
        return None
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_PRECISION:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user, token


_by_digest = Prepared(
    lambda digest: ApiToken.objects.select_related("user").filter(digest=digest, revoked_at=None),
    digest=("a digest", "another digest"),
)
