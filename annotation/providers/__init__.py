"""The kinds of judge that answer by themselves. Each is a file here and one line in `PROVIDERS`.

A kind's module has `check(config, allow_list)` and `create(config, environ=…, allow_list=…, hooks=…)`; it
is imported when it is first wanted, so that a process that calls no judge loads none of what they need.
Suggestions that come from a file (kind `imported`) have no provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, Protocol, cast

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

from .base import Exchange, Failure, FailureKind, Hooks, Provider, Reply, Request, Stopped

__all__ = [
    "PROVIDERS",
    "Exchange",
    "Failure",
    "FailureKind",
    "Hooks",
    "Provider",
    "Reply",
    "Request",
    "Stopped",
    "check",
    "create",
]

PROVIDERS: Final[dict[str, str]] = {"openai_compatible": "openai_compatible"}
"""Kind → its module in this package."""


class _Kind(Protocol):
    def check(self, config: Mapping[str, Any], allow_list: Sequence[str]) -> dict[str, str]: ...

    def create(
        self,
        config: Mapping[str, Any],
        *,
        environ: Mapping[str, str],
        allow_list: Sequence[str],
        hooks: Hooks,
    ) -> Provider: ...


def check(kind: str, config: Mapping[str, Any], *, allow_list: Sequence[str]) -> dict[str, str]:
    """What is wrong with a judge's settings: field → the end of a sentence; empty when nothing is.

    Raises `Invalid` for an unknown kind.
    """
    return _module(kind).check(config, allow_list)


def create(
    kind: str,
    config: Mapping[str, Any],
    *,
    environ: Mapping[str, str],
    allow_list: Sequence[str],
    hooks: Hooks | None = None,
) -> Provider:
    """A judge of this kind, ready to work.

    `environ` holds the keys by their variables' names, `allow_list` the addresses the operator allows.
    Raises `Invalid` with `fields`; its code is `forbidden_url` or `bad_key` when that is all.
    """
    return _module(kind).create(config, environ=environ, allow_list=allow_list, hooks=hooks or Hooks())


def _module(kind: str) -> _Kind:
    if kind not in PROVIDERS:
        raise Invalid(
            translatable(
                "There is no kind of judge called “{kind}”; there are: {kinds}.",
                kind=kind[:40],
                kinds=", ".join(PROVIDERS),
            ),
            fields={"kind": translatable("must be one of {choices}", choices=", ".join(PROVIDERS))},
        )
    return cast(_Kind, import_module(f"{__name__}.{PROVIDERS[kind]}"))
