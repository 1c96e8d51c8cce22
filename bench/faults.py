"""The topic `faults`: people save by the thousand while everything around them fails in turn.

The web server, the worker, the broker and the database are killed, the disk fills up, the clock jumps;
imports are asked for meanwhile. Whatever was acknowledged must be there, once and as it was last said.
`make bench` leaves it out: `make bench ARGS="--only faults"`. tests/bench/test_endurance.py is a short run.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import endurance, records
from bench.endurance import SLUG
from bench.installations import Installation, Stock
from bench.report import Limit, Report, Say, table
from config.broker import Broker
from tests.servers import ROOT, Postgres, Worker, start_postgres, wait_for

SAVES, FAULTS, SAVERS = 100_000, 120, 8
QUICK_SAVES, QUICK_FAULTS = 800, 6
RECORDS = 10  # of each import
DISK_MB = 1024
FULL_SECONDS = 2.0
CLOCK = Path(__file__).parent / "clock"
JUMPS = (3 * 3600, -2 * 3600, 40 * 86400, 0)  # seconds ahead
NOUGHT = ("lost", "doubled", "wrong", "imports unfinished", "imports doubled")


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """All faults on one kind of database; everything that is not nought is a miss."""
    saves, how_many = (QUICK_SAVES, QUICK_FAULTS) if quick else (SAVES, FAULTS)
    with contextlib.ExitStack() as stack:
        postgres = None
        if stock.kind == "postgres":
            postgres = start_postgres(durable=True)
            stack.callback(postgres.stop)
            stock = Stock(stock.kind, folder / "durable", address=postgres.url)
            stock.folder.mkdir()
        elif disk := stack.enter_context(small_disk(folder / "disk", say)):
            stock = Stock(stock.kind, disk)
        installation = stock.installation("faults")
        found = measure(installation, postgres, folder, saves, how_many, say)
    table(f"Faults, {stock.kind}", ("", ""), [(what, f"{number:,}") for what, number in found.items()])
    report.line("faults", kind=stock.kind, **found)
    for name in NOUGHT:
        report.limit(Limit(f"{stock.kind}: {name}", found[name], 0))


def measure(
    installation: Installation, postgres: Postgres | None, folder: Path, saves: int, how_many: int, say: Say
) -> dict[str, int]:
    """Save through so many faults; how many of each there were, and what is not as it should be."""
    names = [f"saver{number}" for number in range(SAVERS)]
    tokens = installation.inside(prepare, *names)["tokens"]
    site = Site(installation, postgres, folder, tokens.pop())
    try:
        kinds = list(itertools.islice(itertools.cycle(site.faults), how_many))
        asked: list[int] = []

        def fault(kind: str) -> Callable[[], None]:
            def happen() -> None:
                asked.append(site.ask_for_import(len(asked)))
                site.faults[kind]()
                site.revive()
                wait_for(site.web.answers, "the server to answer", seconds=endurance.PATIENCE)

            return happen

        began = time.monotonic()
        acknowledged, again = endurance.save_through(
            [fault(kind) for kind in kinds],
            port=site.web.port,
            slug=SLUG,
            tokens=tokens,
            saves=saves,
            seed=1,
        )
        say(f"{installation.name}: {how_many} faults in {time.monotonic() - began:.0f} s")
        path = folder / f"{installation.name}-acknowledged.json"
        path.write_text(json.dumps(acknowledged))
        site.revive()
        imports = installation.inside(imports_finished, *map(str, asked))
        found = installation.inside(endurance.compare_file, path)
    finally:
        site.stop()
    return {**Counter(kinds), "asked again": again, **found, **imports}


class Site:
    """Web server, worker and broker of one installation, each of which may fail."""

    def __init__(
        self, installation: Installation, postgres: Postgres | None, folder: Path, admin: str
    ) -> None:
        """`admin` is the token of somebody who may import."""
        self.admin = admin
        self.folder = installation.folder
        self.broker = Broker(folder / f"{installation.name}-broker")
        more = {"REDIS_URL": self.broker.url, "TRISTEP_LOG_LEVEL": "INFO"}
        self.environment = {**installation.environment, **more}
        self.faults: dict[str, Callable[[], None]] = {
            "web killed": lambda: self.web.kill(),
            "worker killed": self._kill_worker,
            "broker killed": self._kill_broker,
            "clock jumps": self._jump,
        }
        if postgres is not None:
            self.faults["database killed"] = lambda: _again(postgres)
        elif self.folder.parent.is_mount():
            self.faults["disk full"] = self._fill_disk
        self._clock, self._jumps = folder / f"{installation.name}-clock", itertools.cycle(JUMPS)
        self._clock.write_text("0")
        self.environment |= {"BENCH_CLOCK": str(self._clock), "PYTHONPATH": f"{CLOCK}{os.pathsep}{ROOT}"}
        self._logs = (folder / f"{installation.name}-worker-{n}.log" for n in itertools.count())
        self.worker = Worker(self.environment, next(self._logs))
        self.web = endurance.Web(self.environment, folder / f"{installation.name}-web.log")

    def ask_for_import(self, number: int) -> int:
        """Ask for an import of records of its own until it is received: its id. After an answer that was lost
        the same records are imported twice, the second time to find nothing new."""
        lines = [json.dumps(record) for record in records.small(RECORDS, after=RECORDS * number)]
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.web.port}/api/v1/projects/{SLUG}/imports/?subset=more&filename=more.jsonl",
            data="\n".join(lines).encode(),
            headers={"Authorization": f"Bearer {self.admin}", "Content-Type": "application/x-ndjson"},
        )
        deadline = time.monotonic() + endurance.PATIENCE
        while True:
            try:
                with urllib.request.urlopen(asked, timeout=60) as answer:
                    return int(json.load(answer)["id"])
            except (*endurance.AWAY, urllib.error.HTTPError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def revive(self) -> None:
        """Start a worker that has ended by itself again, as `make run` and Docker Compose do."""
        if self.worker.process.poll() is not None:
            self.worker = Worker(self.environment, next(self._logs))

    def _kill_worker(self) -> None:
        self.worker.kill()
        self.revive()

    def _kill_broker(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.broker.process.pid, signal.SIGKILL)
        self.broker.process.wait()
        self.broker.restart()

    def _fill_disk(self) -> None:
        ballast = self.folder.parent / "ballast"
        with ballast.open("wb") as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 20))
                file.flush()
        time.sleep(FULL_SECONDS)
        ballast.unlink()

    def _jump(self) -> None:
        self._clock.write_text(str(next(self._jumps)))

    def stop(self) -> None:
        """Stop all of it."""
        self.web.stop()
        self.worker.stop()
        self.broker.stop()


def _again(postgres: Postgres) -> None:
    postgres.crash()
    postgres.start()


@contextlib.contextmanager
def small_disk(place: Path, say: Say) -> Iterator[Path | None]:
    """A file system in memory that can be filled; None where nobody may mount one."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        say("faults: no file system can be mounted here, so that no disk fills up")
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False)


