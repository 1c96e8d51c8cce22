"""While PostgreSQL is away every address asks to come back: 503 with Retry-After (what browsers then say, and
keep, is in tests/js/store.test.mjs)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.servers import ROOT, free_port, server_environment

ASKED = """
import json
import django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False)
client.cookies["sessionid"], client.cookies["csrftoken"] = "a" * 32, "b" * 32
body = {"data": "{}", "content_type": "application/json"}
answers = [
    client.get("/"),
    client.get("/sign-in/"),
    client.post("/p/bench/import/", data=b"x" * 100_000, content_type="multipart/form-data; boundary=x"),
    client.post("/api/v1/assignments/1/labels/", headers={"X-CSRFToken": "b" * 32}, **body),
    client.post("/api/v1/assignments/1/labels/", headers={"Authorization": "Bearer tri_" + "x" * 40}, **body),
]
said = [[a.status_code, a["Retry-After"], "is not responding" in a.content.decode()] for a in answers]
print(json.dumps(said))
"""


def test_database_that_is_away_is_a_503_that_says_when_to_come_back(tmp_path: Path) -> None:
    environment = server_environment(
        database=f"postgres://nobody@127.0.0.1:{free_port()}/none",
        data=tmp_path,
        TRISTEP_ALLOWED_HOSTS="testserver",
    )
    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [[503, "30", True]] * 5
