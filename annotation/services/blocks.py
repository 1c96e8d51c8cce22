"""Long writes in short transactions, so that nobody waits for them for long."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import transaction

T = TypeVar("T")

BLOCK_SECONDS = 0.04
"""A transaction takes no more work in after this: with its last piece and the commit it stays under 0.1 s."""


def in_blocks(items: Iterable[T], do: Callable[[T], None]) -> None:
    """`do` every item, as many in a transaction as fit into BLOCK_SECONDS.

    What is committed stays when a later item raises, or the process is killed; the caller knows what then.
    """
    waiting = iter(items)
    item = next(waiting, None)
    while item is not None:
        with transaction.atomic():
            end = time.monotonic() + BLOCK_SECONDS
            while item is not None:
                do(item)
                item = next(waiting, None)
                if time.monotonic() >= end:
                    break
