"""Reports as JSON and back: data classes by their fields, and rows of the database by their keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from decimal import Decimal
from typing import Any, Final, TypeGuard, TypeVar, get_origin

import numpy as np
from cattrs.preconf.json import make_converter
from django.db.models import Model

from annotation.models import Project, User

R = TypeVar("R")

_people: ContextVar[set[int]] = ContextVar("_people")
_rows: ContextVar[Mapping[tuple[type[Model], int], Model]] = ContextVar("_rows")


def dumps(figures: R, kind: Any) -> str:
    """The JSON of figures of this type, with the keys of the people that they name."""
    before = _people.set(set())
    try:
        stated = _converter.unstructure(figures, kind)
        return json.dumps({"people": sorted(_people.get()), "figures": stated}, ensure_ascii=False)
    finally:
        _people.reset(before)


def loads(text: str, kind: Any, project: Project) -> Any:
    """The figures of this type that `dumps` made `text` of; one query where they name people. Raises an
    exception of whatever kind where an older version made them, or somebody is gone."""
    stated = json.loads(text)
    rows: dict[tuple[type[Model], int], Model] = {(Project, project.pk): project}
    if stated["people"]:
        rows |= {(User, pk): user for pk, user in User.objects.in_bulk(stated["people"]).items()}
    before = _rows.set(rows)
    try:
        return _converter.structure(stated["figures"], kind)
    finally:
        _rows.reset(before)


def _is_row(kind: Any) -> TypeGuard[type[Model]]:
    return isinstance(kind, type) and issubclass(kind, Model)


def _is_array(kind: Any) -> bool:
    return np.ndarray in (kind, get_origin(kind))


def _is_named_tuple(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def _key(row: Model) -> int:
    if isinstance(row, User):
        _people.get().add(row.pk)
    return int(row.pk)


_converter: Final = make_converter(detailed_validation=False)
_converter.register_unstructure_hook(Decimal, str)
_converter.register_structure_hook(Decimal, lambda text, _kind: Decimal(text))
_converter.register_unstructure_hook_func(_is_row, _key)
_converter.register_structure_hook_func(_is_row, lambda pk, kind: _rows.get()[kind, pk])
# what each task has to do with a figure: differences are worked out of it, and pages show none of it
_converter.register_unstructure_hook_func(_is_array, lambda _array: [])
_converter.register_structure_hook_func(_is_array, lambda _stated, _kind: np.empty(0))
# whose fields are plain numbers, and annotated by words, which the library does not look up
_converter.register_structure_hook_func(_is_named_tuple, lambda values, kind: kind(*values))
