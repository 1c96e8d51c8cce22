"""Celery workers that are forked from one process, which has loaded what each of them would load.

    python -m tests.forked_workers LOG LOG LOG

Each writes a log of its own, and is otherwise what `celery worker` starts: with signals, threads and
connections of its own. Loading is nearly all that the start of a worker costs. For tests of several workers
whose settings are the same; one worker is started by `tests.servers.Worker`.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from config.children import die_with_parent, spawn, stop
from tests.servers import ROOT, ServerMissing, running, wait_for

# what a worker loads besides, once it has begun
LOADED = (
    *("celery.apps.worker", "celery.bin.celery", "celery.concurrency.thread", "celery.worker.consumer"),
    *("celery.worker.strategy", "kombu.transport.redis", "config.bucket.storage"),
)


@dataclass
class ForkedWorker:
    """One of them."""

    pid: int
    log: Path

    def words(self) -> str:
        """The log so far."""
        return self.log.read_text(errors="replace")

    def stop(self) -> None:
        """Warm shutdown. Raises TimeoutError when it does not end by itself."""
        os.kill(self.pid, signal.SIGTERM)
        wait_for(lambda: not running([self.pid]), "the worker to end", seconds=30)


class ForkedWorkers:
    """The process that forks them, and the workers, which are ready."""

    def __init__(self, environment: dict[str, str], logs: Sequence[Path]) -> None:
        self.process: subprocess.Popen[bytes] = spawn(
            [sys.executable, "-m", "tests.forked_workers", *logs],
            env={**environment, "CELERY_SKIP_CHECKS": "1"},
            cwd=ROOT,
        )
        wait_for(lambda: self.process.poll() is not None or all(map(_ready, logs)), "the workers to be ready")
        if self.process.poll() is not None:
            raise ServerMissing("The workers did not start.")
        self.workers = [ForkedWorker(int(log.with_suffix(".pid").read_text()), log) for log in logs]

    def stop(self) -> bool:
        """End them all; True when they finished by themselves."""
        return stop(self.process, grace=30)


def _ready(log: Path) -> bool:
    return log.exists() and " ready." in log.read_text(errors="replace")


def main(logs: Sequence[str]) -> None:
    """Fork a worker for each log, and wait until all have ended; SIGTERM ends them."""
    import django

    django.setup()
    from config.celery import app

    app.loader.import_default_modules()
    for name in LOADED:
        importlib.import_module(name)
    parent, children = os.getpid(), set()
    for number, log in enumerate(logs):
        if pid := os.fork():
            children.add(pid)
            Path(log).with_suffix(".pid").write_text(str(pid))
            continue
        if end := die_with_parent(signal.SIGKILL):
            end()
        with Path(log).open("ab") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        flags = ("--pool", "threads", "--loglevel", "INFO", "--without-gossip", "--without-mingle")
        app.worker_main(["worker", *flags, "--hostname", f"test{parent}-{number}@%h"])
        os._exit(0)

    def end_all(*_: object) -> None:
        for pid in children:
            os.kill(pid, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end_all)
    while children:
        children.discard(os.wait()[0])


if __name__ == "__main__":
    main(sys.argv[1:])
