"""The operator's rules for signing in through an organisation, and the roles of groups."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from annotation.core.judging.addresses import normalised
from annotation.core.vocabulary import Role

SITE_ADMIN: Final = "site-admin"
ROLES: Final = frozenset(Role)
LOCAL_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Grants:
    """Grants of groups: the roles in each project, by its slug, and the administration of the whole site."""

    roles: Mapping[str, frozenset[Role]]
    site_admin: bool = False

    def __bool__(self) -> bool:
        return self.site_admin or bool(self.roles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """Settings of signing in through an organisation; docs/sign-in.md names the variables.

    `roles`: group → what it gives, as `read_roles` reads it. `anybody`: whoever the provider knows gets an
    account, and not only who is in a group of `roles` or invited. `only`: passwords of this site are taken of
    `local_accounts` alone.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    anybody: bool = False
    only: bool = False
    local_accounts: frozenset[str] = frozenset()

    def may_use_password(self, user_name: str) -> bool:
        """Whether somebody may sign in with a password of this site."""
        return not self.only or user_name.casefold() in self.local_accounts

    def grants(self, groups: Collection[str]) -> Grants:
        """The grants of somebody in these groups."""
        given = [grant for group in self.roles if group in groups for grant in self.roles[group]]
        roles: dict[str, frozenset[Role]] = {}
        for grant in given:
            if grant != SITE_ADMIN:
                slug, _, role = grant.partition(":")
                roles[slug] = roles.get(slug, frozenset()) | {Role(role)}
        return Grants(roles, SITE_ADMIN in given)


def read_roles(text: str) -> dict[str, tuple[str, ...]]:
    """A mapping from groups to grants, `{"labellers": ["retail:annotator"], "it": ["site-admin"]}`. Raises
    ValueError with one sentence."""
    if not text:
        return {}
    try:
        read = json.loads(text)
    except ValueError:
        raise ValueError("is not JSON") from None
    if not isinstance(read, dict):
        raise ValueError("must be an object: group → list")
    return {group: tuple(_grants(group, listed)) for group, listed in read.items()}


def _grants(group: str, listed: object) -> Iterable[str]:
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"must give {group!r} a list")
    for grant in listed:
        slug, colon, role = str(grant).partition(":")
        if grant != SITE_ADMIN and not (slug and colon and role in ROLES):
            raise ValueError(
                f"gives {group!r} {grant!r}, which is neither {SITE_ADMIN} nor PROJECT:ROLE with one of the "
                f"roles {', '.join(Role)}"
            )
        yield grant


def safe_address(url: str) -> bool:
    """Whether secrets may go to an address: over TLS, or on this machine."""
    if normalised(url) is None:
        return False
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in LOCAL_HOSTS
