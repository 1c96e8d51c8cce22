"""Folders of this machine that connections may use: only below what the operator lists, whatever links say.

The operator's entry is taken as it stands, links and all. Below it every name is opened by itself, in the
folder that was opened before, and no link is followed: whoever may write there cannot lead out of it, not
even between two looks.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Final

from annotation.core.i18n import translatable

from .failures import Failed, FailureKind, OutsideError

SCHEME: Final = "file://"
READ_BYTES: Final = 1024 * 1024
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def normalised_folder(address: str) -> str | None:
    """The path in `file:///data/runs/`, without a slash at its end; `None` for anything but the plain address
    of a folder: `..`, `.`, doubled slashes, `%`, control characters, the root of all."""
    path = address.removeprefix(SCHEME).rstrip("/")
    names = path.split("/")[1:]
    if not address.startswith(f"{SCHEME}/") or not path.isprintable() or "\\" in path or "%" in path:
        return None
    return path if names and not {"", ".", ".."} & set(names) else None


def allowed_root(address: str, allow_list: Iterable[str]) -> str | None:
    """The longest entry of `allow_list` that is the folder of this address, or one that it lies in; as a
    path."""
    path = normalised_folder(address)
    entries = [normalised_folder(entry.strip()) for entry in allow_list]
    roots = [root for root in entries if root and path and (path == root or path.startswith(f"{root}/"))]
    return max(roots, key=len, default=None)


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file: its path below the folder, its size in bytes, and when it changed (ns)."""

    path: str
    size: int
    changed: int


class OutsideFolder:
    """A folder below what the operator allows. Paths are below it, with `/`. Methods raise `OutsideError` for
    what the system refuses, FileNotFoundError for what is not there."""

    def __init__(self, root: str, address: str) -> None:
        self._root = root
        path = normalised_folder(address) or root
        self._below = tuple(part for part in path.removeprefix(root).split("/") if part)

    def check(self) -> None:
        """Raise `OutsideError` when the folder is not there."""
        with _there(), self._opened(()):
            pass

    @contextmanager
    def _opened(self, parts: Iterable[str], *, make: bool = False) -> Iterator[int]:
        """The descriptor of a folder, reached name by name."""
        with _said():
            at = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in (*self._below, *parts):
                with _said():
                    if make:
                        with suppress(FileExistsError):
                            os.mkdir(name, 0o777, dir_fd=at)
                    inner = os.open(name, _FOLDER, dir_fd=at)
                os.close(at)
                at = inner
            yield at
        finally:
            os.close(at)

    def walk(self, under: str, deep: int | None) -> Iterator[list[FileState]]:
        """The regular files below the folder `under` ("" for all), folder by folder, names in order; no
        deeper than `deep` names. Links and whatever is no file are passed over."""
        waiting = [tuple(part for part in under.split("/") if part)]
        while waiting:
            parts = waiting.pop()
            try:
                with self._opened(parts) as at:
                    files, folders = self._names(at, parts)
            except FileNotFoundError:
                continue
            if deep is None or len(parts) + 1 < deep:
                waiting.extend(reversed(folders))
            yield files

    def _names(self, at: int, parts: tuple[str, ...]) -> tuple[list[FileState], list[tuple[str, ...]]]:
        files, folders = [], []
        with _said():
            for name in sorted(os.listdir(at)):
                try:
                    state = os.stat(name, dir_fd=at, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if stat.S_ISDIR(state.st_mode):
                    folders.append((*parts, name))
                elif stat.S_ISREG(state.st_mode):
                    files.append(FileState("/".join((*parts, name)), state.st_size, state.st_mtime_ns))
        return files, folders

    def read(self, path: str) -> Iterator[bytes | FileState]:
        """The state of a file, its bytes in pieces as far as it was long then, and its state once more."""
        *parts, name = path.split("/")
        with self._opened(parts) as at:
            with _said():
                descriptor = os.open(name, _FILE, dir_fd=at)
            with os.fdopen(descriptor, "rb", buffering=0) as stream:
                before = _state(path, descriptor)
                yield before
                left = before.size
                while left > 0:
                    with _said():
                        piece = stream.read(min(READ_BYTES, left))
                    if not piece:
                        break
                    left -= len(piece)
                    yield piece
                yield _state(path, descriptor)

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a file, which appears whole or not at all; its folders are made."""
        *parts, name = path.split("/")
        half = f".{name}.half"
        with _there(), self._opened(parts, make=True) as at:
            with _said():
                descriptor = os.open(half, _NEW, 0o666, dir_fd=at)
            try:
                with _said(), os.fdopen(descriptor, "wb") as out:
                    _write(out, pieces)
                with _said():
                    os.replace(half, name, src_dir_fd=at, dst_dir_fd=at)
            except BaseException:
                with suppress(OSError):
                    os.unlink(half, dir_fd=at)
                raise

    def delete(self, path: str) -> None:
        """Take a file away, if it is there."""
        *parts, name = path.split("/")
        with suppress(FileNotFoundError), self._opened(parts) as at, _said():
            os.unlink(name, dir_fd=at)


def _write(out: IO[bytes], pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        out.write(piece)
    out.flush()
    os.fsync(out.fileno())


def _state(path: str, descriptor: int) -> FileState:
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode):
        raise FileNotFoundError(path)
    return FileState(path, state.st_size, state.st_mtime_ns)


@contextmanager
def _said() -> Iterator[None]:
    """Say refusals of the system as a sentence without a path; a link counts as not there."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (NotADirectoryError, IsADirectoryError) as error:
        raise FileNotFoundError(error.errno, "link or no folder") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise FileNotFoundError(error.errno, "link") from error
        sentence = translatable("The folder refused it ({why}).", why=error.strerror or "")
        raise _error(FailureKind.CONNECTION, sentence) from error


@contextmanager
def _there() -> Iterator[None]:
    """A folder that has to be there, in a sentence when it is not."""
    try:
        yield
    except FileNotFoundError as error:
        sentence = translatable("The folder is not there, or leads elsewhere by a link.")
        raise _error(FailureKind.NOT_FOUND, sentence) from error


def _error(kind: FailureKind, message: str) -> OutsideError:
    return OutsideError(Failed(kind=kind, message=message, permanent=True, every_call=True))
