"""The OpenAPI schema says everything, and says it without a warning."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import get_resolver

from api.views.index import document

from .conftest import Callers
from .shape import ok

METHODS = ("get", "post", "put", "patch", "delete")


API = "/api/v1"
# what is given back cannot be read, an admin who might still claim is asked first, a release may be damaged
CONFLICTING_READS = frozenset(
    {
        f"{API}/assignments/{{id}}/",
        f"{API}/assignments/{{id}}/feedback/",
        f"{API}/assignments/{{id}}/reveals/",
        f"{API}/adjudications/{{id}}/reveals/",
        f"{API}/projects/{{slug}}/first-errors/",
        f"{API}/trajectories/{{id}}/options/",
        f"{API}/projects/{{slug}}/judges-first/",
        f"{API}/trajectories/{{id}}/atif/",
        f"{API}/trajectories/{{id}}/raw/",
        f"{API}/trajectories/{{id}}/judgements/",
        f"{API}/trajectories/{{id}}/history/",
        f"{API}/projects/{{slug}}/releases/{{version}}/all.zip",
        f"{API}/projects/{{slug}}/releases/{{version}}/export/{{subset}}.jsonl",
        f"{API}/projects/{{slug}}/releases/{{version}}/diff/{{other}}/",
        f"{API}/projects/{{slug}}/releases/{{version}}/diff/{{other}}/changes/",
        f"{API}/projects/{{slug}}/releases/{{version}}/diff/{{other}}/changelog.md",
        f"{API}/public/{{slug}}/{{version}}/",
        f"{API}/projects/{{slug}}/releases/{{version}}/leaderboard/",
        f"{API}/projects/{{slug}}/releases/{{version}}/predictions/{{id}}/",
        f"{API}/projects/{{slug}}/releases/{{version}}/best-of-n/",
        f"{API}/projects/{{slug}}/releases/{{version}}/benchmark/",
        f"{API}/projects/{{slug}}/releases/{{version}}/statistics/",
        f"{API}/projects/{{slug}}/releases/{{version}}/judges/",
        f"{API}/projects/{{slug}}/releases/{{version}}/decisions/",
        f"{API}/projects/{{slug}}/releases/{{version}}/prompts/{{name}}/prompts.jsonl",
    }
)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """(method, path, operation) of the whole schema."""
    return [
        (method, path, item[method])
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item
    ]


def test_schema_is_valid_and_generated_without_a_warning() -> None:
    out = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", stdout=out)
    assert json.loads(out.getvalue())["openapi"].startswith("3.")


def test_schema_is_open_to_everybody(by: Callers) -> None:
    assert ok(by.nobody.get("/schema/"))["info"]["title"] == "Tristep"


def test_schema_has_a_summary_a_noun_and_errors_for_every_operation() -> None:
    summaries = []
    for method, path, operation in operations():
        here = f"{method} {path}"
        assert operation.get("summary"), here
        assert operation.get("description"), here
        assert operation["tags"] != ["api"], here
        summaries.append(operation["summary"])
        codes = set(operation["responses"])
        wanted = {"400", "401", "403", "404", "429"}
        wanted -= {"401", "403", "404"} if path.endswith("/schema/") else set()
        wanted -= {"401", "403"} if "/public/{slug}/" in path else set()
        assert wanted <= codes, here
        if method != "get":
            assert {"409", "411", "413"} <= codes, here
        assert ("409" in codes) is (method != "get" or path in CONFLICTING_READS), here
        assert any(code.startswith("2") for code in codes), here
    assert len(summaries) == len(set(summaries)), "two operations with one summary"
    identities = [operation["operationId"] for _, _, operation in operations()]
    assert len(identities) == len(set(identities))


def test_schema_has_every_address_of_the_api() -> None:
    patterns = next(
        item for item in get_resolver().url_patterns if getattr(item, "app_name", "") == "api"
    ).url_patterns
    named = {str(pattern.name) for pattern in patterns} - {"unknown"}
    assert len(document()["paths"]) == len(named)


@pytest.mark.parametrize("word", ["password", "digest_of", "to do"])
def test_schema_says_nothing_it_should_not(word: str) -> None:
    assert word not in json.dumps(document())
