"""Checks that every test of the API makes of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NoReturn

from django.db import connection
from django.test.utils import CaptureQueriesContext


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def strict(answer: Any) -> Any:
    """The answer's body, read as strictly as a strange client would."""
    assert answer["Content-Type"].startswith("application/json"), answer["Content-Type"]
    answer.content.decode("ascii")
    return json.loads(answer.content, parse_constant=_refuse)


def ok(answer: Any, status: int = 200) -> Any:
    """The body of an answer that must have succeeded."""
    assert answer.status_code == status, (answer.status_code, answer.content[:600])
    return strict(answer) if answer.content else None


def refused(answer: Any, status: int, code: str = "") -> dict[str, Any]:
    """The error of an answer that must have failed, in the one shape."""
    assert answer.status_code == status, (answer.status_code, answer.content[:600])
    body = strict(answer)
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) == {"code", "message", "fields", "details"}
    assert isinstance(error["message"], str) and error["message"]
    assert isinstance(error["fields"], dict)
    if code:
        assert error["code"] == code, error
    return error


def queries(call: Callable[[], Any]) -> int:
    """The number of queries of a call, whose answer must be 2xx."""
    with CaptureQueriesContext(connection) as seen:
        answer = call()
    assert answer.status_code < 300, answer.content[:400]
    # SAVEPOINTs tell nothing of the work, and differ with the test's own transaction
    return sum("SAVEPOINT" not in query["sql"] for query in seen.captured_queries)
