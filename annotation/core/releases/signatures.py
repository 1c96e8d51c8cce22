"""Ed25519 signatures (RFC 8032) of releases: keys as files, fingerprints, signing and checking.

A signature is detached and covers a file byte by byte, so that OpenSSL can check it without Tristep. The
library is imported where it is used: a process that signs nothing starts without it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..jsonio.canonical import sha256_hex

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALGORITHM: Final = "ed25519"
_NO_KEY: Final = "this is no Ed25519 key"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The public half of a release key: `der` is its SubjectPublicKeyInfo, 44 bytes."""

    der: bytes

    @classmethod
    def of(cls, data: bytes) -> PublicKey:
        """From PEM or DER. Raises ValueError."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        pem = data.lstrip().startswith(b"-----")
        load = serialization.load_pem_public_key if pem else serialization.load_der_public_key
        try:
            key = load(data)
        except Exception as error:
            # the library raises ValueError, UnsupportedAlgorithm and others for what is no key
            raise ValueError(_NO_KEY) from error
        if not isinstance(key, Ed25519PublicKey):
            raise ValueError(_NO_KEY)
        return cls(
            key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the DER form, 64 hex digits: what is published, and compared."""
        return sha256_hex(self.der)

    @property
    def pem(self) -> bytes:
        """The key as the file that goes with an export."""
        body = base64.b64encode(self.der)
        return b"-----BEGIN PUBLIC KEY-----\n" + body + b"\n-----END PUBLIC KEY-----\n"

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """Whether `signature` (64 bytes) is this key's, of exactly `data`."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.der[-32:]).verify(signature, data)
        except InvalidSignature:
            return False
        return True


class SigningKey:
    """A release key with its private half."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def generate(cls) -> SigningKey:
        """A new key, from the system's randomness."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def of(cls, data: bytes) -> SigningKey:
        """From PKCS #8 without a password: PEM, or the base64 of its DER form. Raises ValueError."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        try:
            if data.lstrip().startswith(b"-----"):
                key = serialization.load_pem_private_key(data, password=None)
            else:
                key = serialization.load_der_private_key(base64.b64decode(data, validate=True), password=None)
        except Exception as error:
            # never the error itself: it might quote the key
            raise ValueError(_NO_KEY) from error
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError(_NO_KEY)
        return cls(key)

    @property
    def public(self) -> PublicKey:
        """Its public half."""
        from cryptography.hazmat.primitives import serialization

        return PublicKey(
            self._key.public_key().public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )

    @property
    def pem(self) -> bytes:
        """The key as its file."""
        from cryptography.hazmat.primitives import serialization

        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def sign(self, data: bytes) -> bytes:
        """The signature of `data`, 64 bytes; the same each time."""
        return self._key.sign(data)
