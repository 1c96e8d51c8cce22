"""`python -m bench [--quick] [--database sqlite|postgres|both] [--only TOPIC]`"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench import (
    agreement,
    audits,
    connections,
    endurance,
    faults,
    gold,
    imports,
    intervals,
    labels,
    leaderboard,
    logs,
    prediction_powered,
    questions,
    ranks,
    records,
    releases,
    requests,
    scale,
    second_person,
    shares,
    suggestions,
)
from bench.client import Refused
from bench.installations import Failed, ServerMissing, Stock, scratch, stock
from bench.peers import topic as peers
from bench.report import Report, Say
from bench.workbench import topic as workbench

RESULTS: Final = records.ROOT / "var" / "bench"
TOPICS: Final[dict[str, Callable[[Stock, Path, bool, Report, Say], None]]] = {
    "suggestions": suggestions.run,
    "endurance": endurance.run,
    "shares": shares.run,
    "releases": releases.run,
    "labels": labels.run,
    "imports": imports.run,
    "logs": logs.run,
    "connections": connections.run,
    "requests": requests.run,
    "agreement": agreement.run,
    "leaderboard": leaderboard.run,
    "questions": questions.run,
    "intervals": intervals.run,
    "ranks": ranks.run,
    "prediction_powered": prediction_powered.run,
    "audits": audits.run,
    "second_person": second_person.run,
    "gold": gold.run,
    "workbench": workbench.run,
    "scale": scale.run,
    "faults": faults.run,
    "peers": peers.run,
}
# by name alone: three take long, one needs what `make bench-peers` installs
ASKED_FOR: Final = ("prediction_powered", "scale", "faults", "peers")
ON_SQLITE: Final = (
    "leaderboard",
    "questions",
    "intervals",
    "ranks",
    "prediction_powered",
    "audits",
    "second_person",
    "gold",
    "connections",
    "workbench",
    "peers",
)


def say(sentence: str) -> None:
    """Progress, on stderr."""
    print(sentence, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed and memory.")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--database", choices=("sqlite", "postgres", "both"), default="both")
    parser.add_argument("--only", choices=TOPICS, help="one topic")
    options = parser.parse_args()

    RESULTS.mkdir(parents=True, exist_ok=True)
    report = Report(RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
    head(report, options.quick)
    folder = scratch()
    try:
        for kind in ("sqlite", "postgres") if options.database == "both" else (options.database,):
            databases = stock(kind, folder)
            print(f"\n── {databases.note} ──")
            try:
                for name in (
                    (options.only,) if options.only else [name for name in TOPICS if name not in ASKED_FOR]
                ):
                    if kind == "sqlite" or name not in ON_SQLITE:
                        began = time.monotonic()
                        TOPICS[name](databases, folder, options.quick, report, say)
                        report.took(f"{kind}: {name}", time.monotonic() - began)
                        databases.clear()
            finally:
                databases.close()
    except (Failed, ServerMissing, Refused) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.durations()
    all_hold = report.verdicts()
    print(f"Figures: {report.path}")
    # small sizes and few turns say nothing about speed
    return 0 if all_hold or options.quick else 1


def head(report: Report, quick: bool) -> None:
    """Print the machine and the records of the measurement."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    machine = f"{os.cpu_count()} CPUs, Python {platform.python_version()}, {platform.system()}"
    print(f"Tristep bench{' (quick)' if quick else ''}: {machine}, load {busy:.1f}")
    print(f"Records: {records.description()}")
    report.line("head", machine=machine, load=busy, quick=quick, records=records.description())


if __name__ == "__main__":
    raise SystemExit(main())
