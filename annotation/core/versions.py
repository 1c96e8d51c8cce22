"""A version that names what a row says, so that nobody writes over what they have not seen.

It is made of the values and not counted: the same values have the same version, also after a change and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from .jsonio.canonical import canonical_json, sha256_hex

DIGITS = 16


def plain(value: Any) -> Any:
    """The value as JSON can say it; a decimal as text, without zeros at its end, and a day as in ISO 8601."""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def version_of(values: Mapping[str, Any]) -> str:
    """Sixteen hex digits that are others for other values."""
    return sha256_hex(canonical_json(plain(values)))[:DIGITS]
