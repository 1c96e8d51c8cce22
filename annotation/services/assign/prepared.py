"""Queries that are composed once and asked many times: composing one with seven subqueries takes Django three
times as long as the database takes to answer it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Generic, TypeVar

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import RawQuerySet

M = TypeVar("M", bound=Model)
Value = int | date | datetime


class Prepared(Generic[M]):
    """A query of whole rows whose values are given when it is asked. What it annotates comes as the driver
    gives it (on SQLite: 0 and 1, and dates as text).

    `compose` makes it of a value for each name. `examples` has one for each, unlike whatever else is in the
    query: where it stands among the parameters, the value will stand.
    """

    def __init__(self, compose: Callable[..., QuerySet[M]], **examples: Value) -> None:
        self._compose = compose
        self._examples = examples
        self._composed: dict[str, tuple[type[M], str, list[tuple[str | None, object]]]] = {}

    def __call__(self, **values: Value) -> RawQuerySet[M]:
        """The rows for these values."""
        if connection.vendor not in self._composed:
            self._composed[connection.vendor] = self._prepare()
        model, text, places = self._composed[connection.vendor]
        adapted = {name: _adapted(connection, value) for name, value in values.items()}
        return model._default_manager.raw(
            text, [constant if name is None else adapted[name] for name, constant in places]
        )

    def _prepare(self) -> tuple[type[M], str, list[tuple[str | None, object]]]:
        rows = self._compose(**self._examples)
        text, parameters = rows.query.get_compiler(connection=connection).as_sql()
        names = {_adapted(connection, example): name for name, example in self._examples.items()}
        places = [(names.get(parameter), parameter) for parameter in parameters]
        assert {name for name, _ in places} - {None} == self._examples.keys()
        return rows.model, text, places


def _adapted(connection: BaseDatabaseWrapper, value: Value) -> object:
    """A value as a field would hand it to the driver."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return connection.ops.adapt_datefield_value(value) if isinstance(value, date) else value
