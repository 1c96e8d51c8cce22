"""The judges that answer by themselves: a file here for each kind that has a `provider`
(`core.judging.kinds`).

A kind's module has `create(settings, environ=…, operator=…, hooks=…)`, unless it is made by a training. It
is imported when it is first wanted, so that a process that calls no judge loads none of what they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from annotation.core.judging.kinds import by_name
from annotation.core.judging.settings import JudgeSettings
from annotation.outside import OperatorRules

from .base import Exchange, Failure, FailureKind, Hooks, Provider, Reply, Request, Stopped

__all__ = [
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


class _Module(Protocol):
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
    """A judge of the kind of this name, ready to work; `environ` holds the keys by their variables' names.

    Raises `Invalid` with `fields` when the operator does not allow its address or its key, or the key is
    missing; its code is `forbidden_url` or `bad_key` when that is all. Bounds are checked when a judge is
    saved.
    """
    module = cast(_Module, import_module(f"{__name__}.{by_name(kind).provider}"))
    return module.create(settings, environ=environ, operator=operator, hooks=hooks or Hooks())
