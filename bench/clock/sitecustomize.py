"""A clock that jumps, for every Python process that has this folder on its PYTHONPATH.

The file that BENCH_CLOCK names holds how many seconds the clock is ahead; monotonic time goes on as it is.
"""

import os
import threading
import time
from pathlib import Path

import time_machine

PAUSE = 0.1


def _follow(file: Path) -> None:
    ahead = 0.0
    # the true time, for a process inherits what the clock of the one that forked it says
    clock = time_machine.travel(time_machine.escape_hatch.time.time(), tick=True).start()
    while True:
        wanted = float(file.read_text() or ahead)
        if wanted != ahead:
            clock.shift(wanted - ahead)
            ahead = wanted
        time.sleep(PAUSE)


def _begin() -> None:
    threading.Thread(target=_follow, args=(Path(os.environ["BENCH_CLOCK"]),), daemon=True).start()


_begin()
os.register_at_fork(after_in_child=_begin)
