"""Queries that are composed once and asked many times: composing one with related rows or several subqueries
takes Django two or three times as long as the database takes to answer it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesListIterable
from django.db.transaction import TransactionManagementError

R = TypeVar("R")
Value = int | str | date | datetime
Flag = bool | None
KEYS = 10**12
MOST = 256
"""The longest collection of values whose form is kept."""


class Prepared(Generic[R]):
    """A query of whole rows, with those that it selects beside them, or of a list of values, whose values are
    given when it is asked.

    `compose` makes it of a value for each name, and asks nothing of the database itself. `examples` has two
    for each, all different: composed of the first ones and of the second, the query differs in parameters
    alone, each of which is an example, and where it stands the value will stand. A column must be able to
    hold its examples, or Django leaves out the condition. `keys` are names of keys, which have large ones.

    What is neither is a flag, and the query is composed once for each of its values. For a number a
    collection may be given: it is composed once for each power of two, up to which the last one is repeated,
    which must not change what is asked, as it does not after IN.
    """

    def __init__(
        self, compose: Callable[..., QuerySet[Any, R]], *keys: str, **examples: tuple[Value, Value]
    ) -> None:
        self._compose = compose
        large = {key: (place * KEYS + 1, place * KEYS + 2) for place, key in enumerate(keys, 1)}
        self._examples: dict[str, tuple[Value, Value]] = {**large, **examples}
        self._composed: dict[tuple[Any, ...], _Composed | None] = {}

    def __call__(self, **values: Value | Flag | Collection[int]) -> list[R]:
        """The rows for these values."""
        form: list[Any] = [connection.vendor]
        given: dict[Any, Value] = {}
        for name, value in values.items():
            if name not in self._examples:
                form.append((name, value))
            elif isinstance(value, Value):
                given[name] = value
            elif len(value) > MOST:  # type: ignore[arg-type]
                return list(self._compose(**values))
            else:
                padded = _padded(list(value))  # type: ignore[arg-type]
                form.append((name, len(padded)))
                given.update(((name, at), one) for at, one in enumerate(padded))
        key = tuple(form)
        if key not in self._composed:
            self._composed[key] = self._prepare(dict(form[1:]))
        composed = self._composed[key]
        return [] if composed is None else composed.rows(given)

    def first(self, **values: Value | Flag | Collection[int]) -> R | None:
        """The first of the rows, of which the query should ask for no more."""
        rows = self(**values)
        return rows[0] if rows else None

    def _prepare(self, form: dict[str, Any]) -> _Composed | None:
        """The query in a form, by the values of flags and the lengths of collections; None where it can find
        nothing, as Django knows without asking."""
        arguments: tuple[dict[str, Any], dict[str, Any]] = (dict(form), dict(form))
        names: dict[tuple[Any, Any], Any] = {}
        for name, pair in self._examples.items():
            pairs = {name: pair}
            if name in form:
                pairs = {(name, at): _shifted(pair, 2 * at) for at in range(form[name])}  # type: ignore[misc]
            for which in (0, 1):
                examples = [one[which] for one in pairs.values()]
                arguments[which][name] = examples if name in form else examples[0]
            for key, one in pairs.items():
                names[_adapted(connection, one[0]), _adapted(connection, one[1])] = key
        querysets = [self._compose(**one) for one in arguments]
        compilers: list[Any] = [rows.query.get_compiler(connection=connection) for rows in querysets]
        try:
            (text, first), (same, second) = (compiler.as_sql() for compiler in compilers)
        except EmptyResultSet:
            return None
        assert text == same
        places = []
        for one, other in zip(first, second, strict=True):
            assert one == other or (one, other) in names, f"{one} is made of an example, and is none"
            places.append((None if one == other else names[one, other], one))
        converters = compilers[0].get_converters([expression for expression, *_ in compilers[0].select])
        return _Composed(compilers[0], text, places, converters, querysets[0]._iterable_class)


def _padded(values: list[int]) -> list[int]:
    """Values up to the next power of two, the last one repeated."""
    missing = (1 << (len(values) - 1).bit_length()) - len(values) if values else 0
    return values + values[-1:] * missing


def _shifted(pair: tuple[Any, Any], by: int) -> tuple[int, int]:
    return pair[0] + by, pair[1] + by


@dataclass(frozen=True, slots=True)
class _Composed:
    """A query as its compiler has composed it, and what makes Python's values of the database's."""

    compiler: Any
    text: str
    places: list[tuple[Any, Any]]
    converters: dict[int, Any]
    iterable: type[Any]

    def rows(self, values: dict[Any, Value]) -> list[Any]:
        if self.compiler.query.select_for_update and connection.get_autocommit():
            raise TransactionManagementError("select_for_update outside of a transaction")
        adapted = {name: _adapted(connection, value) for name, value in values.items()}
        with connection.cursor() as cursor:
            cursor.execute(
                self.text, [constant if name is None else adapted[name] for name, constant in self.places]
            )
            fetched: Iterable[Any] = cursor.fetchall()
        if self.converters:
            fetched = self.compiler.apply_converters(fetched, self.converters)
        if self.iterable is FlatValuesListIterable:
            return [row[0] for row in fetched]
        if self.iterable is ValuesListIterable:
            return [tuple(row) for row in fetched]
        asked: Any = SimpleNamespace(
            db=connection.alias, query=_Answered(self.compiler, fetched), _known_related_objects={}
        )
        return list(ModelIterable(asked))


class _Answered:
    """The query and the compiler that Django's iterable of rows asks for, where the answer is there
    already."""

    def __init__(self, compiler: Any, rows: Iterable[Any]) -> None:
        self.select = compiler.select
        self.klass_info = compiler.klass_info
        self.annotation_col_map = compiler.annotation_col_map
        self._rows = rows

    def get_compiler(self, **_: object) -> _Answered:
        return self

    def execute_sql(self, **_: object) -> None:
        pass

    def results_iter(self, _results: object) -> Iterable[Any]:
        return self._rows


def _adapted(connection: BaseDatabaseWrapper, value: Value) -> Any:
    """A value as a field would hand it to the driver."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return connection.ops.adapt_datefield_value(value) if isinstance(value, date) else value
