"""The protocol of a store: files that are listed and read, and releases that are put there whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

from .base import LeftOut

RELEASES: Final = "tristep-releases"
"""The folder that releases are pushed into; it is never pulled from."""
RECEIPT: Final = "tristep-release.json"
"""Written last of a release: it is there whole when this is."""
MAX_RECEIPT: Final = 1024 * 1024
MAX_FILES: Final = 10_000
MAX_LISTED: Final = 1_000_000
MAX_PATH: Final = 900
PIECE_BYTES: Final = 8 * 1024 * 1024

FILE_GONE: Final = translatable("is no longer there")
FILE_CHANGED: Final = translatable("changed while it was read")
UNREADABLE: Final = translatable("may not be read")
BAD_PATH: Final = translatable("has a name that cannot be used")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file: its path below the address of the connection, its size in bytes, and a mark that is another one
    whenever its content is."""

    path: str
    size: int
    mark: str


@dataclass(frozen=True, slots=True)
class FileList:
    """Files that came together, and those of them that stay away."""

    files: Sequence[StoredFile] = ()
    left_out: Sequence[LeftOut] = ()


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file of a release that is to be put there: its name, and where it lies here."""

    name: str
    path: Path
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ReleasePlace:
    """The place of a release: `version` of `project` (a slug)."""

    project: str
    version: str

    @property
    def folder(self) -> str:
        """Its folder below the address of the connection."""
        return f"{RELEASES}/{self.project}/{self.version}"


class LeaveOut(Exception):
    """One file that cannot be had, while others can; its only argument is the reason (`LeftOut`)."""


class Store(Protocol):
    """A store ready to work, used by one thread; every method may raise `OutsideError`."""

    def check(self) -> None:
        """Raise Invalid when the place is not there."""

    def listed(self) -> Iterator[FileList]:
        """The files that the pattern wants, in lists. Raises Invalid for too many."""

    def read(self, file: StoredFile) -> Iterator[bytes]:
        """The bytes of a file, in pieces. Raises `LeaveOut`, also when it has changed since it was listed."""

    def receipt(self, place: ReleasePlace) -> bytes | None:
        """The receipt of a release that lies there whole; `None` where there is none."""

    def publish(
        self,
        place: ReleasePlace,
        files: Sequence[OutFile],
        receipt: bytes,
        gone: Sequence[str],
        beat: Callable[[], None],
    ) -> None:
        """Put a release there, the receipt last, and take away the files `gone` of an earlier one. `beat` is
        called between pieces and may raise."""


def wanted(path: str) -> bool:
    """Whether a path can be that of a file to be pulled: no hidden one, and no pushed release."""
    parts = path.split("/")
    return parts[0] != RELEASES and not any(part.startswith(".") for part in parts)


def too_many(limit: int) -> Invalid:
    """The refusal of a pattern that fits more files than are pulled at once."""
    sentence = translatable("More than {limit} files fit; narrow the pattern.", limit=f"{limit:,}")
    return Invalid(sentence, code="too_many_files", fields={"source": sentence})
