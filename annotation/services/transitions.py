"""Change a state by a guarded UPDATE, which raises when no row changed (docs/design.md, "Rules"), and other
fields only from the version that somebody has seen."""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

from django.db.models import Model

from annotation.core import workflow
from annotation.core.errors import StaleState, StaleVersion
from annotation.core.i18n import translatable
from annotation.core.versions import plain
from annotation.models.versioned import Versioned

CHANGED_MEANWHILE = translatable("This has been changed since you began; nothing was saved.")


def advance(
    model: type[Model], pk: Any, from_state: StrEnum | Iterable[StrEnum], to: StrEnum, **values: Any
) -> None:
    """Move row `pk` of `model` from a state in `from_state` to `to`, setting `values` with it.

    Raises StaleState when the row is in none of these states (any more), or when the workflow knows no such
    step.
    """
    advance_all(model, [pk], from_state, to, **values)


def advance_all(
    model: type[Model],
    pks: Collection[Any],
    from_state: StrEnum | Iterable[StrEnum],
    to: StrEnum,
    **values: Any,
) -> None:
    """Move several rows at once, by one statement. Raises StaleState when one of them is in none of these
    states (any more): the transaction that this is part of has then moved some."""
    states = [from_state] if isinstance(from_state, StrEnum) else list(from_state)
    for state in states:
        workflow.check(state, to)
    changed = model._base_manager.filter(pk__in=pks, state__in=states).update(state=to, **values)
    if changed != len(pks):
        raise StaleState(
            translatable("This has changed in the meantime; reload the page to see the current state.")
        )


def require_version(row: Versioned, version: str | None, wanted: Mapping[str, Any]) -> None:
    """Refuse to write `wanted` over what its author has not seen: the row, read under a lock, must be at the
    `version` that they began from (None: they do not care), or say all that is wanted already.

    Raises StaleVersion, whose details say what is there now.
    """
    if version is None or version == row.version:
        return
    differing = sorted(name for name, value in wanted.items() if getattr(row, name) != value)
    if differing:
        now = {"version": row.version, "current": plain(row.edited()), "differing": differing}
        raise StaleVersion(CHANGED_MEANWHILE, details=now)
