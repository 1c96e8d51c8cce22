"""The keys of releases: the instance's own, made on first use, and the public ones that it trusts.

`release.key` in the data folder (or TRISTEP_RELEASE_KEY) signs; `release-keys/` holds the public keys that
are trusted beside it: its own from before a rotation, and those of other instances whose releases were
restored.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from django.conf import settings

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.releases.signatures import PublicKey, SigningKey
from annotation.policies import OPERATOR

from .. import audit

VARIABLE = "TRISTEP_RELEASE_KEY"


def signing_key() -> SigningKey:
    """The key that signs releases frozen now, made when there is none. Raises Conflict when it cannot be
    read."""
    if not (settings.RELEASE_KEY or settings.RELEASE_KEY_FILE.exists()):
        _write(settings.RELEASE_KEY_FILE, SigningKey.generate().pem, replace=False)
    key = _own()
    assert key is not None
    return key


def _own() -> SigningKey | None:
    try:
        if settings.RELEASE_KEY:
            return SigningKey.of(settings.RELEASE_KEY.encode())
        return SigningKey.of(settings.RELEASE_KEY_FILE.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise Conflict(
            translatable(
                "The key that signs releases cannot be read; check {place}.",
                place=VARIABLE if settings.RELEASE_KEY else settings.RELEASE_KEY_FILE.name,
            ),
            code="release_key",
        ) from error


def known_keys() -> dict[str, PublicKey]:
    """The public keys that this instance trusts, by fingerprint. None is made; a file that holds no key is
    passed over."""
    keys = []
    with contextlib.suppress(Conflict):
        if own := _own():
            keys.append(own.public)
    for path in sorted(settings.RELEASE_KEYS_DIR.glob("*.pem")):
        with contextlib.suppress(ValueError, OSError):
            keys.append(PublicKey.of(path.read_bytes()))
    return {key.fingerprint: key for key in keys}


def trust(data: bytes) -> PublicKey:
    """Believe releases signed with this public key (PEM) from now on. Raises Invalid for anything else."""
    try:
        key = PublicKey.of(data)
    except ValueError as error:
        raise Invalid(translatable("This is not a public release key (PEM, Ed25519).")) from error
    _keep(key)
    audit.record(actor=OPERATOR, verb="release_key.trust", fingerprint=key.fingerprint)
    return key


def rotate() -> tuple[PublicKey, PublicKey]:
    """Sign with a new key from now on; (old, new). The old private key is gone, its public half trusted.

    Raises Conflict when the key comes from the environment, which only the operator can change.
    """
    if settings.RELEASE_KEY:
        raise Conflict(
            translatable(
                "The key is set in {variable}: trust its public key first, then set the variable to "
                "the new key.",
                variable=VARIABLE,
            )
        )
    old, new = signing_key().public, SigningKey.generate()
    _keep(old)
    _write(settings.RELEASE_KEY_FILE, new.pem, replace=True)
    audit.record(
        actor=OPERATOR, verb="release_key.rotate", old=old.fingerprint, fingerprint=new.public.fingerprint
    )
    return old, new.public


def _keep(key: PublicKey) -> None:
    settings.RELEASE_KEYS_DIR.mkdir(mode=0o700, exist_ok=True)
    _write(settings.RELEASE_KEYS_DIR / f"{key.fingerprint}.pem", key.pem, replace=True)


def _write(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file that its owner alone can read, whole or not at all; without `replace`, leave one that
    another process has just made."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            draft.replace(path)
        else:
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
