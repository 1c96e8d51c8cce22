"""The identity of a person in an ID token, checked as OpenID Connect Core 1.0, section 3.1.3.7, asks."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import jwt

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Signatures that need a private key. Neither `none` nor one made with a secret (HS256) is among them, so
that nobody can pass the public key off as that secret."""
LEEWAY_SECONDS: Final = 60
MAX_GROUPS: Final = 2_000
MAX_TEXT: Final = 300


class Refused(Invalid):
    """An answer of the provider that cannot be trusted; its message says why, and holds nothing of it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as their provider names them. `email` is one that the provider has verified, else empty."""

    issuer: str
    subject: str
    name: str = ""
    user_name: str = ""
    email: str = ""
    groups: frozenset[str] = frozenset()

    @property
    def uid(self) -> str:
        """The issuer and the subject in 64 characters: either may have more than a column holds."""
        return hashlib.sha256(f"{self.issuer}\n{self.subject}".encode()).hexdigest()


def verified_claims(
    token: str, keys: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """The claims of an ID token, whose signature is by one of `keys` (a JWK set). Raises Refused."""
    try:
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in ALGORITHMS:
            raise jwt.InvalidAlgorithmError
        claims: dict[str, Any] = jwt.decode(
            token,
            _key(keys, header),
            algorithms=[header["alg"]],
            issuer=issuer,
            audience=client_id,
            leeway=LEEWAY_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except jwt.ExpiredSignatureError:
        raise Refused(translatable("The answer of your organisation has expired."), code="expired") from None
    except jwt.InvalidIssuerError:
        raise Refused(
            translatable("The answer does not come from your organisation."), code="wrong_issuer"
        ) from None
    except jwt.InvalidAudienceError:
        raise Refused(translatable("The answer is meant for another site."), code="wrong_audience") from None
    except jwt.InvalidAlgorithmError:
        raise Refused(
            translatable("The answer is not signed in a way that this site accepts."), code="unsigned"
        ) from None
    except jwt.InvalidSignatureError:
        raise Refused(
            translatable("The signature of the answer is not your organisation’s."), code="wrong_signature"
        ) from None
    except (jwt.PyJWTError, ValueError, TypeError):
        raise Refused(
            translatable("The answer of your organisation cannot be read."), code="bad_token"
        ) from None
    # the party that the token was made for, where several sites may read it
    if claims.get("azp", client_id) != client_id or (_several(claims["aud"]) and "azp" not in claims):
        raise Refused(translatable("The answer is meant for another site."), code="wrong_audience")
    if not nonce or not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise Refused(
            translatable("The answer does not belong to this sign-in, or came a second time."),
            code="wrong_nonce",
        )
    return claims


def _several(audience: object) -> bool:
    return isinstance(audience, list) and len(audience) > 1


def _key(keys: Mapping[str, Any], header: Mapping[str, Any]) -> jwt.PyJWK:
    """The provider's key that a header names; without a name, the only one there is."""
    usable = [key for key in jwt.PyJWKSet.from_dict(dict(keys)).keys if key.public_key_use in (None, "sig")]
    named = [key for key in usable if key.key_id == header["kid"]] if "kid" in header else usable
    if len(named) != 1:
        raise jwt.InvalidSignatureError
    return named[0]


def identity(claims: Mapping[str, Any], more: Mapping[str, Any], *, groups_claim: str) -> Identity:
    """The identity of the person in the claims of an ID token, with what the provider's page of them (`more`,
    which may be empty) adds. Raises Refused when that page is another person's, or when groups are left
    out."""
    subject = claims["sub"]
    if more and more.get("sub") != subject:
        raise Refused(
            translatable("Your organisation’s answers speak of two different people."), code="wrong_subject"
        )
    merged = {**more, **claims}
    if groups_claim.partition(".")[0] in _mapping(merged.get("_claim_names")):
        # Entra leaves groups out when they are too many; taken for none, they would end every role
        raise Refused(
            translatable(
                "Your organisation left your groups out, because they are too many. Ask whoever runs this "
                "site to have only the groups sent that matter here."
            ),
            code="groups_left_out",
        )
    stated = merged.get("email_verified")
    verified = stated is True or stated == "true"
    return Identity(
        issuer=claims["iss"],
        subject=subject,
        name=_text(merged.get("name")),
        user_name=_text(merged.get("preferred_username")),
        email=_text(merged.get("email")) if verified else "",
        groups=frozenset(_groups(claims, groups_claim) or _groups(more, groups_claim)),
    )


def _text(value: object) -> str:
    """One line of text, without what cannot be shown."""
    words = value if isinstance(value, str) and len(value) <= MAX_TEXT else ""
    return " ".join("".join(sign for sign in words if sign.isprintable()).split())


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _groups(claims: Mapping[str, Any], name: str) -> list[str]:
    """The groups in a claim, whose name may be a way through objects ("realm_access.roles")."""
    value: object = claims.get(name)
    if value is None:
        value = claims
        for part in name.split("."):
            value = _mapping(value).get(part)
    listed = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if len(listed) > MAX_GROUPS:
        raise Refused(
            translatable("Your organisation says that you are in more than {n} groups.", n=f"{MAX_GROUPS:,}"),
            code="too_many_groups",
        )
    return [group for group in listed if isinstance(group, str)]
