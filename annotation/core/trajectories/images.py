"""Decode and check images that stand inside trajectories as data URIs.

Only PNG, JPEG, GIF and WebP are shown, told by their first bytes and never by what the URI claims; SVG can
carry script and is never served. Sizes are read from the headers, so that no pixel is ever decoded here.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from annotation.core.i18n import translatable

from ..errors import Invalid, TooLarge

SHOWN_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MAX_IMAGE_BYTES: Final = 8 * 1024 * 1024
MAX_IMAGE_PIXELS: Final = 40_000_000

_DATA_URI: Final = re.compile(r"data:[^,;]{0,100}(?:;[^,;]{0,100}){0,4};base64,", re.IGNORECASE)
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Image:
    """A decoded image: its bytes, its true media type, its size in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int


def sniff_media_type(data: bytes) -> str | None:
    """The media type that the first bytes of `data` (12 are enough) tell, or `None`."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def sniff_data_uri(uri: str) -> str | None:
    """The true media type of a base64 data URI, from its first bytes alone; `None` for anything else."""
    head = _DATA_URI.match(uri)
    if head is None:
        return None
    start = _SPACE.sub("", uri[head.end() : head.end() + 64])
    try:
        return sniff_media_type(base64.b64decode(start[: len(start) // 4 * 4], validate=True))
    except (binascii.Error, ValueError):
        return None


def decode_data_uri(uri: str) -> Image:
    """The image in a `data:…;base64,…` URI.

    Raises `TooLarge` above 8 MiB or 40 million pixels, `Invalid` for what is not base64, not one of the
    shown types, or has no readable size.
    """
    head = _DATA_URI.match(uri)
    if head is None:
        raise Invalid(translatable("This is not an image inside the trajectory."), code="not_an_image")
    if (len(uri) - head.end()) // 4 * 3 > MAX_IMAGE_BYTES + 1024 * 1024:
        raise TooLarge(translatable("The image is larger than 8 MB."), code="image_too_large")
    try:
        data = base64.b64decode(_SPACE.sub("", uri[head.end() :]), validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(translatable("The image is not valid base64."), code="not_an_image") from None
    if len(data) > MAX_IMAGE_BYTES:
        raise TooLarge(translatable("The image is larger than 8 MB."), code="image_too_large")
    media_type = sniff_media_type(data)
    if media_type is None:
        raise Invalid(translatable("Only PNG, JPEG, GIF and WebP images are shown."), code="not_an_image")
    size = image_size(data, media_type)
    if size is None or not all(size):
        raise Invalid(translatable("The image has no readable size."), code="not_an_image")
    if size[0] * size[1] > MAX_IMAGE_PIXELS:
        raise TooLarge(translatable("The image has more than 40 million pixels."), code="image_too_large")
    return Image(data, media_type, *size)


def image_size(data: bytes, media_type: str) -> tuple[int, int] | None:
    """Width and height in pixels as the header states them, or `None` when it is too short or odd."""
    if media_type == "image/png":
        ok = len(data) >= 24 and data[12:16] == b"IHDR"
        return (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) if ok else None
    if media_type == "image/gif":
        ok = len(data) >= 10
        return (int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")) if ok else None
    if media_type == "image/webp":
        return _webp_size(data)
    return _jpeg_size(data)


def _webp_size(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = (int.from_bytes(data[at : at + 2], "little") & 0x3FFF for at in (26, 28))
        return width, height
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """From the first start-of-frame segment (ITU T.81, annex B)."""
    position = 2
    while position + 9 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height = int.from_bytes(data[position + 5 : position + 7], "big")
            return int.from_bytes(data[position + 7 : position + 9], "big"), height
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # a marker without a length
            position += 2
        elif marker in (0xD9, 0xDA):
            return None
        else:
            position += 2 + max(2, int.from_bytes(data[position + 2 : position + 4], "big"))
    return None
