"""The operator's rules for judges: addresses, and variables that hold keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from annotation.core.i18n import translatable

from .addresses import allowed
from .settings import JudgeSettings

KEY_PREFIX: Final = "TRISTEP_JUDGE_KEY_"
_KEY: Final = re.compile(rf"{KEY_PREFIX}[A-Z0-9_]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class OperatorRules:
    """The addresses and keys that the operator of the server allows. An admin of a project is not the
    operator: were any address or any variable allowed, the server's own secrets could be sent to a judge.

    `addresses`: what an address must be or begin with. `keys`: variables that may be read as keys beside
    those whose names begin with TRISTEP_JUDGE_KEY_.
    """

    addresses: Sequence[str] = ()
    keys: Sequence[str] = ()

    def problems(self, settings: JudgeSettings) -> dict[str, str]:
        """Forbidden settings: name → one sentence."""
        errors: dict[str, str] = {}
        if not allowed(settings.base_url, self.addresses):
            errors["base_url"] = translatable(
                "The judge’s address is not among those that the operator allows."
            )
        if settings.key_name and not self.allows_key(settings.key_name):
            errors["key_name"] = translatable(
                "A judge’s key is read only from a variable that the operator allows, or whose name begins "
                "with {prefix}.",
                prefix=KEY_PREFIX,
            )
        return errors

    def allows_key(self, name: str) -> bool:
        """Whether the variable may be read as a judge's key."""
        return bool(_KEY.fullmatch(name)) or name in self.keys
