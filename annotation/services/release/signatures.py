"""Sign releases and withdrawals, and say what a signature is worth here.

A signature is kept as canonical JSON: {"algorithm": "ed25519", "public_key": base64 of the key's
SubjectPublicKeyInfo, "signature": base64 of 64 bytes}. A release's covers the bytes of `manifest.json`, and
with them the digest of its records and of the release before.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.core.jsonio.canonical import canonical_json
from annotation.core.releases.record_format import manifest_file, withdrawal_statement
from annotation.core.releases.signatures import ALGORITHM, PublicKey, SigningKey
from annotation.core.vocabulary import SignatureState
from annotation.models import Release, ReleaseWithdrawal

from .keys import known_keys


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature, and the key that made it, as it says itself."""

    key: PublicKey
    signature: bytes

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Raises ValueError when it cannot be read."""
        try:
            read = json.loads(text)
            if read["algorithm"] != ALGORITHM:
                raise ValueError("an unknown algorithm")
            public, made = (base64.b64decode(read[key], validate=True) for key in ("public_key", "signature"))
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError("this is no signature") from error
        return cls(PublicKey.of(public), made)


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """The result of checking a signature; `fingerprint` is that of the key it names, empty when it names
    none."""

    state: SignatureState
    fingerprint: str = ""


def signed(key: SigningKey, data: bytes) -> str:
    """The signature of `data`, as it is kept."""
    return canonical_json(
        {
            "algorithm": ALGORITHM,
            "public_key": base64.b64encode(key.public.der).decode(),
            "signature": base64.b64encode(key.sign(data)).decode(),
        }
    ).decode()


def check(data: bytes, signature: Signature, keys: Mapping[str, PublicKey] | None = None) -> SignatureCheck:
    """Hold a signature against what it covers, and its key against the keys known (default: here)."""
    fingerprint = signature.key.fingerprint
    if not signature.key.verifies(signature.signature, data):
        return SignatureCheck(SignatureState.INVALID, fingerprint)
    believed = fingerprint in (known_keys() if keys is None else keys)
    return SignatureCheck(SignatureState.VALID if believed else SignatureState.UNKNOWN_KEY, fingerprint)


def check_release(release: Release, keys: Mapping[str, PublicKey] | None = None) -> SignatureCheck:
    """The state of a release's signature. Its records are not looked at: `verify` does that."""
    try:
        signature = Signature.parse(release.signature or "")
        return check(manifest_file(json.loads(release.manifest)), signature, keys)
    except ValueError:
        return SignatureCheck(SignatureState.INVALID)


def check_withdrawal(
    withdrawal: ReleaseWithdrawal, manifest: Mapping[str, Any], keys: Mapping[str, PublicKey] | None = None
) -> SignatureCheck:
    """The state of a withdrawal's signature."""
    statement = withdrawal_statement(manifest, withdrawal.reason, withdrawal.created_at)
    try:
        return check(statement, Signature.parse(withdrawal.signature or ""), keys)
    except ValueError:
        return SignatureCheck(SignatureState.INVALID)