# ── Inside the product's process ──────────
def prepare(*names: str) -> dict[str, Any]:
    """The project of `endurance`, with a trajectory for each saver, and behind the savers' tokens that of an
    admin."""
    from annotation.models import Project
    from annotation.policies import OPERATOR
    from annotation.services import accounts, projects

    tokens = endurance.prepare(str(len(names)), *names)["tokens"]
    admin = accounts.create_user(actor=OPERATOR, username="importer")
    projects.add_member(actor=OPERATOR, project=Project.objects.get(slug=SLUG), user=admin, is_admin=True)
    return {"tokens": [*tokens, accounts.issue_token(actor=OPERATOR, user=admin, name="bench")[1]]}


def imports_finished(*asked: str) -> dict[str, int]:
    """Imports that were received: how many, how many have not ended well after a while, and how many records
    are there twice."""
    from annotation.core.vocabulary import ImportState
    from annotation.models import ImportFile, Trajectory

    files = ImportFile.objects.filter(pk__in=asked)
    deadline = time.monotonic() + endurance.PATIENCE
    while (left := files.exclude(state=ImportState.PUBLISHED).count()) and time.monotonic() < deadline:
        time.sleep(0.5)
    rows = Trajectory.objects.filter(subset__name="more", live=True)
    there = Counter(rows.values_list("record_id", flat=True))
    wanted = RECORDS * len(asked)
    return {
        "imports": len(asked),
        "imports unfinished": left + (len(there) != wanted),
        "imports doubled": sum(count > 1 for count in there.values()),
    }
