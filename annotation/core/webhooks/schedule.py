"""Times of repeated deliveries, and of the rest and the pause of a webhook.

The waits are those of the Standard Webhooks specification 1.0.0 ("Deliverability and reliability").
"""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Final

WAITS: Final = tuple(
    timedelta(seconds=seconds) for seconds in (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
"""Before the second attempt, the third …; a delivery that fails after the last of them is given up."""
LONGEST_ASKED: Final = timedelta(days=1)
"""A server that asks for a longer wait gets this one."""
STEADY: Final = 3
"""After so many failed attempts in a row the webhook rests: its server is away, and not one event wrong."""
FIRST_REST: Final = timedelta(seconds=10)
LONGEST_REST: Final = timedelta(hours=1)
MAX_FAILURES: Final = 60
"""After so many failed attempts in a row a webhook is paused: two days or so without an answer."""


def next_wait(attempts: int, rng: random.Random, asked: float | None = None) -> timedelta | None:
    """The wait after so many failed attempts of a delivery, up to a tenth longer by chance; None: given up.
    `asked`: the seconds that the server wants to be left alone, if it said so."""
    if attempts > len(WAITS):
        return None
    wait = WAITS[attempts - 1] * (1 + 0.1 * rng.random())
    return max(wait, min(timedelta(seconds=asked), LONGEST_ASKED)) if asked is not None else wait


def rest(failures: int) -> timedelta:
    """The rest of a webhook after so many failed attempts in a row, of whichever deliveries."""
    if failures < STEADY:
        return timedelta(0)
    doubled: timedelta = FIRST_REST * 2 ** min(failures - STEADY, 20)
    return min(doubled, LONGEST_REST)
