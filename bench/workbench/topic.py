"""The topic `workbench`: Chromium at the workbench that `make run` serves, compared with its limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.inside import PASSWORD
from bench.installations import Installation, Served, Stock
from bench.report import Limit, Report, table
from bench.workbench import latency, targets
from bench.workbench.browser import Workbench, chromium, open_workbench
from bench.workbench.replay import MODES, Tally, compare, replay
from bench.workbench.targets import Target
from bench.workbench.vigilance import RULES, WINDOWS, Watched, watch, wrongly_confirmed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ALL, ALL_WATCHED = 250, 100
QUICK = 5
KEY_MS, USABLE_MS, WIRE_BYTES = 8, 400, 90_000
COUNTED = ("labels", "confirmations", "scrolling", "moves")


@dataclass
class Visit:
    """One run of the topic: where the server is, and where what was found goes."""

    installation: Installation
    home: str
    browser: Browser
    report: Report
    say: Callable[[str], None]

    def ann(self, size: tuple[int, int]) -> Workbench:
        """The annotator in a fresh window."""
        person = open_workbench(self.browser, self.home, size)
        person.sign_in("ann", PASSWORD)
        return person


def run(databases: Stock, folder: Path, quick: bool, report: Report, say: Callable[[str], None]) -> None:
    """All of it, on one SQLite database."""
    records, wanted, whose = targets.load(QUICK if quick else ALL)
    watched = wanted[: QUICK if quick else ALL_WATCHED]
    steps = sum(len(one.values) for one in wanted)
    print(f"Labels: {whose}, {len(wanted)} trajectories, {steps} steps")
    files = folder / "workbench"
    files.mkdir()
    for mode in MODES:
        targets.write(files / f"{mode.slug}.jsonl", records)
    for window in WINDOWS:
        targets.write(files / f"{window.slug}.jsonl", records[: len(watched)])
    targets.write(files / f"{latency.SLUG}.jsonl", [latency.record()])
    installation = databases.installation("workbench")
    installation.inside("workbench", files)
    server = Served(installation)
    say("workbench: the server is up")
    try:
        with chromium() as browser:
            visit = Visit(installation, f"http://127.0.0.1:{server.port}", browser, report, say)
            answer(visit)
            press(visit, wanted)
            look(visit, watched)
    finally:
        server.stop()


def press(visit: Visit, wanted: Sequence[Target]) -> None:
    """The replay."""
    tallies: list[Tally] = []
    for mode in MODES:
        person = visit.ann((1440, 900))
        tallies.append(replay(person, mode, wanted))
        person.close()
        visit.say(f"workbench: {mode.name} replayed")
    rows = [
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
    table("Replay, key presses at 1440 × 900", ("", *COUNTED, "a step", "floor", "outcome", "submit"), rows)
    for mode, tally in zip(MODES, tallies, strict=True):
        labels, outcomes, wrong = compare(visit.installation.inside("stored", mode.slug), wanted, tally)
        wrong += tally.problems
        confirmed = sum(map(len, tally.confirmed.values()))
        print(
            f"  {mode.name}: {labels} of {tally.steps} labels and {outcomes} of {tally.trajectories} outcomes"
            f" are in the database as they should be; {confirmed} are confirmed proposals, seen before"
        )
        for sentence in wrong:
            print(f"  {sentence}")
        visit.report.line(
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
        visit.report.limit(Limit(f"replay, {mode.name}: presses a step", tally.per_step, mode.limit))
        visit.report.limit(Limit(f"replay, {mode.name}: differences from the labels", len(wrong), 0))


def look(visit: Visit, wanted: Sequence[Target]) -> None:
    """Vigilance."""
    changed, wrong = targets.seeded(wanted, RULES)
    found: list[tuple[Watched, list[str]]] = []
    for window in WINDOWS:
        person = visit.ann(window.size)
        one = watch(person, window, changed, wrong)
        person.close()
        stored = visit.installation.inside("stored", window.slug)
        bad = wrongly_confirmed(stored, changed)
        _, _, differences = compare(stored, changed, one.tally)
        found.append((one, bad + differences + one.tally.problems))
        visit.say(f"workbench: watched at {window.name}")
    heads = ("", "proposals", "seeded wrong", "seen", "corrected", "confirmed wrong", "confirmed right")
    rows = []
    for window, (one, problems) in zip(WINDOWS, found, strict=True):
        counts = (one.proposals, len(one.seeded), len(one.seen), len(one.corrected), len(problems))
        rows.append((window.name, *map(str, counts), str(one.right_confirmed)))
    table("Vigilance, one proposal of twenty seeded wrong", heads, rows)
    for window, (one, problems) in zip(WINDOWS, found, strict=True):
        for sentence in problems:
            print(f"  {sentence}")
        missed = len(one.seeded - (one.seen & one.corrected))
        visit.report.line("vigilance", window=window.name, seeded=len(one.seeded), seen=len(one.seen))
        visit.report.limit(
            Limit(f"vigilance, {window.name}: wrong proposals not seen and corrected", missed, 0)
        )
        visit.report.limit(Limit(f"vigilance, {window.name}: wrong proposals confirmed", len(problems), 0))


def answer(visit: Visit) -> None:
    """Latency."""
    found = latency.measure(visit.browser, visit.home, PASSWORD)
    visit.say("workbench: keys pressed on the long trajectory")
    tell_latency(found, visit.report)


def tell_latency(found: latency.Found, report: Report) -> None:
    """Print it and hold it to its limits."""
    load = os.getloadavg()[0]
    rows = []
    for key, presses in [
        *found.keys.items(),
        ("all keys", [one for of in found.keys.values() for one in of]),
    ]:
        p50, p95, most = latency.percentiles([one["all"] for one in presses])
        parts = [latency.percentiles([one[part] for one in presses])[0] for part in ("handler", "layout")]
        rows.append((key, *(f"{ms:.1f}" for ms in (p50, p95, most, *parts)), str(len(presses))))
        report.line("key", key=key, p50=p50, p95=p95, max=most, count=len(presses), load=load)
    table(
        f"Keys, {latency.STEPS} steps and {latency.MESSAGES} messages, load {load:.1f} (ms)",
        ("", "p50", "p95", "max", "p50 handler", "p50 layout", "n"),
        rows,
    )
    cold, warm = latency.percentiles(found.cold), latency.percentiles(found.warm)
    print(f"  usable after: {cold[0]:.0f} ms without a cache, {warm[0]:.0f} ms with one")
    sizes = ", ".join(f"{kind.lower()} {size / 1000:.1f} kB" for kind, size in found.sent.items())
    print(f"  over the wire: {sizes}")
    for sentence in found.problems:
        print(f"  {sentence}")
    p95 = latency.percentiles(found.all())[1]
    report.line("load", cold=found.cold, warm=found.warm, wire=found.sent, load=load)
    report.limit(Limit("key event to layout, p95 (ms)", p95, KEY_MS))
    report.limit(Limit("navigation to usable, without a cache, p50 (ms)", cold[0], USABLE_MS))
    wire = found.sent["Script"] + found.sent["Stylesheet"]
    report.limit(Limit("scripts and styles over the wire (bytes)", wire, WIRE_BYTES))
    report.limit(Limit("other hosts asked, and steps touched without need", len(found.problems), 0))
