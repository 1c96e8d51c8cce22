"""A person's second factors: an app with codes, passkeys, and recovery codes for when these are lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.db import transaction

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.models import Membership, User
from annotation.policies import Actor, require

from .. import audit, claim_expiry

MAX_PASSKEYS = 10
NAME_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Factors:
    """Second factors of somebody: the row of the app or None, rows of passkeys, and unused recovery codes."""

    app: Authenticator | None
    passkeys: list[Authenticator]
    codes: list[str]

    def __bool__(self) -> bool:
        return self.app is not None or bool(self.passkeys)


def factors(user: User) -> Factors:
    """The second factors of a person. One query."""
    kinds = Authenticator.Type
    rows = list(Authenticator.objects.filter(user=user).order_by("created_at", "pk"))
    codes = [row.wrap().get_unused_codes() for row in rows if row.type == kinds.RECOVERY_CODES]
    return Factors(
        app=next((row for row in rows if row.type == kinds.TOTP), None),
        passkeys=[row for row in rows if row.type == kinds.WEBAUTHN],
        codes=codes[0] if codes else [],
    )


def is_required(user: User) -> bool:
    """Whether the operator asks somebody for a second factor. At most one query."""
    if not settings.SECOND_FACTOR_ADMINS:
        return False
    return user.is_superuser or Membership.objects.filter(user=user, is_admin=True).exists()


@transaction.atomic
def turn_on_app(*, actor: User, secret: str) -> None:
    """Ask for codes of an app from now on; its secret has just been shown, and a code of it given. Raises
    Conflict when there is an app already."""
    require(actor, "account.change", actor)
    user = claim_expiry.hold(actor)
    if factors(user).app is not None:
        raise Conflict(translatable("You have an app already. Remove it first."), code="app_there")
    _added(user, TOTP.activate(user, secret).instance)


@transaction.atomic
def add_passkey(*, actor: User, name: str, credential: Mapping[str, Any]) -> None:
    """Accept a passkey from now on; its credential has been checked. Raises Conflict when there are too
    many."""
    from allauth.mfa.webauthn.internal.auth import WebAuthn  # loads fido2, which only the web server needs

    require(actor, "account.change", actor)
    user = claim_expiry.hold(actor)
    if len(factors(user).passkeys) >= MAX_PASSKEYS:
        raise Conflict(
            translatable("You have {n} passkeys already. Remove one first.", n=MAX_PASSKEYS), code="too_many"
        )
    _added(user, WebAuthn.add(user, name[:NAME_LENGTH], dict(credential)).instance)


def _added(user: User, row: Authenticator) -> None:
    RecoveryCodes.activate(user)
    audit.record(actor=user, verb="second_factor.add", obj=user, username=user.username, kind=row.type)


@transaction.atomic
def remove(*, actor: User, row: Authenticator) -> None:
    """Remove an app or a passkey, and with the last of them the recovery codes. Raises Conflict for the last
    of somebody whom the operator asks for one."""
    require(actor, "account.change", row.user)
    user = claim_expiry.hold(row.user)
    has = factors(user)
    if (has.app is not None) + len(has.passkeys) <= 1:
        if is_required(user):
            raise Conflict(
                translatable("Admins of this site need a second factor. Add another one first."),
                code="required",
            )
        Authenticator.objects.filter(user=user).delete()
    else:
        row.delete()
    audit.record(actor=actor, verb="second_factor.remove", obj=user, username=user.username, kind=row.type)


@transaction.atomic
def new_codes(*, actor: User) -> None:
    """Replace the recovery codes; the old ones end. Raises Conflict without a second factor to recover."""
    require(actor, "account.change", actor)
    user = claim_expiry.hold(actor)
    if not factors(user):
        raise Conflict(translatable("You have no second factor."), code="no_second_factor")
    Authenticator.objects.filter(user=user, type=Authenticator.Type.RECOVERY_CODES).delete()
    RecoveryCodes.activate(user)
    audit.record(actor=user, verb="second_factor.codes", obj=user, username=user.username)


@transaction.atomic
def reset(*, actor: Actor, user: User) -> bool:
    """Remove all second factors of somebody who has lost them; whether there were any."""
    require(actor, "account.create")
    user = claim_expiry.hold(user)
    removed, _ = Authenticator.objects.filter(user=user).delete()
    if removed:
        audit.record(actor=actor, verb="second_factor.reset", obj=user, username=user.username)
    return bool(removed)
