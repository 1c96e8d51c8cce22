"""The whole product as `make run` starts it, for tests that walk through it in browsers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from config.children import spawn
from tests.servers import ROOT, free_port, wait_for
from tests.shared import locked

OWN = ("TRISTEP_", "DATABASE_URL", "REDIS_URL", "DJANGO_", "MAKELEVEL", "TEST_DATABASE_URL")


class Site:
    """The product where it runs: its data folder and address, what it has said, who can sign in."""

    def __init__(self, data: Path, port: int) -> None:
        self.data = data
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.output = data.with_name(f"{data.name}-{port}.txt")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        self.environment = kept | {"TRISTEP_DATA_DIR": str(data)}

    @property
    def pid(self) -> int:
        """The id of the process that `make run` starts."""
        return int((self.data / "run.lock").read_text().split(",")[0].removeprefix("process "))

    def words(self) -> str:
        """The output of the server so far."""
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


class Server(Site):
    """`python -m config.serve` with a data folder of its own: web server, worker, broker, and the demo."""

    def __init__(
        self,
        data: Path,
        port: int | None = None,
        *,
        program: Sequence[str] = (sys.executable, "-m", "config.serve"),
        cwd: Path = ROOT,
        **environment: str,
    ) -> None:
        super().__init__(data, port or free_port())
        self.environment |= environment
        with self.output.open("wb") as output:
            self.process = spawn(
                [*program, "--port", str(self.port)],
                cwd=cwd,
                env=self.environment,
                output=output,
            )

    def ready(self) -> Server:
        """Wait for the banner; without one, what the server wrote is the failure."""
        ended = self.process.poll
        wait_for(lambda: "Ctrl-C stops it" in self.words() or ended() is not None, "the banner", seconds=300)
        assert ended() is None, self.words()
        return self

    def stop(self) -> None:
        """Stop the server as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=90)


@contextmanager
def shared_site(folder: Path) -> Iterator[Site]:
    """The one product of a test run, in `folder`: started by who comes first, stopped when nobody is left.

    The first process to come also stops it, after all others have said that they are done; who comes after
    that starts it anew. Its database is migrated already; from nothing those of the wheel and of the public
    demo are migrated.
    """
    # here, for the pictures of the documentation have no Django of their own
    from tests.databases import copy_migrated

    address, users, lock = folder / "address.json", folder / "users.lock", folder / "start.lock"
    mine: Server | None = None
    with locked(lock):
        using = locked(users, shared=True)
        using.__enter__()
        if not address.exists():
            data = folder / "data"
            shutil.rmtree(data, ignore_errors=True)
            data.mkdir()
            copy_migrated(data / "db.sqlite3")
            mine = Server(data)
            address.write_text(json.dumps({"port": mine.ready().port}))
        site = Site(folder / "data", json.loads(address.read_text())["port"])
    try:
        yield site
    finally:
        using.__exit__(None, None, None)
        if mine is not None:
            with locked(lock), locked(users):
                address.unlink()
                mine.stop()
