"""Examples of what the API takes and answers, made from its schema: each fits what it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

MAX_DEPTH = 7
BY_FORMAT: dict[str, Any] = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "decimal": "0.25",
    "email": "name@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
BY_TYPE: dict[str, Any] = {"boolean": True, "string": "text", "null": None}

Follow = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def example(follow: Follow, spec: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that fits a schema; `follow` resolves its references. Below seven levels nothing follows."""
    if "default" in spec and spec["default"] is not None:
        return spec["default"]
    spec = follow(spec)
    for key in ("example", "default", "const"):
        if spec.get(key) is not None:
            return spec[key]
    if choices := [value for value in spec.get("enum", ()) if value not in (None, "")]:
        return choices[0]
    for key in ("oneOf", "anyOf"):
        for branch in spec.get(key, ()):
            return example(follow, branch, depth)
    kind = spec.get("type", "")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        if depth >= MAX_DEPTH:
            return []
        return [example(follow, spec.get("items", {}), depth + 1)] * spec.get("minItems", 1)
    if kind == "object" or "properties" in spec or "allOf" in spec:
        return _object(follow, spec, depth)
    if kind in ("integer", "number"):
        return max(1, spec.get("minimum", 1)) if spec.get("maximum", 1) >= 1 else spec["maximum"]
    return BY_FORMAT.get(spec.get("format", ""), BY_TYPE.get(kind, "text"))


def _object(follow: Follow, spec: Mapping[str, Any], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for branch in spec.get("allOf", ()):
        made |= _object(follow, follow(branch), depth)
    if depth >= MAX_DEPTH:
        return made
    for name, inner in spec.get("properties", {}).items():
        made[name] = example(follow, inner, depth + 1)
    more = spec.get("additionalProperties")
    if isinstance(more, Mapping) and more and not made:
        made["name"] = example(follow, more, depth + 1)
    return made
