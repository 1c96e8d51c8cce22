"""Errors of an uploaded file: the first ones one by one, and the count of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..errors import ImportRefused
from ..i18n import translatable
from .jsonlines import RecordError

LISTED_ERRORS: Final = 1_000


@dataclass(slots=True)
class FileErrors:
    """The errors of one file: `listed` has the first 1,000, `count` counts all. False without any."""

    filename: str
    listed: list[RecordError] = field(default_factory=list)
    count: int = 0

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, error: RecordError) -> None:
        """Count an error, and list it while there is room."""
        self.count += 1
        if len(self.listed) < LISTED_ERRORS:
            self.listed.append(error)

    def extend(self, errors: Iterable[RecordError]) -> None:
        """Add several errors."""
        for error in errors:
            self.add(error)

    def refusal(self) -> ImportRefused:
        """The exception that refuses the file as a whole, with the errors as its report."""
        message = (
            translatable("{filename} was refused, nothing was imported: 1 error.", filename=self.filename)
            if self.count == 1
            else translatable(
                "{filename} was refused, nothing was imported: {count} errors.",
                filename=self.filename,
                count=f"{self.count:,}",
            )
        )
        listed = [error.as_dict() for error in self.listed]
        return ImportRefused(message, report={"errors": listed, "count": self.count})
