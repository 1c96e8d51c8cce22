"""Zip archives for tests, honest and dishonest ones, zstd (method 93) included."""

import struct
import zlib
from collections.abc import Mapping

import zstandard


def _packed(data: bytes, method: int) -> bytes:
    if method == 8:
        return zlib.compress(data, wbits=-15)
    if method == 93:  # two frames, as Inspect writes long members
        half = len(data) // 2
        return b"".join(zstandard.compress(part) for part in (data[:half], data[half:]))
    return data


def zip_of(
    members: Mapping[str, bytes], *, method: int = 8, declared: int | None = None, flags: int = 0
) -> bytes:
    """An archive of these members. `declared`: the size that each claims to have."""
    body, directory = bytearray(), bytearray()
    for name, data in members.items():
        packed, encoded = _packed(data, method), name.encode()
        size = len(data) if declared is None else declared
        common = struct.pack(
            "<HHHHHLLLHH", 20, flags, method, 0, 33, zlib.crc32(data), len(packed), size, len(encoded), 0
        )
        directory += (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + common
            + struct.pack("<HHHLL", 0, 0, 0, 0, len(body))
            + encoded
        )
        body += b"PK\x03\x04" + common + encoded + packed
    count = min(len(members), 0xFFFF)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory) + end
