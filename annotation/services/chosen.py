"""Acts on chosen rows: a refused one keeps no other from being done."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from annotation.core.errors import Conflict, Invalid

Made = TypeVar("Made")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Made, Row]):
    """The rows on which the act was done, and the refused ones with their reasons."""

    done: list[Made]
    refused: list[tuple[Row, Conflict | Invalid]]
