"""The whole product as `make run` starts it, for tests that walk through it in browsers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from config.children import spawn
from tests.servers import ROOT, free_port, wait_for

OWN = ("TRISTEP_", "DATABASE_URL", "REDIS_URL", "DJANGO_", "MAKELEVEL", "TEST_DATABASE_URL")


class Server:
    """`python -m config.serve` with a data folder of its own: web server, worker, broker, and the demo."""

    def __init__(self, data: Path, port: int | None = None) -> None:
        self.data = data
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.output = data.with_name(f"{data.name}-{self.port}.txt")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        self.environment = kept | {"TRISTEP_DATA_DIR": str(data)}
        with self.output.open("wb") as output:
            self.process = spawn(
                [sys.executable, "-m", "config.serve", "--port", str(self.port)],
                cwd=ROOT,
                env=self.environment,
                output=output,
            )

    def ready(self) -> Server:
        """Wait for the banner; without one, what the server wrote is the failure."""
        ended = self.process.poll
        wait_for(lambda: "Ctrl-C stops it" in self.words() or ended() is not None, "the banner", seconds=300)
        assert ended() is None, self.words()
        return self

    def words(self) -> str:
        """Everything it has printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def accounts(self) -> dict[str, str]:
        """User name → password, from the banner."""
        lines = self.words().partition("Accounts:\n")[2].partition("\n\n")[0].splitlines()
        return {line.split()[0]: line.split()[1] for line in lines}

    def run(self, *command: str) -> str:
        """`manage.py COMMAND …` beside it; what it printed."""
        return subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=90)
