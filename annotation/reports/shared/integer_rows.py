"""Read whole numbers from the database into an array."""

from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db import connections
from django.db.models import QuerySet

ROWS_AT_ONCE: Final = 10_000

Integers = npt.NDArray[np.int64]


def integer_rows(query: QuerySet[Any, Any], columns: int) -> Integers:
    """The rows of a `values_list` query, none of them null: (n, columns).

    Read with the driver's own cursor: there are a hundred thousand of them and more, all whole numbers, and
    what Django does to each value would take as long as the statistics.
    """
    statement, values = query.query.sql_with_params()
    with connections[query.db].cursor() as cursor:
        cursor.execute(statement, values)
        blocks = iter(lambda: cursor.fetchmany(ROWS_AT_ONCE), [])
        numbers = chain.from_iterable(chain.from_iterable(blocks))
        return np.fromiter(numbers, dtype=np.int64).reshape(-1, columns)
