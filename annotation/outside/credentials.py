"""Keys in calls: each kind of server wants its key in a header of its own."""

from __future__ import annotations

import base64
from enum import StrEnum

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

from .failures import FailureKind


class KeyScheme(StrEnum):
    """The header of a key. A key for `BASIC` consists of two halves with a colon between them, and so does
    one of `SIGNED`, which is in no header: calls are signed with it."""

    BEARER = "bearer"
    BASIC = "basic"
    X_API_KEY = "x-api-key"
    SIGNED = "signed"

    def header(self, key: str, key_name: str) -> dict[str, str]:
        """The header with `key`; none without a key. Raises Invalid, which never shows the key."""
        if not key or self is KeyScheme.SIGNED:
            return {}
        if self is KeyScheme.X_API_KEY:
            return {"X-API-Key": key}
        if self is KeyScheme.BEARER:
            return {"Authorization": f"Bearer {key}"}
        if not all(self.secrets(key)):
            raise Invalid(
                translatable("The key in ${name} must have two halves: public:secret.", name=key_name),
                code=str(FailureKind.BAD_KEY),
                fields={"key_name": translatable("names a variable whose value is not a key")},
            )
        return {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}

    def secrets(self, key: str) -> tuple[str, ...]:
        """The texts that must be told nowhere: the key, and its two halves where it has such."""
        if self not in (KeyScheme.BASIC, KeyScheme.SIGNED):
            return (key,)
        public, _, secret = key.partition(":")
        return (key, public, secret)
