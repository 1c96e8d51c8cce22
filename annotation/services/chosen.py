"""What becomes of chosen rows: one that is refused keeps no other from being done."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from annotation.core.errors import Conflict, Invalid

Made = TypeVar("Made")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Made, Row]):
    """What was done, and of which row nothing was done and why."""

    done: list[Made]
    refused: list[tuple[Row, Conflict | Invalid]]
