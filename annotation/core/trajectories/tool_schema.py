"""Read the tools of a record, and check a call's arguments against the schema of its tool.

Schemas come from outside like everything else: nothing is ever fetched for a `$ref`, patterns are not run,
and a check that grows too long is given up. What cannot be checked is not marked.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import TYPE_CHECKING, Any, Final

from ..i18n import translatable

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_PROBLEMS: Final = 4
MAX_CHECKED: Final = 20_000
"""Arguments and schemas longer than so many characters are not checked."""
MAX_CHECKS: Final = 5_000
MAX_DEPTH: Final = 64
"""Checks within checks, each of some four frames; Python's own limit met in `rpds` ends in a panic."""
MAX_PROMPT: Final = 200_000

_OTHER_NAMES: Final = {
    "dict": "object",
    "map": "object",
    "float": "number",
    "double": "number",
    "int": "integer",
    "list": "array",
    "tuple": "array",
    "str": "string",
    "bool": "boolean",
}
_NOT_RUN: Final = frozenset({"pattern", "patternProperties", "propertyNames", "uniqueItems", "format"})
_left: ContextVar[int] = ContextVar("checks_left", default=MAX_CHECKS)
_depth: ContextVar[int] = ContextVar("checks_within_checks", default=0)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool. `type` is in the words of its schema ("array of string"), "" when unknown.

    `choices`: the only values it may take, as JSON; `default` as JSON, "" for none.
    """

    name: str
    type: str
    required: bool
    description: str
    choices: tuple[str, ...]
    default: str


@dataclass(frozen=True)
class Tool:
    """A tool as it was offered. `schema` is what its arguments must be (None: it says nothing that we know);
    `parameters` are the schema's properties, in its order; `spec` is the entry as it stands in the record."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    schema: dict[str, Any] | None
    spec: Any

    @cached_property
    def checker(self) -> Any:
        """The checker of arguments against the schema, the same for every call. None for a schema that is too
        long, or absent; an invalid schema may raise anything."""
        if self.schema is None or len(_as_json(self.schema)) > MAX_CHECKED:
            return None
        from referencing import Registry

        return _checker()(_standard({"type": "object", **self.schema}), registry=Registry())


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """A fault of a call against its schema. `kind`: unknown_tool, missing, unexpected, type, choice or other.

    `where` is the path to the value ("" for the arguments as a whole, "flights[0].date"); `wanted` and
    `found` are what the schema asks for and what stands there, as far as the kind has them.
    """

    kind: str
    where: str = ""
    wanted: str = ""
    found: str = ""

    @property
    def sentence(self) -> str:
        """The fault in words."""
        where = self.where or translatable("the whole value")
        if self.kind == "type":
            wanted = reduce(_or, map(_named_type, self.wanted.split(" or ")))
            words = {"wanted": wanted, "found": _named_type(self.found)}
            if not self.where:
                return translatable("The arguments must be {wanted}, not {found}", **words)
            return translatable("{where} must be {wanted}, not {found}", where=where, **words)
        sentences = {
            "unknown_tool": translatable("No tool has this name"),
            "missing": translatable("{where} is required and missing", where=where),
            "unexpected": translatable("{where} is not a parameter of this tool", where=where),
            "choice": translatable(
                "{where} is {found}, and must be one of {wanted}",
                where=where,
                found=self.found,
                wanted=self.wanted,
            ),
            "other": translatable(
                "{where} does not match the schema ({wanted})", where=where, wanted=self.wanted
            ),
        }
        return sentences[self.kind]


def _or(one: str, other: str) -> str:
    return translatable("{one} or {other}", one=one, other=other)


def _named_type(name: str) -> str:
    words = {
        "object": translatable("an object"),
        "array": translatable("a list"),
        "string": translatable("a string"),
        "number": translatable("a number"),
        "integer": translatable("a whole number"),
        "boolean": translatable("true or false"),
    }
    return words.get(name, name)


def read_tools(listed: Any, system_prompt: str = "") -> tuple[Tool, ...]:
    """The tools of a record, whatever shape they have; without a list, those a system prompt spells out."""
    entries = listed if isinstance(listed, list) else [listed] if listed else []
    if not entries and system_prompt:
        entries = tools_in_prompt(system_prompt)
    return tuple(_tool(entry) for entry in entries)


def tools_in_prompt(text: str) -> list[dict[str, Any]]:
    """The list of functions in a system prompt, as JSON or as a Python literal; [] when none parses."""
    start, end = text.find("[{"), text.rfind("}]")
    if start < 0 or end < start or len(text) > MAX_PROMPT:
        return []
    literal = text[start : end + 2]
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(literal)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(value, list) and all(_names_a_function(entry) for entry in value):
            return value
    return []


def _names_a_function(entry: Any) -> bool:
    spec = entry.get("function", entry) if isinstance(entry, dict) else None
    return (
        isinstance(spec, dict)
        and isinstance(spec.get("name"), str)
        and isinstance(spec.get("parameters"), dict)
    )


def _tool(entry: Any) -> Tool:
    spec = entry.get("function", entry) if isinstance(entry, dict) else entry
    if isinstance(spec, str):
        return Tool(spec, "", (), None, entry)
    if not isinstance(spec, dict) or not isinstance(spec.get("name"), str):
        return Tool("", "", (), None, entry)
    schema_ = next((spec[key] for key in ("parameters", "input_schema", "inputSchema") if key in spec), None)
    schema = schema_ if isinstance(schema_, dict) and schema_ else None
    about = spec.get("description")
    return Tool(
        spec["name"], about if isinstance(about, str) else "", _parameters(schema or {}), schema, entry
    )


