"""The operator's rules for calls to outside servers: addresses, keys by name, and networks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.judging.addresses import allowed

from .failures import FailureKind
from .folders import allowed_root


@dataclass(frozen=True, slots=True)
class OperatorRules:
    """The addresses and keys that the operator of the server allows for one purpose. An admin of a project is
    not the operator: were any address or any variable allowed, the server's own secrets could be sent away.

    `addresses`: what an address must be or begin with. `keys`: variables that may be read as keys beside
    those whose names begin with `key_prefix`, which differs from one purpose to another, so that the key for
    one server is not sent to another. `networks`: private networks that a name with a dot may lead into
    (outside.networks).
    """

    addresses: Sequence[str] = ()
    keys: Sequence[str] = ()
    key_prefix: str = ""
    networks: Sequence[str] = ()

    def problems(self, base_url: str, key_name: str) -> dict[str, str]:
        """Forbidden settings: name → one sentence."""
        errors: dict[str, str] = {}
        if not allowed(base_url, self.addresses) and self.folder(base_url) is None:
            errors["base_url"] = translatable("The address is not among those that the operator allows.")
        if key_name and not self.allows_key(key_name):
            errors["key_name"] = translatable(
                "A key is read only from a variable that the operator allows, or whose name begins "
                "with {prefix}.",
                prefix=self.key_prefix,
            )
        return errors

    def folder(self, address: str) -> str | None:
        """The folder that the operator lists, of this machine, and that `address` (file:///…) is or lies
        in."""
        return allowed_root(address, self.addresses)

    def allows_key(self, name: str) -> bool:
        """Whether the variable may be read as a key."""
        begins = bool(self.key_prefix) and name.startswith(self.key_prefix)
        rest = name.removeprefix(self.key_prefix)
        return (begins and bool(re.fullmatch("[A-Z0-9_]+", rest, re.ASCII))) or name in self.keys

    def check(self, base_url: str, key_name: str, environ: Mapping[str, str]) -> str:
        """The key for this address, "" for none. Raises `Invalid` with `fields` when the operator does not
        allow the address or the key, or the key is missing; its code is `forbidden_url` or `bad_key` when
        that is all."""
        if wrong := self.problems(base_url, key_name):
            code = str(FailureKind.FORBIDDEN_URL) if wrong.keys() == {"base_url"} else None
            raise Invalid(next(iter(wrong.values())), fields=wrong, code=code)
        return read_key(key_name, environ)


def read_key(name: str, environ: Mapping[str, str]) -> str:
    """The key in a variable, "" without one. Raises `Invalid`, which never shows the value."""
    if not name:
        return ""
    key = environ.get(name, "").strip()
    if not key:
        raise Invalid(
            translatable("The key is missing: ${name} is not set.", name=name),
            code=str(FailureKind.BAD_KEY),
            fields={"key_name": translatable("names an environment variable that is not set on the server")},
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise Invalid(
            translatable("The key in ${name} contains characters that a key cannot contain.", name=name),
            code=str(FailureKind.BAD_KEY),
            fields={"key_name": translatable("names a variable whose value is not a key")},
        )
    return key
