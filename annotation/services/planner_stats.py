"""Renew the planner's statistics after many rows have come in at once."""

from typing import Final

from django.db import connection
from django.db.models import Model

FEW: Final = 5_000
"""So many rows that the planner knows nothing of are still looked up one by one in a moment."""
SMALL_SHARE: Final = 0.1
"""Of a table's rows: PostgreSQL itself waits for as many."""


def analyse(*models: type[Model], added: int | None = None) -> None:
    """Let PostgreSQL count the rows of these tables now.

    Its own background process gets to it within a minute or so; until then it plans as if the tables were as
    empty as it last saw them, and a report over fresh rows takes minutes instead of a moment. SQLite has none
    here: its connections live as long as the server, and would not read new ones. It plans by its indexes
    alone, so these must leave no choice between a few rows and many (tests/frontend/test_query_counts.py).

    With `added`, the number of rows that came into the first of the tables, nothing is done where these are
    few beside what it holds: of large tables it takes seconds.
    """
    if connection.vendor != "postgresql":
        return
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
    with connection.cursor() as cursor:
        if added is not None and added <= FEW:
            cursor.execute(
                "SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [models[0]._meta.db_table]
            )
            if added < SMALL_SHARE * cursor.fetchone()[0]:
                return
        cursor.execute(f"ANALYZE {tables}")
