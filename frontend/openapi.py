"""The OpenAPI schema, shaped for a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from frontend.openapi_examples import example

METHODS = ("get", "post", "put", "patch", "delete")
MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a body, or one parameter. In `name`, dots lead into objects and `[]` into lists."""

    name: str
    type: str
    required: bool
    about: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One documented answer: status, what it means, its fields, and an example of it as JSON (or none)."""

    status: str
    about: str
    fields: tuple[Field, ...]
    example: str

    @property
    def succeeds(self) -> bool:
        """Errors all have one shape, which the page shows once."""
        return self.status.startswith("2")


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path; `example` is a body that it takes, as JSON."""

    id: str
    method: str
    path: str
    summary: str
    about: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    media: tuple[str, ...]
    example: str
    answers: tuple[Answer, ...]

    def to_try(self) -> dict[str, Any]:
        """The parts of an operation that the script needs to send it."""
        return {
            "method": self.method,
            "path": self.path,
            "parameters": [
                {
                    "name": parameter.name,
                    "where": parameter.where,
                    "required": parameter.required,
                    "type": parameter.type,
                }
                for parameter in self.parameters
                if parameter.where in ("path", "query")
            ],
            "media": next(iter(self.media), ""),
            "example": self.example,
        }


@dataclass(slots=True)
class Group:
    """The operations of one noun."""

    name: str
    operations: list[Operation] = field(default_factory=list)


@cache
def document() -> dict[str, Any]:
    """The schema of the whole API, made once in a process: it depends on the code alone."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return schema


@cache
def groups() -> tuple[Group, ...]:
    """All operations, grouped by their first tag in order of path."""
    schema = document()
    by_name: dict[str, Group] = {}
    for path, methods in schema.get("paths", {}).items():
        for method in METHODS:
            if method in methods:
                operation = _operation(schema, path, method, methods[method])
                name = (methods[method].get("tags") or [""])[0]
                by_name.setdefault(name, Group(name)).operations.append(operation)
    return tuple(by_name.values())


def _operation(schema: Mapping[str, Any], path: str, method: str, spec: Mapping[str, Any]) -> Operation:
    content = _follow(schema, spec.get("requestBody", {})).get("content", {})
    text = spec.get("description", "")
    summary = spec.get("summary", "") or text.partition("\n")[0]
    return Operation(
        id=spec.get("operationId", f"{method}-{path}"),
        method=method.upper(),
        path=path,
        summary=summary,
        about="" if text.strip() == summary.strip() else text.removeprefix(summary).strip(),
        parameters=tuple(_parameter(schema, one) for one in spec.get("parameters", ())),
        body=tuple(_body(schema, content)),
        media=tuple(content),
        example=_example(schema, content),
        answers=tuple(
            Answer(
                status,
                answer.get("description", ""),
                tuple(_body(schema, answer.get("content", {}))),
                _example(schema, answer.get("content", {})),
            )
            for status, answer in spec.get("responses", {}).items()
        ),
    )


def _example(schema: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    spec = content.get("application/json", {}).get("schema")
    if not spec:
        return ""
    return json.dumps(example(partial(_follow, schema), spec), indent=2, ensure_ascii=False)


def _parameter(schema: Mapping[str, Any], spec: Mapping[str, Any]) -> Field:
    spec = _follow(schema, spec)
    return Field(
        name=spec["name"],
        type=_type(schema, spec.get("schema", {})),
        required=bool(spec.get("required")),
        about=spec.get("description", ""),
        where=spec["in"],
    )


def _body(schema: Mapping[str, Any], content: Mapping[str, Any]) -> Iterable[Field]:
    for media in content.values():
        return list(_fields(schema, media.get("schema", {}), "", 0))
    return []


def _fields(schema: Mapping[str, Any], spec: Mapping[str, Any], prefix: str, depth: int) -> Iterable[Field]:
    """The fields of an object, those of nested objects and of lists of objects after their own."""
    spec = _follow(schema, spec)
    if depth > MAX_DEPTH:
        return
    if spec.get("type") == "array":
        yield from _fields(schema, spec.get("items", {}), f"{prefix}[]" if prefix else "[]", depth + 1)
        return
    required = set(spec.get("required", ()))
    for name, inner in spec.get("properties", {}).items():
        full = f"{prefix}.{name}" if prefix else name
        resolved = _follow(schema, inner)
        about = inner.get("description") or resolved.get("description", "")
        yield Field(full, _type(schema, inner), name in required, about)
        yield from _fields(schema, inner, full, depth + 1)


def _follow(schema: Mapping[str, Any], spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The target of a reference; the only branch of an allOf, oneOf or anyOf that has fields."""
    for _ in range(8):
        if "$ref" in spec:
            target: Any = schema
            for part in spec["$ref"].removeprefix("#/").split("/"):
                target = target.get(part, {})
            spec = target
            continue
        branches = [one for key in ("allOf", "oneOf", "anyOf") for one in spec.get(key, ())]
        if len(branches) != 1:
            break
        spec = branches[0]
    return spec


def _type(schema: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    resolved = _follow(schema, spec)
    if "enum" in resolved:
        return " | ".join("null" if value is None else str(value) for value in resolved["enum"])
    kind = resolved.get("type", "")
    if isinstance(kind, list):
        kind = " | ".join(kind)
    if kind == "array":
        return f"[{_type(schema, resolved.get('items', {})) or 'any'}]"
    branches = [_type(schema, one) for key in ("oneOf", "anyOf") for one in resolved.get(key, ())]
    text = kind or " | ".join(dict.fromkeys(filter(None, branches))) or "any"
    if form := resolved.get("format"):
        text = f"{text} ({form})"
    return f"{text} | null" if resolved.get("nullable") or spec.get("nullable") else text
