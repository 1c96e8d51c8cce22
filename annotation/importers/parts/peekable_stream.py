"""A stream whose beginning has been looked at, to be read from its beginning all the same."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

from annotation.core.jsonio.json_layout import HEAD_BYTES

__all__ = ["rewound"]


def rewound(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """The first bytes of `stream`, which need not be seekable, and a stream that begins with them again."""
    again = _Rewound(stream)
    return again.head, cast(BinaryIO, again)


class _Rewound(io.RawIOBase):
    def __init__(self, stream: BinaryIO) -> None:
        head = b""
        while len(head) < HEAD_BYTES and (more := stream.read(HEAD_BYTES - len(head))):
            head += more
        self.head = head
        self._left = head
        self._rest = stream

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; `b""` at the end."""
        if not self._left:
            return self._rest.read(size)
        taken, self._left = (self._left, b"") if size < 0 else (self._left[:size], self._left[size:])
        return taken if size >= 0 else taken + self._rest.read()

    def readline(self, size: int | None = -1) -> bytes:
        """Up to `size` bytes, through the next line feed."""
        size = len(self._left) + (1 << 40) if size is None or size < 0 else size
        end = self._left.find(b"\n", 0, size) + 1
        if end or len(self._left) >= size:
            cut = end or size
            taken, self._left = self._left[:cut], self._left[cut:]
            return taken
        taken, self._left = self._left, b""
        return taken + self._rest.readline(size - len(taken))
