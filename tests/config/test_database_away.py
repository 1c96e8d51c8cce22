"""While PostgreSQL is away every address asks to come back: 503 with Retry-After (what browsers then say, and
keep, is in tests/js/store.test.mjs)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.databases import elsewhere
from tests.servers import free_port

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def test_database_that_is_away_is_a_503_that_says_when_to_come_back() -> None:
    client = Client(raise_request_exception=False)
    client.cookies["sessionid"], client.cookies["csrftoken"] = "a" * 32, "b" * 32
    save, multipart = "/api/v1/assignments/1/labels/", "multipart/form-data; boundary=x"

    def saved(**headers: str) -> Any:
        return client.post(save, data="{}", content_type="application/json", headers=headers)

    with elsewhere(f"postgres://nobody@127.0.0.1:{free_port()}/none"):
        answers = [
            client.get("/"),
            client.get("/sign-in/"),
            client.post("/p/bench/import/", data=b"x" * 100_000, content_type=multipart),
            saved(**{"X-CSRFToken": "b" * 32}),
            saved(Authorization="Bearer tri_" + "x" * 40),
        ]
        said = [(answer.status_code, answer["Retry-After"]) for answer in answers]
        assert said == [(503, "30")] * 5
        assert all("is not responding" in answer.content.decode() for answer in answers)
