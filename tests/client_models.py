"""The models of the Python client, written from the API's schema: `make client` (tests/clients holds them).

Each object of the schema is a TypedDict under its own name, and so are the filters of each list. Pages of
lists are left out: the client goes through them by itself.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import django

from tests.servers import ROOT

MODELS = ROOT / "clients" / "python" / "tristep" / "models.py"
HEAD = '''"""What the API takes and answers with, made from its schema by `make client`: do not edit.

They are dictionaries, and these are their keys: for type checkers and editors, nothing is checked when a
program runs. What each field means stands in the schema (/api/v1/schema/, the page /api/ of every server).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Document = dict[str, Any]
"""An object of figures whose keys the schema does not list."""
'''
PLAIN = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}
PAGING = frozenset({"page", "page_size"})


def query_name(operation: str) -> str:
    """The name of the filters of an operation: `projects_list` has `ProjectsListQuery`."""
    return "".join(part.capitalize() for part in re.split(r"[_.]+", operation) if part) + "Query"


def reference(schema: Mapping[str, Any]) -> str:
    """The name of the object that a schema refers to, or ""."""
    return str(schema.get("$ref", "")).rpartition("/")[2]


def annotation(schema: Mapping[str, Any]) -> str:
    """The type of a value. Numbers of many digits, dates and addresses are the strings that JSON has."""
    if name := reference(schema):
        found = name
    elif parts := schema.get("allOf") or schema.get("oneOf"):
        found = " | ".join(dict.fromkeys(annotation(part) for part in parts))
    elif "enum" in schema:
        found = f"Literal[{', '.join(json.dumps(value) for value in schema['enum'] if value is not None)}]"
    elif schema.get("type") == "array":
        found = f"list[{annotation(schema['items'])}]"
    elif schema.get("type") == "object":
        inner = schema.get("additionalProperties") or {}
        found = f"dict[str, {annotation(inner) if isinstance(inner, dict) and inner else 'Any'}]"
    else:
        found = PLAIN.get(str(schema.get("type")), "Any")
    return f"{found} | None" if schema.get("nullable") and found != "Any" else found


def _model(name: str, about: str, fields: Mapping[str, tuple[str, bool]]) -> str:
    sentence = " ".join(about.split()).partition(". ")[0].removesuffix(".").replace('"', "'")
    while len(sentence) > 96:
        sentence = f"{sentence.removesuffix(' …').rpartition(' ')[0]} …"
    lines = [f"class {name}(TypedDict):", *([f'    """{sentence}."""', ""] if sentence else [])]
    lines += [
        f"    {key}: {kind}" if needed else f"    {key}: NotRequired[{kind}]"
        for key, (kind, needed) in fields.items()
    ]
    return "\n".join(lines if fields else [*lines, "    pass"])


def models(schema: Mapping[str, Any]) -> Iterator[str]:
    """The classes of all objects that are no pages of a list, then those of the filters."""
    for name, shape in schema["components"]["schemas"].items():
        if name.startswith("Paginated"):
            continue
        needed = set(shape.get("required", ()))
        fields = {key: (annotation(kind), key in needed) for key, kind in shape["properties"].items()}
        yield _model(name, shape.get("description", ""), fields)
    for item in schema["paths"].values():
        for operation in item.values():
            asked = {
                one["name"]: (annotation(one["schema"]), bool(one.get("required")))
                for one in operation.get("parameters", ())
                if one["in"] == "query" and one["name"] not in PAGING
            }
            if asked:
                yield _model(query_name(operation["operationId"]), operation["summary"], asked)


def text(schema: Mapping[str, Any]) -> str:
    """The module, formatted."""
    unformatted = "\n\n\n".join([HEAD.rstrip(), *models(schema)]) + "\n"
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(MODELS), "-"]
    return subprocess.run(
        command, input=unformatted, capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def main() -> None:
    """Write the module."""
    django.setup()
    from api.views.index import document

    MODELS.write_text(text(document()), encoding="utf-8")


if __name__ == "__main__":
    main()
