"""The topic `workbench`: Chromium at the workbench that `make run` serves, compared with its limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.inside import PASSWORD
from bench.places import Served, Stock
from bench.report import Limit, Report, number, table
from bench.workbench import targets
from bench.workbench.browser import chromium, desk
from bench.workbench.replay import KINDS, MODES, Tally, compare, replay

ALL = 250
QUICK = 5


def run(databases: Stock, folder: Path, quick: bool, report: Report, say: Callable[[str], None]) -> None:
    """All of it, on one SQLite database."""
    records, wanted, whose = targets.load(QUICK if quick else ALL)
    print(f"Labels: {whose}, {len(wanted)} trajectories, {sum(len(one.values) for one in wanted)} steps")
    files = folder / "workbench"
    files.mkdir()
    for mode in MODES:
        targets.write(files / f"{mode.slug}.jsonl", records)
    place = databases.place("workbench")
    place.inside("workbench", files)
    server = Served(place)
    home = f"http://127.0.0.1:{server.port}"
    say("workbench: the server is up")
    try:
        with chromium() as browser:
            tallies = []
            for mode in MODES:
                person = desk(browser, home)
                person.sign_in("ann", PASSWORD)
                tallies.append(replay(person, mode, wanted))
                person.close()
                say(f"workbench: {mode.name} replayed")
            replayed(place.inside, wanted, tallies, report)
    finally:
        server.stop()


def replayed(
    inside: Callable[..., dict[str, object]],
    wanted: list[targets.Target],
    tallies: list[Tally],
    report: Report,
) -> None:
    """Print the replay and hold it to its limits."""
    names = ("labels", "confirmations", "scrolling", "moves")
    rows = []
    for mode, tally in zip(MODES, tallies, strict=True):
        rows.append(
            (
                mode.name,
                *(str(tally.presses[name]) for name in names),
                f"{tally.per_step:.3f}",
                f"{tally.floor / tally.steps:.3f}",
                str(tally.outcome),
                str(tally.submit),
            )
        )
    table(
        "Replay, key presses at 1440 × 900",
        ("", *names, "a step", "floor", "outcome", "submit"),
        rows,
    )
    for mode, tally in zip(MODES, tallies, strict=True):
        stored = inside("stored", mode.slug)
        labels, outcomes, wrong = compare(stored, wanted, tally)
        wrong += tally.problems
        for sentence in wrong:
            print(f"  {sentence}")
        propagated = sum(map(len, tally.confirmed.values()))
        print(
            f"  {mode.name}: {labels} labels and {outcomes} outcomes in the database are as they should be,"
            f" {propagated} of them confirmed proposals"
        )
        report.line("replay", mode=mode.name, steps=tally.steps, **tally.presses, labels_equal=labels)
        report.limit(Limit(f"replay, {mode.name}: presses a step", tally.per_step, mode.limit))
        report.limit(Limit(f"replay, {mode.name}: differences from the labels", len(wrong), 0))


__all__ = ["KINDS", "number", "run"]
