"""The topic `suggestions`: a judge asked about many trajectories, against the time its server takes alone.

By the command, in one process; and by the worker of the server that `make run` starts, as the page does it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import inside, records
from bench.client import Client
from bench.inside import PASSWORD
from bench.installations import Failed, Installation, Served, Stock
from bench.report import Limit, Report, Say, megabytes, number, table
from config.children import spawn, stop

TRAJECTORIES, QUICK = 1_000, 200
CONCURRENCY = 32
DELAY = 0.2
# of the ideal time: every call at once begun, and no time lost between two
OF_IDEAL = 1.3
FLAT_MEMORY = 1.3
TRIES = 3  # the median counts
START_SECONDS = 30.0
LOOK_SECONDS = 1.0
SLUG = "bench-judge"
JUDGE: dict[str, Any] = {
    "name": "bench",
    "kind": "openai_compatible",
    "model": "ok",
    "concurrency": CONCURRENCY,
    "context_tokens": 131_072,
}


def run(databases: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Start a server that answers after 200 ms, ask it about so many trajectories both ways, print."""
    how_many = QUICK if quick else TRAJECTORIES
    path = folder / f"suggestions-{databases.kind}.jsonl"
    records.write(path, how_many)
    log = folder / f"judge-{databases.kind}.log"
    with log.open("wb") as output:
        server = spawn(
            [sys.executable, "-m", "tests.judge_server", "--delay", str(DELAY)],
            env=dict(os.environ),
            cwd=records.ROOT,
            output=output,
        )
    found: dict[str, dict[str, Any]] = {}
    try:
        address = _address(log)
        for name, way in (("the command", _by_the_command), ("the page", _through_the_page)):
            tries = []
            for _ in range(1 if quick else TRIES):
                installation = databases.installation("suggestions")
                installation.settings["TRISTEP_JUDGE_URLS"] = address
                installation.inside(inside.start, SLUG)
                installation.inside(inside.import_file, SLUG, path)
                tries.append(one := way(installation, address))
                if one["done"] != how_many:
                    raise Failed(f"The run ended at {one['done']} of {how_many}: {one['state']}")
            found[name] = sorted(tries, key=lambda one: one["seconds"])[len(tries) // 2]
            say(f"suggestions: {how_many:,} asked about by {name} on {databases.kind}")
    finally:
        stop(server, grace=5)
    ideal = how_many / CONCURRENCY * DELAY
    table(
        f"A judge at {CONCURRENCY} calls of {DELAY * 1000:.0f} ms at once, {databases.kind}",
        ("by", "trajectories", "seconds", "ideal", "of the ideal", "memory, first fifth", "the rest"),
        [
            (
                name,
                f"{how_many:,}",
                number(one["seconds"]),
                number(ideal),
                number(one["seconds"] / ideal),
                megabytes(one["early"]),
                megabytes(one["late"]),
            )
            for name, one in found.items()
        ],
    )
    for name, one in found.items():
        report.line("suggestions", kind=databases.kind, by=name, ideal=ideal, **one)
        what = f"{databases.kind}: suggestions by {name}"
        report.limit(Limit(f"{what}, time against the ideal", one["seconds"] / ideal, OF_IDEAL))
        if not one["early"]:
            continue  # this system does not tell
        flat = one["late"] / one["early"]
        report.limit(
            Limit(f"{what}, most memory later on against that of the first fifth", flat, FLAT_MEMORY)
        )


def _address(log: Path) -> str:
    """The server's address, once it has said it. Raises Failed."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        words = log.read_text(errors="replace")
        if "http" in words and words.endswith("\n"):
            return words.strip().splitlines()[-1]
        time.sleep(0.05)
    raise Failed(f"The judge's server did not start: {log.read_text(errors='replace')[-1000:]}")


def _by_the_command(installation: Installation, address: str) -> dict[str, Any]:
    return installation.inside(ask, address)


def _through_the_page(installation: Installation, address: str) -> dict[str, Any]:
    """Start the run as an admin does, and look at it every second until it has ended.

    The time is the one that the run's page tells, from its start to its end. Raises Failed, Refused.
    """
    server = Served(installation)
    try:
        admin = Client(server.port)
        admin.sign_in("admin", PASSWORD)
        wanted = JUDGE | {"base_url": address}
        _, judge = admin.post(f"/api/v1/projects/{SLUG}/judges/", wanted, expected=201)
        _, run = admin.post(f"/api/v1/projects/{SLUG}/runs/", {"judge": judge["id"]}, expected=201)
        early = late = done = 0
        while run["state"] in ("queued", "running"):
            run = json.loads(admin.get(f"/api/v1/runs/{run['id']}/")[1])
            memory = max(map(_resident, descendants(server.process.pid, "celery")), default=0)
            done, total = run["progress"]["done"], run["progress"]["total"]
            if done <= total // 5:
                early = max(early, memory)
            else:
                late = max(late, memory)
            time.sleep(LOOK_SECONDS)
        admin.close()
        return {
            "seconds": (_moment(run["finished_at"]) - _moment(run["created_at"])).total_seconds(),
            "early": early,
            "late": late,
            "done": done,
            "state": run["state"],
        }
    finally:
        server.stop()


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def descendants(parent: int, word: str) -> list[int]:
    """The processes below one whose command line holds a word (none where /proc does not tell)."""
    below: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            below.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found, left = [], [parent]
    while left:
        left += below.get(here := left.pop(), [])
        with contextlib.suppress(OSError):
            if word in Path(f"/proc/{here}/cmdline").read_text():
                found.append(here)
    return found


def _resident(process: int | str = "self") -> int:
    """The memory of a process now, in bytes (where /proc does not tell, the most that this one ever had)."""
    status = Path(f"/proc/{process}/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def ask(address: str) -> dict[str, Any]:
    """Make the judge and do the run, as the command does; what it took (inside the product's process)."""
    from annotation.models import Project
    from annotation.policies import OPERATOR
    from annotation.services import suggest

    project = Project.objects.get(slug=SLUG)
    judge = suggest.create_judge(actor=OPERATOR, project=project, base_url=address, **JUDGE)
    run = suggest.start_run(actor=OPERATOR, judge=judge, enqueue=False)
    early = late = 0

    def look(now: suggest.RunTotals) -> None:
        nonlocal early, late
        if now.done <= now.total // 5:
            early = max(early, _resident())
        else:
            late = max(late, _resident())

    cpu, begun = time.process_time(), time.monotonic()
    run = suggest.run_suggestions(run_id=run.pk, progress=look)
    return {
        "seconds": time.monotonic() - begun,
        "cpu": time.process_time() - cpu,
        "early": early,
        "late": late,
        "done": run.progress_done,
        "state": run.state,
    }
