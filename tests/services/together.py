"""Many people at once: each call in a thread of its own, with a database connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connections

PATIENCE = 120.0


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Let all calls loose at the same moment; what each returned, or the exception it raised, in order."""
    barrier = threading.Barrier(len(calls))
    results: list[Any] = [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            barrier.wait(PATIENCE)
            results[place] = call()
        except Exception as error:
            results[place] = error
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=run, args=(place, call), daemon=True) for place, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "somebody waits for ever"
    return results


def succeeded(results: Sequence[Any]) -> list[Any]:
    """What came back from those that were not refused."""
    return [result for result in results if not isinstance(result, Exception)]


def refused(results: Sequence[Any]) -> list[str]:
    """The codes of the refusals; anything that is not one of ours is raised."""
    codes = []
    for result in results:
        if isinstance(result, Exception):
            if not hasattr(result, "code") or not hasattr(result, "message"):
                raise result
            codes.append(result.code)
    return codes
