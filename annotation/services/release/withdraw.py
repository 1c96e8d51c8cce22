"""Withdraw a release: say that it is faulty, in a row of its own."""

import json

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.releases.record_format import withdrawal_statement
from annotation.core.text import escape
from annotation.models import Release, ReleaseWithdrawal
from annotation.policies import Actor, recorded, require

from .. import audit
from . import signatures
from .freeze_request import MAX_NOTE
from .keys import signing_key


@transaction.atomic
def withdraw(*, actor: Actor, release: Release, reason: str) -> ReleaseWithdrawal:
    """Say that a release is faulty. The release stays as it is; a withdrawal is said once.

    Raises Invalid without a reason, Conflict when it is withdrawn already.
    """
    require(actor, "release.withdraw", release)
    if not reason.strip() or len(reason) > MAX_NOTE:
        message = translatable("Give a reason for withdrawing the release.")
        raise Invalid(message, fields={"reason": message})
    reason, now = escape(reason.strip()), timezone.now()
    statement = withdrawal_statement(json.loads(release.manifest), reason, now)
    signature = signatures.signed(signing_key(), statement)
    try:
        with transaction.atomic():
            withdrawal = ReleaseWithdrawal.objects.create(
                release=release,
                reason=reason,
                signature=signature,
                created_by=recorded(actor),
                created_at=now,
            )
    except IntegrityError as error:
        raise Conflict(translatable("This release is already withdrawn."), code="withdrawn") from error
    audit.record(
        actor=actor, verb="release.withdraw", project=release.project, obj=release, version=release.version
    )
    return withdrawal
