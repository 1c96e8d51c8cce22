"""A folder of the machine that Tristep runs on, or of a share that is mounted there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from annotation.core.errors import Invalid
from annotation.outside import FailureKind, OutsideError
from annotation.outside.folders import FileState, OutsideFolder

from .base import LeftOut, Place
from .patterns import Pattern
from .stores import (
    BAD_PATH,
    FILE_CHANGED,
    FILE_GONE,
    MAX_FILES,
    MAX_LISTED,
    MAX_PATH,
    MAX_RECEIPT,
    PIECE_BYTES,
    RECEIPT,
    UNREADABLE,
    FileList,
    LeaveOut,
    OutFile,
    ReleasePlace,
    StoredFile,
    too_many,
    wanted,
)


def open_at(folder: OutsideFolder, place: Place) -> Folder:
    """The files of a folder."""
    return Folder(folder, place)


class Folder:
    """See `Store`."""

    def __init__(self, folder: OutsideFolder, place: Place) -> None:
        self._folder = folder
        self._pattern = Pattern(place.source)

    def check(self) -> None:
        """Open the folder."""
        try:
            self._folder.check()
        except OutsideError as error:
            if error.failed.kind is FailureKind.NOT_FOUND:
                fields = {"base_url": error.message}
                raise Invalid(error.message, code="source_gone", fields=fields) from error
            raise

    def listed(self) -> Iterator[FileList]:
        """The files, folder by folder."""
        matching = looked_at = 0
        under = self._pattern.beginning.rpartition("/")[0]
        for states in self._folder.walk(under, self._pattern.deep):
            looked_at += len(states)
            files = self._files(states)
            matching += len(files.files)
            if matching > MAX_FILES or looked_at > MAX_LISTED:
                raise too_many(MAX_FILES if matching > MAX_FILES else MAX_LISTED)
            yield files

    def _files(self, states: Sequence[FileState]) -> FileList:
        files, left_out = [], []
        for state in states:
            if not wanted(state.path) or not self._pattern.fits(state.path):
                continue
            # undecodable bytes of a name are lone surrogates, which no text column takes
            if len(state.path) > MAX_PATH or not state.path.isprintable():
                name = state.path[:MAX_PATH].encode(errors="replace").decode()
                left_out.append(LeftOut(name, BAD_PATH))
            else:
                files.append(StoredFile(state.path, state.size, _mark(state)))
        return FileList(files, left_out)

    def read(self, file: StoredFile) -> Iterator[bytes]:
        """The bytes, as long as the file is what it was when it was listed."""
        try:
            for piece in self._folder.read(file.path):
                if isinstance(piece, bytes):
                    yield piece
                elif _mark(piece) != file.mark:
                    raise LeaveOut(FILE_CHANGED)
        except FileNotFoundError as error:
            raise LeaveOut(FILE_GONE) from error
        except OutsideError as error:
            raise LeaveOut(UNREADABLE) from error

    def receipt(self, place: ReleasePlace) -> bytes | None:
        """The file of this name, if there is one."""
        try:
            held = b""
            for piece in self._folder.read(f"{place.folder}/{RECEIPT}"):
                held += piece if isinstance(piece, bytes) and len(held) <= MAX_RECEIPT else b""
            return held
        except FileNotFoundError:
            return None

    def publish(
        self,
        place: ReleasePlace,
        files: Sequence[OutFile],
        receipt: bytes,
        gone: Sequence[str],
        beat: Callable[[], None],
    ) -> None:
        """File by file, each of which appears whole."""
        for name in gone:
            self._folder.delete(f"{place.folder}/{name}")
        for file in files:
            self._folder.write(f"{place.folder}/{file.name}", _pieces(file.path, beat))
        self._folder.write(f"{place.folder}/{RECEIPT}", [receipt])


def _mark(state: FileState) -> str:
    return f"{state.size}-{state.changed}"


def _pieces(path: Path, beat: Callable[[], None]) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(PIECE_BYTES):
            beat()
            yield piece
