"""Renew the planner's statistics after many rows have come in at once."""

from django.db import connection
from django.db.models import Model


def analyse(*models: type[Model]) -> None:
    """Let PostgreSQL count the rows of these tables now.

    Its own background process gets to it within a minute or so; until then it plans as if the tables were as
    empty as it last saw them, and a report over fresh rows takes minutes instead of a moment. SQLite has none
    here: its connections live as long as the server, and would not read new ones. It plans by its indexes
    alone, so these must leave no choice between a few rows and many (tests/frontend/test_query_counts.py).
    """
    if connection.vendor != "postgresql":
        return
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")
