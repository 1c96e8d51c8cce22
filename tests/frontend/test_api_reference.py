"""The page that renders the OpenAPI schema."""

from __future__ import annotations

import json

import jsonschema

from frontend import openapi


def test_reference_shows_every_operation_of_the_schema(browse, at, text):
    page = text(browse("ann").get(at("api-reference")))
    paths = openapi.document()["paths"]
    assert paths
    for path in paths:
        assert path in page
    shown = sum(len(group.operations) for group in openapi.groups())
    assert shown == sum(method in openapi.METHODS for methods in paths.values() for method in methods)


def test_reference_names_fields_of_nested_bodies():
    schema = {
        "components": {"schemas": {"Inner": {"type": "object", "properties": {"x": {"type": "integer"}}}}},
    }
    spec = {
        "type": "object",
        "required": ["rows"],
        "properties": {
            "rows": {"type": "array", "items": {"$ref": "#/components/schemas/Inner"}},
            "kind": {"allOf": [{"enum": ["a", "b"]}], "description": "Which."},
        },
    }
    found = [(field.name, field.type, field.required) for field in openapi._fields(schema, spec, "", 0)]
    assert found == [("rows", "[object]", True), ("rows[].x", "integer", False), ("kind", "a | b", False)]


def test_reference_examples_fit_the_schemas_that_they_stand_for():
    schema = openapi.document()
    checked = 0
    for group in openapi.groups():
        for operation in group.operations:
            spec = schema["paths"][operation.path][operation.method.lower()]
            contents = [(operation.example, spec.get("requestBody", {}).get("content", {}))]
            contents += [
                (answer.example, spec["responses"][answer.status].get("content", {}))
                for answer in operation.answers
            ]
            for shown, content in contents:
                if "application/json" in content:
                    rules = {**content["application/json"]["schema"], "components": schema["components"]}
                    validator = jsonschema.Draft4Validator(
                        rules, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
                    )
                    found = [error.message for error in validator.iter_errors(json.loads(shown))]
                    assert found == [], (operation.id, shown)
                    checked += 1
                else:
                    assert shown == ""
    assert checked > 500
