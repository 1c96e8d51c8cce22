"""Deep calls map no memory: counted in page faults, of which each newly mapped chunk causes one."""

from __future__ import annotations

import resource
from collections.abc import Callable

from config.server.frames import with_room

CALLS = 200
DEPTHS = range(0, 150)


def _small() -> None:
    pass


def _faults(depth: int) -> int:
    """Page faults of `CALLS` calls of a small function, so many frames further on."""
    # without keyword arguments and generators, whose frames lie elsewhere
    if depth:
        return _faults(depth - 1)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(CALLS):
        _small()
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def _most(at: Callable[[int], int]) -> int:
    return max(at(depth) for depth in DEPTHS)


def test_calls_at_any_depth_map_no_memory() -> None:
    assert _most(with_room(_faults)) < CALLS / 2


def test_room_passes_arguments_results_and_errors_on() -> None:
    assert with_room(int)("ff", base=16) == 255
    try:
        with_room(int)("no number")
    except ValueError as error:
        assert "no number" in str(error)
    else:
        raise AssertionError("the error was lost")
