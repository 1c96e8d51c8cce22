"""Retry a database call while the server is away, so that answers that were paid for are not lost."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

log = logging.getLogger(__name__)

T = TypeVar("T")
PATIENCE_SECONDS = 300.0
FIRST_DELAY = 0.1
LONGEST_DELAY = 5.0


def retry_db(do: Callable[[], T], *, give_up: Callable[[], bool] = lambda: False) -> T:
    """Retry a database call while the server is away, with growing pauses, for five minutes.

    `do` must bear being done twice: a connection can break after a commit and before its confirmation. Inside
    a transaction of the caller's, and once `give_up` says so, the error goes through at once.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    delay = FIRST_DELAY
    while True:
        try:
            return do()
        except (OperationalError, InterfaceError) as error:
            if connection.in_atomic_block or give_up() or time.monotonic() > deadline:
                raise
            log.warning("the database is away (%s); trying again", type(error).__name__)
            connection.close()
        time.sleep(delay)
        delay = min(delay * 2, LONGEST_DELAY)
