"""Change a state by a guarded UPDATE, which raises when no row changed (docs/design.md, "Rules")."""

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Any

from django.db.models import Model

from annotation.core import workflow
from annotation.core.errors import StaleState
from annotation.core.i18n import translatable


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
