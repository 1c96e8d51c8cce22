"""The beginning of a form: a hidden field with the values and their version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.core.versions import plain

BEGAN = "began"


@dataclass(frozen=True)
class Begun:
    """The form as its reader saw it: its version, and its values by field. Neither where a form has none."""

    version: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


def begun(version: str, values: Mapping[str, Any]) -> str:
    """The hidden field of a form that shows these values."""
    return json.dumps({"version": version, "values": plain(values)})


def read(post: Mapping[str, Any]) -> Begun:
    """The beginning of a form as its reader saw it."""
    try:
        sent = json.loads(post.get(BEGAN, ""))
        return Begun(str(sent["version"]), dict(sent["values"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        return Begun()
