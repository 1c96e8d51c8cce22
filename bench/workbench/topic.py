"""The topic `workbench`: Chromium at the workbench that `make run` serves, compared with its limits."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench import records
from bench.inside import PASSWORD
from bench.installations import Installation, Served, Stock
from bench.report import Limit, Report, Say, percentiles, table
from bench.workbench import latency, rows
from bench.workbench.browser import chromium, open_workbench
from bench.workbench.replay import MODES, Tally, Target, compare, replay

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ALL, QUICK = 250, 5
KEY_MS, USABLE_MS, SMALL_MS, WIRE_BYTES = 8, 400, 250, 90_000
COUNTED = ("labels", "confirmations", "scrolling", "moves")


def run(databases: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Run the topic on one SQLite database."""
    labelled = list(records.records(QUICK if quick else ALL))
    targets = [Target.of(record) for record in labelled]
    installation = databases.installation("workbench")
    projects = {mode.slug: labelled for mode in MODES} | {
        latency.SLUG: [latency.record()],
        latency.SMALL_SLUG: [latency.small_record()],
    }
    for slug, of_project in projects.items():
        path = folder / f"{slug}.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in of_project))
        installation.inside(rows.prepare, slug, path)
    server = Served(installation)
    say("workbench: the server is up")
    try:
        with chromium() as browser:
            home = f"http://127.0.0.1:{server.port}"
            tell_latency(latency.measure(browser, home, PASSWORD), report)
            say("workbench: keys pressed on the long trajectory")
            tallies = press(browser, home, targets, say)
    finally:
        server.stop()
    tell_presses(installation, targets, tallies, report)


def press(browser: Browser, home: str, targets: Sequence[Target], say: Say) -> list[Tally]:
    """Label everything once in each mode."""
    tallies = []
    for mode in MODES:
        person = open_workbench(browser, home)
        person.sign_in("ann", PASSWORD)
        tallies.append(replay(person, mode, targets))
        person.close()
        say(f"workbench: {mode.name} replayed")
    return tallies


def tell_presses(
    installation: Installation, targets: Sequence[Target], tallies: Sequence[Tally], report: Report
) -> None:
    """Print the presses, compare the database with the labels, hold both to their limits."""
    counts = [
        (
            mode.name,
            *(str(tally.presses[name]) for name in COUNTED),
            f"{tally.per_step:.3f}",
            f"{tally.floor / tally.steps:.3f}",
            str(tally.outcome),
            str(tally.submit),
        )
        for mode, tally in zip(MODES, tallies, strict=True)
    ]
    heads = ("", *COUNTED, "a step", "floor", "outcome", "submit")
    table("Replay, key presses at 1440 × 900", heads, counts)
    for mode, tally in zip(MODES, tallies, strict=True):
        labels, outcomes, wrong = compare(installation.inside(rows.stored, mode.slug), targets, tally)
        wrong += tally.problems
        confirmed = sum(map(len, tally.confirmed.values()))
        print(
            f"  {mode.name}: {labels} of {tally.steps} labels and {outcomes} of {tally.trajectories} outcomes"
            f" are in the database as they should be; {confirmed} are confirmed proposals, seen before"
        )
        for sentence in wrong:
            print(f"  {sentence}")
        report.line(
            "replay",
            mode=mode.name,
            steps=tally.steps,
            presses=dict(tally.presses),
            floor=tally.floor,
            outcome=tally.outcome,
            submit=tally.submit,
            labels_equal=labels,
            outcomes_equal=outcomes,
            confirmed=confirmed,
        )
        if records.PUBLISHED.is_file():  # made records are labelled +1 throughout
            report.limit(Limit(f"replay, {mode.name}: presses a step", tally.per_step, mode.limit))
        report.limit(Limit(f"replay, {mode.name}: differences from the labels", len(wrong), 0))


def tell_latency(found: latency.Found, report: Report) -> None:
    """Print it and hold it to its limits."""
    load = os.getloadavg()[0]
    times = []
    for key, presses in [
        *found.keys.items(),
        ("all keys", [one for of in found.keys.values() for one in of]),
    ]:
        of_all = [one["all"] for one in presses]
        (p50, p95), most = percentiles(of_all), max(of_all)
        parts = [percentiles([one[part] for one in presses])[0] for part in ("handler", "layout")]
        times.append((key, *(f"{ms:.1f}" for ms in (p50, p95, most, *parts)), str(len(presses))))
        report.line("key", key=key, p50=p50, p95=p95, max=most, count=len(presses), load=load)
    table(
        f"Keys, {latency.STEPS} steps and {latency.MESSAGES} messages, load {load:.1f} (ms)",
        ("", "p50", "p95", "max", "p50 handler", "p50 layout", "n"),
        times,
    )
    cold, warm = percentiles(found.cold), percentiles(found.warm)
    small = percentiles(found.small)[0]
    print(f"  usable after: {cold[0]:.0f} ms without a cache, {warm[0]:.0f} ms with one")
    sizes = ", ".join(f"{kind.lower()} {size / 1000:.1f} kB" for kind, size in sorted(found.sent.items()))
    few = f"{latency.SMALL_STEPS} steps, without a cache"
    print(f"  {few}: usable after {small:.0f} ms; over the wire in {found.requests} requests: {sizes}")
    for sentence in found.problems:
        print(f"  {sentence}")
    p95 = percentiles(found.all())[1]
    report.line(
        "load",
        cold=found.cold,
        warm=found.warm,
        small=found.small,
        wire=found.sent,
        requests=found.requests,
        load=load,
    )
    report.limit(Limit("key event to layout, p95 (ms)", p95, KEY_MS))
    report.limit(Limit("navigation to usable, without a cache, p50 (ms)", cold[0], USABLE_MS))
    report.limit(Limit(f"navigation to usable, {few}, p50 (ms)", small, SMALL_MS))
    report.limit(Limit(f"over the wire in all, {few} (bytes)", sum(found.sent.values()), WIRE_BYTES))
    report.limit(Limit("other hosts asked, and steps touched without need", len(found.problems), 0))
