"""`python -m bench [--quick] [--database sqlite|postgres|both] [--only TOPIC]`"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import time
from dataclasses import asdict
from pathlib import Path

from bench import endurance, imports, labels, records, releases, requests, suggestions
from bench.client import Refused
from bench.installations import Failed, Installation, ServerMissing, Stock, scratch, stock
from bench.report import Limit, Report, megabytes, number, table
from bench.workbench import topic as workbench

SIZES = [1_000, 20_000]
QUICK_SIZES = [200, 1_000]
RESULTS = records.ROOT / "var" / "bench"
FLAT = 1.5
FLAT_MEMORY = 1.3
IMPORT_RATE = 1_000
SAVE_MS = 10


def say(sentence: str) -> None:
    """Progress, on stderr."""
    print(sentence, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed and memory.")
    parser.add_argument("--quick", action="store_true", help="small sizes, a minute; shows that it works")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument(
        "--only",
        choices=["imports", "labels", "requests", "suggestions", "workbench", "endurance", "releases"],
        help="one topic",
    )
    parser.add_argument("--turns", type=int, help="how many trajectories are labelled in each project")
    options = parser.parse_args()

    RESULTS.mkdir(parents=True, exist_ok=True)
    report = Report(RESULTS / f"{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
    sizes = QUICK_SIZES if options.quick else SIZES
    # nine tenths of each project are labelled already; the rest must do
    turns = min(options.turns or 150, min(sizes) // 10 - requests.WARM_UP)
    head(report, options.quick)
    folder = scratch()
    try:
        for kind in ["sqlite", "postgres"] if options.database == "both" else [options.database]:
            databases = stock(kind, folder)
            try:
                if options.only in (None, "suggestions"):
                    suggestions.run(databases, folder, options.quick, report, say)
                if options.only in (None, "endurance") and not options.quick:
                    run_endurance(databases, folder, report)
                if options.only in (None, "releases"):
                    releases.run(databases, folder, options.quick, report, say)
                if options.only in (None, "labels"):
                    labels.run(databases, folder, options.quick, report, say)
                if options.only in (None, "imports", "requests"):
                    run(databases, folder, sizes, turns, options.only, report)
                if kind == "sqlite" and options.only in (None, "workbench"):
                    workbench.run(databases, folder, options.quick, report, say)
            finally:
                databases.close([])
    except (Failed, ServerMissing, Refused) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    missed = [limit for limit in report.limits if not limit.holds]
    print(f"\n{len(report.limits) - len(missed)} of {len(report.limits)} expectations hold.")
    for limit in missed:
        print(f"  {limit.sentence()}")
    print(f"Figures: {report.path}")
    # small sizes and few turns say nothing about speed
    return 1 if missed and not options.quick else 0


def run_endurance(databases: Stock, folder: Path, report: Report) -> None:
    """Kill and leave; everything that is not nought is a miss."""
    found = endurance.measure(databases.installation("endurance"), folder, say)
    table(f"Endurance, {databases.kind}", tuple(found), [tuple(map(str, found.values()))])
    report.line("endurance", kind=databases.kind, **found)
    for name in ("lost", "doubled", "wrong_counts", "orphaned", "doubled_claims", "unfinished"):
        report.limit(Limit(f"{databases.kind}: {name.replace('_', ' ')}", found[name], 0))


def head(report: Report, quick: bool) -> None:
    """What is measured, and where."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    machine = f"{os.cpu_count()} CPUs, Python {platform.python_version()}, {platform.system()}"
    print(f"Tristep bench{' (quick)' if quick else ''}: {machine}, load {busy:.1f}")
    print(f"Records: {records.description()}")
    report.line("head", machine=machine, load=busy, quick=quick, records=records.description())


def run(
    databases: Stock, folder: Path, sizes: list[int], turns: int, only: str | None, report: Report
) -> None:
    """All topics on one kind of database."""
    print(f"\n── {databases.note} ──")
    rounds = 1 if only == "requests" else imports.ROUNDS
    installations = run_imports(databases, sizes, folder, rounds, report)
    if only != "imports":
        run_requests(databases.kind, installations, folder, turns, report)


def run_imports(
    databases: Stock, sizes: list[int], folder: Path, rounds: int, report: Report
) -> dict[int, Installation]:
    """Import, print, compare with what is expected."""
    found, references, installations = imports.measure(databases, sizes, folder, rounds, say)
    bare = references["bare loop"]
    table(
        f"Import, {databases.kind}",
        ("trajectories", "file", "per second", "per CPU second", "of the bare loop", "peak", "at start"),
        [
            (
                f"{one.trajectories:,}",
                megabytes(one.size),
                number(one.rate),
                number(one.cpu_rate),
                f"{one.rate / bare.rate:.0%}",
                megabytes(one.peak),
                megabytes(one.idle),
            )
            for one in found
        ],
    )
    for name, rate in references.items():
        print(f"  {name}: {number(rate.rate)} per second, {number(rate.cpu_rate)} per CPU second")
        report.line("import reference", kind=databases.kind, name=name, **asdict(rate))
    for one in found:
        report.line("import", **asdict(one))
    small, large = found[0], found[-1]
    if databases.kind == "sqlite":
        for one in found:
            if one.trajectories >= IMPORT_RATE:  # a file that takes less than a second says little
                what = f"sqlite: imported per second, of {one.trajectories:,}"
                report.limit(Limit(what, one.rate, IMPORT_RATE, at_least=True))
    what = f"{databases.kind}: peak memory, {large.trajectories:,} against {small.trajectories:,}"
    report.limit(Limit(what, large.peak / small.peak, FLAT_MEMORY))
    return installations


def run_requests(
    kind: str, installations: dict[int, Installation], folder: Path, turns: int, report: Report
) -> None:
    """Label over HTTP, print, compare small with large."""
    small, large = min(installations), max(installations)
    found = requests.measure(kind, installations, folder, turns, say)
    for share in requests.SHARES:
        rows = []
        for what in found.names(share):
            one, other = (found.of(what, size, share) for size in (small, large))
            rows.append(
                (
                    what,
                    *(f"{value:.1f}" for value in (one.p50, one.p95, other.p50, other.p95)),
                    f"{other.p50 / one.p50:.2f}",
                    str(min(one.count, other.count)),
                )
            )
            report.line("request", kind=kind, what=what, share=share, small=asdict(one), large=asdict(other))
        table(
            f"Requests, {kind}, {share:.0%} labelled (ms)",
            ("", f"p50 of {small:,}", "p95", f"p50 of {large:,}", "p95", "ratio of p50", "n"),
            rows,
        )
    for what in requests.FLAT:
        for share in requests.SHARES:
            one, other = (found.of(what, size, share) for size in (small, large))
            name = f"{kind}: {what}, {large:,} against {small:,}, {share:.0%} labelled"
            report.limit(Limit(name, other.p50 / one.p50, FLAT))
    if kind == "sqlite":
        for share in requests.SHARES:
            one = found.of("save label", small, share)
            what = f"sqlite: save label, p50 of {small:,}, {share:.0%} labelled (ms)"
            report.limit(Limit(what, one.p50, SAVE_MS))


if __name__ == "__main__":
    raise SystemExit(main())
