"""Room for the frames of deep calls.

CPython (3.11 and later) lays the frames of Python functions behind each other in chunks of 16 KiB of a
thread's data stack (`_PyThreadState_PushFrame` in its Python/pystate.c). A call for which a chunk has no room
left maps a new chunk from the kernel, and its return unmaps it. A request is some forty frames deep before it
does its work; where that happens at the end of a chunk, every call of a small function in a loop maps and
unmaps memory, up to half the time of a page. Decision 79.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# A chunk is the smallest power of two in which the frame that asks for it fits. This frame asks for a little
# more than half a mebibyte, never touches it, and leaves nearly the other half to the frames behind it.
SLOTS: Final = 2**19 // 8 + 512


def with_room(function: Callable[P, R]) -> Callable[P, R]:
    """`function` with half a mebibyte of one chunk for the frames of all that it calls."""

    def roomy(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    roomy.__code__ = roomy.__code__.replace(co_stacksize=SLOTS)
    return roomy
