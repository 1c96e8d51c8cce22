"""JSON as text in which people can read every language."""

from __future__ import annotations

import json
from typing import Any


def json_text(value: Any) -> str:
    """`value` as JSON that UTF-8 can hold: a value with lone surrogates is escaped to ASCII."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), check_circular=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"), check_circular=False)
    return text
