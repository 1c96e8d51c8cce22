"""Bounds that the databases set."""

from typing import Final

MAX_INT: Final = 2**31 - 1
"""The largest number that a column of integers takes on every database."""
