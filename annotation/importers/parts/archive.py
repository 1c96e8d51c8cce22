"""Read zip archives from outside: in bounded memory, without trusting sizes, and without ever using a path.

`zipfile` reads zstd (method 93) only from Python 3.14 on; members of that method are read with `zstandard`.
A member is read by what it holds and never written by its name, so that `../../etc/passwd` is only a name.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

import zstandard

from annotation.core.i18n import translatable

ZIP: Final = b"PK\x03\x04"
EMPTY_ZIP: Final = b"PK\x05\x06"
ZSTD: Final = 93
MAX_MEMBERS: Final = 25_000
MAX_DIRECTORY_BYTES: Final = 16 * 1024 * 1024
MAX_UNPACKED_BYTES: Final = 8 * 1024**3
MAX_RATIO: Final = 1_000
"""Deflate cannot do better than 1,032 to 1; logs, which repeat themselves, reach 100."""
RATIO_COUNTS_FROM: Final = 64 * 1024 * 1024
MAX_WINDOW_BYTES: Final = 32 * 1024 * 1024

_END: Final = struct.Struct("<4s4H2LH")
_END64: Final = struct.Struct("<4sQ2H2L4Q")
_READ: Final = 64 * 1024


class BadArchive(ValueError):
    """A fault of an archive, or of a member of it, as the end of a sentence."""


class Archive:
    """The members of a zip archive. Raises `BadArchive` for one that is broken, too large or a bomb.

    `stream` must be seekable. Refused: more than 25,000 members, more than 8 GB unpacked, members that
    overlap, more than 1,000 bytes out of one.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        _check_directory(stream)
        try:
            self._zip = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
            raise BadArchive(translatable("the archive is broken: its directory cannot be read")) from error
        self.members = [info for info in self._zip.infolist() if not info.is_dir()]
        _check_members(self._zip.infolist())

    def named(self, name: str) -> zipfile.ZipInfo | None:
        """The member of that name; of several the last, as every reader takes it."""
        return self._zip.NameToInfo.get(name)

    def read(self, member: zipfile.ZipInfo, limit: int) -> bytes:
        """The whole member. Raises `BadArchive`, also for more than `limit` bytes."""
        buffer = io.BytesIO()
        for block in self.blocks(member, limit):
            buffer.write(block)
        return buffer.getvalue()

    def blocks(self, member: zipfile.ZipInfo, limit: int) -> Iterator[bytes]:
        """The member's bytes in pieces, checked as they come. Raises `BadArchive` as `read`."""
        if member.flag_bits & 1:
            raise BadArchive(translatable("is encrypted"))
        if member.file_size > limit:
            raise BadArchive(too_large(limit))
        size, check = 0, 0
        try:
            with self._open(member) as stream:
                while block := stream.read(_READ):
                    size += len(block)
                    if size > member.file_size:
                        raise BadArchive(translatable("holds more than it declares; it was not read on"))
                    check = zlib.crc32(block, check)
                    yield block
        except (zipfile.BadZipFile, zstandard.ZstdError, zlib.error, EOFError, OSError) as error:
            raise BadArchive(translatable("cannot be unpacked: its bytes are damaged")) from error
        except (NotImplementedError, RuntimeError) as error:
            raise BadArchive(
                translatable("is compressed in a way (method {n}) that is not read", n=member.compress_type)
            ) from error
        if size != member.file_size or check != member.CRC:
            raise BadArchive(translatable("cannot be unpacked: its bytes are damaged"))

    def _open(self, member: zipfile.ZipInfo) -> BinaryIO:
        if member.compress_type != ZSTD:
            return self._zip.open(member)  # type: ignore[return-value]
        self._stream.seek(member.header_offset)
        head = self._stream.read(30)
        if len(head) < 30 or head[:4] != ZIP:
            raise zipfile.BadZipFile
        name, extra = struct.unpack("<HH", head[26:30])
        packed = _Window(self._stream, member.header_offset + 30 + name + extra, member.compress_size)
        reader = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
        return reader.stream_reader(packed, read_across_frames=True)  # type: ignore[arg-type]


class _Window(io.RawIOBase):
    """A stretch of a stream."""

    def __init__(self, stream: BinaryIO, start: int, size: int) -> None:
        self._stream, self._position, self._end = stream, start, start + size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._position
        self._stream.seek(self._position)
        data = self._stream.read(left if size < 0 else min(size, left))
        self._position += len(data)
        return data


def is_zip(head: bytes) -> bool:
    """Whether a file that begins with `head` is a zip archive."""
    return head.startswith((ZIP, EMPTY_ZIP))


def names_in(head: bytes) -> list[str]:
    """The names of the members whose local headers `head` shows, as far as they can be followed."""
    names, at = [], 0
    while head[at : at + 4] == ZIP and len(head) >= at + 30:
        flags, packed = struct.unpack_from("<H10xL", head, at + 6)
        name, extra = struct.unpack_from("<HH", head, at + 26)
        names.append(head[at + 30 : at + 30 + name].decode("utf-8", "replace"))
        following = at + 30 + name + extra + packed
        if flags & 8 and not packed:  # the size stands behind the data
            following = head.find(ZIP, at + 30 + name + extra)
        if following <= at:
            break
        at = following
    return names


def too_large(limit: int) -> str:
    """The sentence about a member of more than `limit` bytes."""
    size = f"{limit // (1024 * 1024):,} MB" if limit >= 1024 * 1024 else f"{limit:,} bytes"
    return translatable("is larger than {limit}, the limit for one record", limit=size)


def _check_directory(stream: BinaryIO) -> None:
    """Refuse what `zipfile` would need long and much memory for, before it begins."""
    size = stream.seek(0, io.SEEK_END)
    start = max(0, size - 65_557)
    stream.seek(start)
    tail = stream.read(65_557)
    at = tail.rfind(EMPTY_ZIP)
    if at < 0 or len(tail) < at + _END.size:
        raise BadArchive(translatable("the archive is cut off: it has no directory at its end"))
    *_, count, directory, _, _ = _END.unpack_from(tail, at)
    at64 = tail.rfind(b"PK\x06\x06", 0, at)
    if count == 0xFFFF and at64 >= 0 and len(tail) >= at64 + _END64.size:
        *_, count, directory, _ = _END64.unpack_from(tail, at64)
    if count > MAX_MEMBERS or directory > MAX_DIRECTORY_BYTES:
        raise BadArchive(_too_many(count))
    stream.seek(0)


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_MEMBERS:
        raise BadArchive(_too_many(len(members)))
    unpacked = sum(info.file_size for info in members)
    packed = sum(info.compress_size for info in members)
    if unpacked > MAX_UNPACKED_BYTES or (
        unpacked > RATIO_COUNTS_FROM and unpacked > MAX_RATIO * max(packed, 1)
    ):
        raise BadArchive(
            translatable(
                "the archive unpacks to {n} MB, which is more than is read", n=f"{unpacked // 1024**2:,}"
            )
        )
    reached = 0
    for info in sorted(members, key=lambda info: info.header_offset):
        if info.header_offset < reached:
            raise BadArchive(translatable("the archive is broken: its members overlap"))
        reached = info.header_offset + info.compress_size


def _too_many(count: int) -> str:
    return translatable(
        "the archive has {n} members; at most {limit} are read", n=f"{count:,}", limit=f"{MAX_MEMBERS:,}"
    )
