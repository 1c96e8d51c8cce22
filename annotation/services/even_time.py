"""Answers that take equally long, where how long one takes would tell what it was about.

The last label of a trajectory settles it, a recheck settles nothing, gold is drawn in place of a trajectory
of the queue: each asks the database other things. In a project with rechecks or gold, what annotators do with
their claims is answered at the next full tenth of a second, when most of it is long done.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from annotation.models import Project

TICK: Final = 0.1
"""Seconds. An answer takes a whole number of these."""


@contextmanager
def evened(project: Project) -> Iterator[None]:
    """Wait after what is done inside, refused or not, until it has taken a whole number of `TICK`s. To be
    entered outside of any transaction: nobody else waits."""
    began = time.perf_counter()
    try:
        yield
    finally:
        if project.gold_percent or project.retest_percent:
            time.sleep(TICK - (time.perf_counter() - began) % TICK)