def _parameters(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, dict):
        return ()
    return tuple(
        _parameter(str(name), about, isinstance(required, list) and name in required)
        for name, about in properties.items()
    )


def _parameter(name: str, about: Any, required: bool) -> Parameter:
    about = about if isinstance(about, dict) else {}
    choices, description = about.get("enum"), about.get("description")
    return Parameter(
        name=name,
        type=type_in_words(about),
        required=required,
        description=description if isinstance(description, str) else "",
        choices=tuple(_as_json(choice) for choice in choices) if isinstance(choices, list) else (),
        default=_as_json(about["default"]) if about.get("default") is not None else "",
    )


def type_in_words(schema: Any, depth: int = 0) -> str:
    """The type a schema asks for: "string", "array of integer", "string or null"; "" when it does not say."""
    if not isinstance(schema, dict) or depth > 4:
        return ""
    named = schema.get("type")
    if isinstance(named, list):
        return " or ".join(str(name) for name in named)
    if isinstance(named, str):
        inner = type_in_words(schema.get("items"), depth + 1) if named in ("array", "list") else ""
        return f"{named} of {inner}" if inner else named
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return " or ".join(
                dict.fromkeys(filter(None, (type_in_words(part, depth + 1) for part in schema[key])))
            )
    return ""


def problems(tools: Sequence[Tool], name: str, arguments: Any) -> tuple[SchemaProblem, ...]:
    """The faults of a call with these (parsed) arguments against its tool's schema, at most `MAX_PROBLEMS`;
    () for one that fits, or that cannot be checked."""
    return check(tools, name, arguments) or ()


def check(tools: Sequence[Tool], name: str, arguments: Any) -> tuple[SchemaProblem, ...] | None:
    """The same, and None for a call that cannot be checked."""
    named = [tool for tool in tools if tool.name]
    if not named or len(named) < len(tools):
        return None
    tool = next((tool for tool in named if tool.name == name), None)
    if tool is None:
        return (SchemaProblem("unknown_tool", found=name),)
    if len(_as_json(arguments)) > MAX_CHECKED:
        return None
    left, depth = _left.set(MAX_CHECKS), _depth.set(0)
    try:
        checker = tool.checker
        if checker is None:
            return None
        errors = sorted(checker.iter_errors(arguments), key=lambda error: list(map(str, error.absolute_path)))
        unique = dict.fromkeys(problem for error in errors for problem in _explain(error))
        return tuple(unique)[:MAX_PROBLEMS]
    except Exception:  # a schema may be anything, and the library raises anything for it
        return None
    finally:
        _left.reset(left)
        _depth.reset(depth)


class _GivenUp(Exception):
    """Raised when a check takes too long, or lies too deep."""


def _counted(check: Callable[..., Any]) -> Callable[..., Any]:
    def checked(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        left, depth = _left.get() - 1, _depth.get() + 1
        if left < 0 or depth > MAX_DEPTH:
            raise _GivenUp
        _left.set(left)
        _depth.set(depth)
        try:
            yield from check(validator, value, instance, schema) or ()
        finally:  # also when nobody asks for more
            _depth.set(depth - 1)

    return checked


def _passed(*_args: Any) -> Iterator[ValidationError]:
    return iter(())


@cache
def _checker() -> Any:
    """The class of checkers; loads jsonschema, which no command and few jobs need."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(
        Draft202012Validator,
        {
            name: _passed if name in _NOT_RUN else _counted(check)
            for name, check in Draft202012Validator.VALIDATORS.items()
        },
    )


def _standard(schema: Any) -> Any:
    """A schema with the types' standard names: some benchmarks write "dict" and "float"."""
    if isinstance(schema, list):
        return [_standard(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {}
    for key, value in schema.items():
        if key == "type" and isinstance(value, str):
            if value == "any":
                continue
            value = _OTHER_NAMES.get(value, value)
        plain[key] = value if key in ("enum", "const", "default", "examples") else _standard(value)
    return plain


def _explain(error: ValidationError) -> Iterator[SchemaProblem]:
    where = _path(error.absolute_path)
    expected = error.validator_value
    if error.validator == "required":
        for name in expected if isinstance(expected, list) else ():
            if isinstance(error.instance, dict) and name not in error.instance:
                yield SchemaProblem("missing", _under(where, str(name)))
    elif error.validator == "additionalProperties":
        properties = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        for name in error.instance:
            if name not in properties:
                yield SchemaProblem("unexpected", _under(where, str(name)))
    elif error.validator == "type":
        types = expected if isinstance(expected, list) else [expected]
        yield SchemaProblem("type", where, " or ".join(map(str, types)), json_type(error.instance))
    elif error.validator in ("enum", "const"):
        values = expected if error.validator == "enum" and isinstance(expected, list) else [expected]
        yield SchemaProblem("choice", where, ", ".join(map(_as_json, values)), _as_json(error.instance))
    elif error.validator in ("anyOf", "oneOf") and type_in_words({error.validator: expected}):
        yield SchemaProblem(
            "type", where, type_in_words({error.validator: expected}), json_type(error.instance)
        )
    else:
        yield SchemaProblem("other", where, f"{error.validator}: {_as_json(expected)[:80]}")


def json_type(value: Any) -> str:
    """The JSON name of a value's type."""
    if isinstance(value, bool):
        return "boolean"
    names = {dict: "object", list: "array", str: "string", int: "integer", float: "number"}
    return names.get(type(value), "null")


def _path(parts: Any) -> str:
    path = ""
    for part in parts:
        path = f"{path}[{part}]" if isinstance(part, int) else _under(path, str(part))
    return path


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError, TypeError):
        return str(type(value).__name__)
