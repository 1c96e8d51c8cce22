"""`make audit` never takes silence for safety."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.audit import NOT_COMPARED, verdict
from tests.servers import ROOT, free_port

SKIPPED = {"name": "redis", "skip_reason": "Dependency not found"}
WELL = {"name": "django", "version": "5.2", "vulns": []}
BAD = {"name": "h11", "version": "0.1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["0.2"]}]}


@pytest.mark.parametrize(
    ("packages", "status", "said"),
    [
        ([WELL], 0, "1 packages compared, 0 known vulnerabilities."),
        ([WELL, BAD], 1, "h11 0.1: PYSEC-1, mended in 0.2"),
        ([WELL, SKIPPED], NOT_COMPARED, "1 of 2 packages could not be compared: redis."),
        ([BAD, SKIPPED], 1, "PYSEC-1"),
        ([SKIPPED], NOT_COMPARED, "NOTHING WAS COMPARED"),
        ([], NOT_COMPARED, "NOTHING WAS COMPARED"),
    ],
)
def test_audit_says_what_was_compared(packages: list[Any], status: int, said: str) -> None:
    code, words = verdict({"dependencies": packages})
    assert code == status
    assert said in words


def test_audit_says_when_its_data_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, nobody)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    done = subprocess.run(
        [sys.executable, "-c", "from tests.audit import audit; print(*audit('requirements-uv.lock'))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"{NOT_COMPARED} ")
    assert "NOTHING WAS COMPARED" in done.stdout
