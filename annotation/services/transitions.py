"""Change a state by a guarded UPDATE, which raises when no row changed (docs/design.md, "Rules")."""

from collections.abc import Iterable
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
    states = [from_state] if isinstance(from_state, StrEnum) else list(from_state)
    for state in states:
        workflow.check(state, to)
    changed = model._base_manager.filter(pk=pk, state__in=states).update(state=to, **values)
    if not changed:
        raise StaleState(
            translatable("This has changed in the meantime; reload the page to see the current state.")
        )
