"""The kinds of judge that answer by themselves. Each is a file here and one line in `PROVIDERS`.

A kind's module has `create(settings, environ=…, operator=…, hooks=…)`; it is imported when it is first
wanted, so that a process that calls no judge loads none of what they need.
Suggestions that come from a file (kind `imported`) have no provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, Protocol, cast

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.judging.operator_rules import OperatorRules
from annotation.core.judging.settings import JudgeSettings

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
    "create",
]

PROVIDERS: Final[dict[str, str]] = {"openai_compatible": "openai_compatible"}
"""Kind → its module in this package: the kinds that can be built from settings."""


class _Kind(Protocol):
    def create(
        self, settings: JudgeSettings, *, environ: Mapping[str, str], operator: OperatorRules, hooks: Hooks
    ) -> Provider: ...


def create(
    kind: str,
    settings: JudgeSettings,
    *,
    environ: Mapping[str, str],
    operator: OperatorRules,
    hooks: Hooks | None = None,
) -> Provider:
    """A judge of this kind, ready to work; `environ` holds the keys by their variables' names.

    Raises `Invalid` with `fields` when the operator does not allow its address or its key, or the key is
    missing; its code is `forbidden_url` or `bad_key` when that is all. Bounds are checked when a judge is
    saved.
    """
    return _module(kind).create(settings, environ=environ, operator=operator, hooks=hooks or Hooks())


def _module(kind: str) -> _Kind:
    if kind not in PROVIDERS:
        raise Invalid(
            translatable(
                "Unknown kind of judge “{kind}”; choose from {kinds}.",
                kind=kind[:40],
                kinds=", ".join(PROVIDERS),
            ),
            fields={"kind": translatable("must be one of {choices}", choices=", ".join(PROVIDERS))},
        )
    return cast(_Kind, import_module(f"{__name__}.{PROVIDERS[kind]}"))
