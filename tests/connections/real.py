"""The real servers, installed apart from Tristep: `make test-connections`."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from tests.outside.strange_server import Answer, Seen

from .fakes import KEY, phoenix_spans

# `make test-connections` says where the real servers are installed
REAL = os.environ.get("REAL_SERVERS", "")
STARTS_WITHIN = 180.0


def call(url: str, method: str = "GET", body: Any = None) -> Any:
    """What a server answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        said = answer.read()
    return json.loads(said) if said[:1] in (b"{", b"[") else said


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str], ready: str, folder: Path, **environment: str) -> Iterator[None]:
    """A server that runs as long as the block."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + STARTS_WITHIN
            while True:
                try:
                    call(ready)
                    break
                except (urllib.error.URLError, OSError):
                    assert process.poll() is None and time.monotonic() < deadline, (
                        folder / "log"
                    ).read_text()
                    time.sleep(0.5)
            yield
        finally:
            process.terminate()
            process.wait(30)


def forwarding(url: str) -> Answer:
    """What the server at this address answers."""

    def answer(seen: Seen) -> tuple[int, Any]:
        query = urlencode(seen.query, doseq=True)
        try:
            return 200, call(f"{url}{seen.path}?{query}", seen.method, seen.body)
        except urllib.error.HTTPError as error:
            return error.code, {"error": error.reason}

    return answer


class RealMLflow:
    """See `Side`."""

    kind = "mlflow"
    key = KEY
    source = "demo"

    def __init__(self, url: str) -> None:
        self.url = url
        self.found: dict[str, list[str]] = {}

    def settle(self, source: str) -> None:
        """Log into another experiment from now on."""
        self.source = source

    def log(self, *numbers: int) -> list[str]:
        """Log with MLflow's own client, in its own environment."""
        script = Path(__file__).with_name("log_to_mlflow.py")
        said = subprocess.run(
            [f"{REAL}/mlflow/bin/python", str(script), self.url, self.source, *map(str, numbers)],
            check=True,
            capture_output=True,
            env={**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"},
        ).stdout
        made = [line.split() for line in said.decode().splitlines() if line.startswith("tr-")]
        self.found |= {trace: spans for trace, *spans in made}
        return [trace for trace, *_ in made]

    def spans(self, trace_id: str) -> list[str]:
        return self.found[trace_id]

    def labels(self) -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        for trace in self.found:
            info = call(f"{self.url}/api/3.0/mlflow/traces/{trace}")["trace"]["trace_info"]
            for one in info.get("assessments", ()):
                key = (trace, one.get("span_id", ""))
                found.setdefault(key, []).append(one["feedback"]["value"])
        return found


class RealPhoenix:
    """See `Side`."""

    kind = "phoenix"
    key = KEY
    source = "demo"

    def __init__(self, url: str) -> None:
        self.url = url
        self.found: dict[str, list[str]] = {}
        self.settle(self.source)

    def settle(self, source: str) -> None:
        """Log into another project from now on, which is empty."""
        self.source, self.count = source, 0
        call(f"{self.url}/v1/projects", "POST", {"name": source})

    def log(self, *numbers: int) -> list[str]:
        made = []
        for number in numbers:
            spans = phoenix_spans(number)
            call(f"{self.url}/v1/projects/{self.source}/spans", "POST", {"data": spans})
            trace = spans[0]["context"]["trace_id"]
            self.found[trace] = [one["context"]["span_id"] for one in spans if one["span_kind"] == "LLM"]
            made.append(trace)
        self.count += 4 * len(numbers)
        deadline = time.monotonic() + 300
        while self._spans() < self.count:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        return made

    def _spans(self) -> int:
        """How many spans have come to be there."""
        count, cursor = 0, ""
        while True:
            page = call(f"{self.url}/v1/projects/{self.source}/spans?limit=1000&cursor={cursor}")
            count += len(page["data"])
            if not (cursor := page["next_cursor"] or ""):
                return count

    def spans(self, trace_id: str) -> list[str]:
        return self.found[trace_id]

    def labels(self) -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        for trace, spans in self.found.items():
            for kind, ids in (("span", spans), ("trace", [trace])):
                query = "&".join(f"{kind}_ids={quote(one)}" for one in ids)
                said = call(f"{self.url}/v1/projects/{self.source}/{kind}_annotations?limit=100&{query}")
                for one in said["data"]:
                    key = (trace, one["span_id"] if kind == "span" else "")
                    found.setdefault(key, []).append(one["result"]["score"])
        return found


@contextmanager
def mlflow(folder: Path) -> Iterator[RealMLflow]:
    """MLflow with an empty store."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [f"{REAL}/mlflow/bin/mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--workers", "1"]
    command += ["--default-artifact-root", str(folder / "artifacts")]
    told = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with running(command, f"{url}/version", folder, **told):
        yield RealMLflow(url)


@contextmanager
def phoenix(folder: Path) -> Iterator[RealPhoenix]:
    """Phoenix with an empty store."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    told = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    with running([f"{REAL}/phoenix/bin/phoenix", "serve"], f"{url}/v1/projects", folder, **told):
        yield RealPhoenix(url)
