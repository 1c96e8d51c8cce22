"""Loading the product's modules, by every process that begins."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Load modules inside, without the collector of cycles: it would go through all that is loaded again and
    again and find nothing, for a quarter of the time that a process takes to begin."""
    gc.disable()
    try:
        yield
    finally:
        keep_what_is_loaded()
        gc.enable()


def keep_what_is_loaded() -> None:
    """Leave what there is out of all rounds of the collector, which would also write to each page of memory
    that forked processes share."""
    gc.freeze()
