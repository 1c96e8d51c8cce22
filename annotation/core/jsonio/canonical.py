"""Canonical JSON: one byte sequence per JSON value, from which digests are made."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

# check_circular is off for speed: what comes from JSON cannot be circular.
_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=True, check_circular=False
)


def canonical_json(value: Any) -> bytes:
    """`value` (what `json.loads` can return) as canonical JSON, ASCII bytes without a final newline.

    Conventions: object keys sorted by code point; no white space; everything outside ASCII, NUL and lone
    surrogates included, as `\\u` escapes; integers exact, floats as `repr` (shortest that reads back the
    same; `1.0` and `1` differ); NaN and infinities as `NaN`, `Infinity`, `-Infinity`, which
    `json.loads` reads and strict parsers refuse. Raises `TypeError` for anything JSON has no word for.
    """
    return _ENCODER.encode(value).encode("ascii")


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of `data` in 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()
