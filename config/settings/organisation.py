"""The variables of sign-in through an organisation (docs/sign-in.md), read together: one without the others
would close the site, or open it."""

from __future__ import annotations

from annotation.core.organisation.rules import Organisation, read_roles, safe_address
from config.env import BadEnvironment, Env

ISSUER = "TRISTEP_OIDC_ISSUER"
ROLES = "TRISTEP_OIDC_ROLES"
ONLY = "TRISTEP_OIDC_ONLY"


def read(env: Env) -> Organisation | None:
    """The organisation, None without an issuer. Raises BadEnvironment."""
    issuer = env.text(ISSUER)
    needed = {name: env.text(name) for name in ("TRISTEP_OIDC_CLIENT_ID", "TRISTEP_OIDC_CLIENT_SECRET")}
    if not issuer:
        if env.flag(ONLY):
            raise BadEnvironment(f"{ONLY} needs {ISSUER}: nobody could sign in.")
        return None
    if not safe_address(issuer):
        raise BadEnvironment(f"{ISSUER} must be an https:// address without query, not {issuer!r}.")
    if missing := [name for name, value in needed.items() if not value]:
        raise BadEnvironment(f"{ISSUER} needs {' and '.join(missing)}.")
    client_id, client_secret = needed.values()
    try:
        roles = read_roles(env.text(ROLES))
    except ValueError as error:
        raise BadEnvironment(f"{ROLES} {error}.") from None
    return Organisation(
        issuer=issuer,
        client_id=client_id,
        client_secret=client_secret,
        name=env.text("TRISTEP_OIDC_NAME"),
        scopes=tuple(env.words("TRISTEP_OIDC_SCOPES", ("openid", "profile", "email"))),
        groups_claim=env.text("TRISTEP_OIDC_GROUPS_CLAIM", "groups"),
        roles=roles,
        anybody=env.flag("TRISTEP_OIDC_ANYBODY"),
        only=env.flag(ONLY),
        local_accounts=frozenset(name.casefold() for name in env.words("TRISTEP_OIDC_LOCAL_ACCOUNTS")),
    )
