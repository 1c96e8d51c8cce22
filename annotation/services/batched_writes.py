"""Long writes in short transactions, so that nobody waits for them for long."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from django.db import connection, transaction

T = TypeVar("T")

BLOCK_SECONDS = 0.04
"""A transaction takes no more work in than fits into this, by the time that its last piece took."""

FORGOTTEN = timedelta(hours=1)
"""The time in which a killed import must be begun again before its remains are taken away."""


def in_blocks(items: Iterable[T], do: Callable[[T], None]) -> None:
    """`do` every item, as many in a transaction as fit into BLOCK_SECONDS.

    What is committed stays when a later item raises, or the process is killed; the caller knows what then.
    """
    waiting = iter(items)
    item = next(waiting, None)
    while item is not None:
        with transaction.atomic():
            now = time.monotonic()
            end = now + BLOCK_SECONDS
            while item is not None:
                begun = now
                do(item)
                item = next(waiting, None)
                now = time.monotonic()
                if now + (now - begun) >= end:  # another one like it would not fit
                    break


def parts(items: Iterable[T], *, weight: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """The items in order, a few at a time: as many as weigh `most` together, or one that weighs more."""
    few: list[T] = []
    total = 0
    for item in items:
        heavy = weight(item)
        if few and total + heavy > most:
            yield few
            few, total = [], 0
        few.append(item)
        total += heavy
    if few:
        yield few


@contextmanager
def read_snapshot() -> Iterator[None]:
    """One consistent view of the database, without a lock that would keep others from writing."""
    if connection.vendor == "sqlite":
        # Django would begin an immediate transaction, which takes the write lock; a deferred one only reads.
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
