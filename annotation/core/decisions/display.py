"""The order in which the options of a decision are shown: by chance that is a seed, of its own for each
person."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def display_order(options: Sequence[int], *, seed: int | str, item: str, person: int | str) -> list[int]:
    """The message indexes of the options in the order in which `person` sees them; the same at every opening.

    The order is that of SHA-256 over seed, item, person and index: no library's generator is part of it.
    Addresses stay message indexes, whatever stands first.
    """

    def place(index: int) -> bytes:
        return hashlib.sha256(f"{seed}\n{item}\n{person}\n{index}".encode("utf-8", "surrogatepass")).digest()

    return sorted(options, key=place)
