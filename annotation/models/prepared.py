"""Queries that are composed once and asked many times: composing one with related rows or several subqueries
takes Django two or three times as long as the database takes to answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable

M = TypeVar("M", bound=Model)
Value = int | str | date | datetime


class Prepared(Generic[M]):
    """A query of whole rows, with those that it selects beside them, whose values are given when it is asked.

    `compose` makes it of a value for each name, and asks nothing of the database itself. `examples` has two
    for each, all different: composed of the first ones and of the second, the query differs in parameters
    alone, each of which is an example, and where it stands the value will stand.
    """

    def __init__(self, compose: Callable[..., QuerySet[M]], **examples: tuple[Value, Value]) -> None:
        self._compose = compose
        self._examples = examples
        self._composed: dict[str, _Composed] = {}

    def __call__(self, **values: Value) -> list[M]:
        """The rows for these values."""
        if connection.vendor not in self._composed:
            self._composed[connection.vendor] = self._prepare()
        return self._composed[connection.vendor].rows(values)

    def _prepare(self) -> _Composed:
        compilers: list[Any] = [
            self._compose(**{name: pair[which] for name, pair in self._examples.items()}).query.get_compiler(
                connection=connection
            )
            for which in (0, 1)
        ]
        (text, first), (same, second) = (compiler.as_sql() for compiler in compilers)
        assert text == same
        names = {
            tuple(_adapted(connection, value) for value in pair): name
            for name, pair in self._examples.items()
        }
        places = []
        for one, other in zip(first, second, strict=True):
            assert one == other or (one, other) in names, f"{one} is made of an example, and is none"
            places.append((None if one == other else names[one, other], one))
        converters = compilers[0].get_converters([expression for expression, *_ in compilers[0].select])
        return _Composed(compilers[0], text, places, converters)


@dataclass(frozen=True, slots=True)
class _Composed:
    """A query as its compiler has composed it, and what makes Python's values of the database's."""

    compiler: Any
    text: str
    places: list[tuple[str | None, Any]]
    converters: dict[int, Any]

    def rows(self, values: dict[str, Value]) -> list[Any]:
        adapted = {name: _adapted(connection, value) for name, value in values.items()}
        with connection.cursor() as cursor:
            cursor.execute(
                self.text, [constant if name is None else adapted[name] for name, constant in self.places]
            )
            found: Iterable[Any] = cursor.fetchall()
        if self.converters:
            found = self.compiler.apply_converters(found, self.converters)
        asked: Any = SimpleNamespace(
            db=connection.alias, query=_Answered(self.compiler, found), _known_related_objects={}
        )
        return list(ModelIterable(asked))


class _Answered:
    """What Django's iterable of rows asks of a query and its compiler, where the answer is there already."""

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
