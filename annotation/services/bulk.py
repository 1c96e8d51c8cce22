"""Insert many rows of one table with few statements, without a model object for each."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from django.db import connection, models

Rows = Sequence[Sequence[Any]]

# PostgreSQL takes 65,535 values in a statement, and no statement should be longer than a batch needs.
MOST_VALUES = 30_000
SPARE = 10
"""One id in so many stays unused where ids are drawn (`draw_ids`)."""


def moment(at: datetime) -> Any:
    """A time as the database's driver takes it."""
    return connection.ops.adapt_datetimefield_value(at)


def insert(
    model: type[models.Model], columns: Sequence[str], rows: Rows, *, returning: bool = False
) -> list[int]:
    """Insert `rows`, the values of `columns` in that order; their primary keys, in order too, if asked for.

    Values are what both drivers take as they are: whole numbers, truth values, text, bytes, None, times as
    `moment` gives them. Columns not named get the model's defaults. An import makes five rows a record; as
    model objects they would take as long as everything else in it but the compression.
    """
    rest = [
        field
        for field in model._meta.concrete_fields
        if not field.null and field.attname not in columns and not isinstance(field, models.AutoField)
    ]
    defaults = tuple(field.get_db_prep_save(field.get_default(), connection) for field in rest)
    names = [*columns, *(field.attname for field in rest)]
    quote = connection.ops.quote_name
    placeholders = f"({', '.join(['%s'] * len(names))})"
    head = f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(map(quote, names))}) VALUES "
    tail = f" RETURNING {quote(model._meta.pk.attname)}" if returning else ""
    size = max(1, (connection.features.max_query_params or MOST_VALUES) // len(names))
    keys: list[int] = []
    with connection.cursor() as cursor:
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            values = list(chain.from_iterable((*row, *defaults) for row in part))
            cursor.execute(head + ", ".join([placeholders] * len(part)) + tail, values)
            if returning:
                keys += sorted(key for (key,) in cursor.fetchall())
    return keys


def draw_ids(model: type[models.Model], count: int) -> list[int]:
    """New ids for `count` rows, in order, with gaps at places of chance: a later row that must not be told
    from these (services.training.copies) takes an id between them. Asks for the table's lock on SQLite."""
    wanted = count + max(1, count // SPARE)
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            given = f"SELECT COALESCE(MAX({column}), 0) FROM {table}"
            cursor.execute(
                "INSERT INTO sqlite_sequence (name, seq) SELECT %s, 0"
                " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = %s)",
                [table, table],
            )
            cursor.execute(
                f"UPDATE sqlite_sequence SET seq = MAX(seq, ({given})) + %s WHERE name = %s RETURNING seq",
                [wanted, table],
            )
            (last,) = cursor.fetchone()
            ids = list(range(last - wanted + 1, last + 1))
        else:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [table, column, wanted],
            )
            ids = [number for (number,) in cursor.fetchall()]
    return sorted(secrets.SystemRandom().sample(ids, count))
