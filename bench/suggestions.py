"""The topic `suggestions`: a judge asked about many trajectories, against the time its server takes alone."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import records
from bench.places import Failed, Place, Stock
from bench.report import MEGABYTE, Limit, Report, megabytes, number, table
from config.children import spawn, stop

TRAJECTORIES, QUICK = 1_000, 200
CONCURRENCY = 32
DELAY = 0.2
# of the ideal time: every call at once begun, and no time lost between two
OF_IDEAL = 1.3
FLAT_MEMORY = 1.3
START_SECONDS = 30.0


def run(databases: Stock, folder: Path, quick: bool, report: Report, say: Callable[[str], None]) -> None:
    """Start a server that answers after 200 ms, ask it about so many trajectories in one process, print."""
    how_many = QUICK if quick else TRAJECTORIES
    file = folder / f"suggestions-{databases.kind}.jsonl"
    records.write(file, how_many)
    place = databases.place("suggestions")
    log = folder / f"judge-{databases.kind}.log"
    with log.open("wb") as output:
        server = spawn(
            [sys.executable, "-m", "tests.judge_server", "--delay", str(DELAY)],
            env=dict(os.environ),
            cwd=records.ROOT,
            output=output,
        )
    try:
        found = _inside(place, _address(log), file, how_many)
    finally:
        stop(server, grace=5)
    say(f"suggestions: {how_many:,} asked about on {databases.kind}")
    ideal = how_many / CONCURRENCY * DELAY
    table(
        f"A judge at {CONCURRENCY} calls of {DELAY * 1000:.0f} ms at once, {databases.kind}",
        (
            "trajectories",
            "seconds",
            "ideal",
            "of the ideal",
            "CPU seconds",
            "memory, first fifth",
            "the rest",
        ),
        [
            (
                f"{how_many:,}",
                number(found["seconds"]),
                number(ideal),
                number(found["seconds"] / ideal),
                number(found["cpu"]),
                megabytes(found["early"]),
                megabytes(found["late"]),
            )
        ],
    )
    report.line("suggestions", kind=databases.kind, ideal=ideal, **found)
    what = f"{databases.kind}: suggestions, time against the ideal"
    report.limit(Limit(what, found["seconds"] / ideal, OF_IDEAL))
    what = f"{databases.kind}: suggestions, most memory later on against that of the first fifth"
    report.limit(Limit(what, found["late"] / found["early"], FLAT_MEMORY))


def _address(log: Path) -> str:
    """The server's address, once it has said it. Raises Failed."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        words = log.read_text(errors="replace")
        if "http" in words and words.endswith("\n"):
            return words.strip().splitlines()[-1]
        time.sleep(0.05)
    raise Failed(f"The judge's server did not start: {log.read_text(errors='replace')[-1000:]}")


def _inside(place: Place, address: str, file: Path, how_many: int) -> dict[str, Any]:
    environment = {**place.environment, "TRISTEP_JUDGE_URLS": address}
    command = [sys.executable, "-m", "bench.suggestions", str(file), address]
    done = subprocess.run(command, cwd=records.ROOT, env=environment, capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"The run failed in {place.name}: {done.stderr.decode(errors='replace')[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    if found["done"] != how_many:
        raise Failed(f"The run ended at {found['done']} of {how_many}: {found['state']}")
    return found


def _resident() -> int:
    """The memory of this process now, in bytes (where /proc does not tell, the most it ever had)."""
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def inside(file: Path, address: str) -> dict[str, Any]:
    """Import the file, make the judge, do the run; what it took. The import is not part of the time."""
    import django

    django.setup()
    from annotation.policies import OPERATOR
    from annotation.services import ingest, projects, suggest

    project = projects.create_project(
        actor=OPERATOR, name="bench", slug="bench", guidelines="Judge each step."
    )
    with file.open("rb") as stream:
        source = ingest.receive_file(
            actor=OPERATOR,
            project=project,
            subset="bench",
            filename=file.name,
            chunks=iter(lambda: stream.read(MEGABYTE), b""),
            enqueue=False,
        )
    ingest.run_import(source_id=source.pk)
    judge = suggest.create_judge(
        actor=OPERATOR,
        project=project,
        name="bench",
        kind="openai_compatible",
        model="ok",
        base_url=address,
        concurrency=CONCURRENCY,
        context_tokens=131_072,
    )
    run = suggest.start_run(actor=OPERATOR, judge=judge, enqueue=False)
    early = late = 0

    def look(now: suggest.Progress) -> None:
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


if __name__ == "__main__":
    print(json.dumps(inside(Path(sys.argv[1]), sys.argv[2])))
