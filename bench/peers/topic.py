"""The topic `peers`: Tristep on both databases beside Label Studio and Potato, same records and same clients.

Each is installed, started from nothing and given the same records; then, by turns, labelled by one person and
by 32 at once; then exported from. `make bench-peers` installs what it needs.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from bench import records
from bench.installations import Failed, Stock
from bench.peers.label_studio import LabelStudio
from bench.peers.peer import Moved, Peer, Person, resting, timed
from bench.peers.potato import Potato
from bench.peers.tristep import Tristep
from bench.report import Limit, Report, Say, megabytes, number, percentiles, table
from tests.servers import start_postgres

# records, people at once, items by one person alone, seconds of a round at once
SIZES: Final = (5_000, 32, 300, 6.0)
QUICK: Final = (200, 4, 5, 1.0)
ROUNDS: Final = 3
WARM_UP: Final = 3  # items before those that are counted
VALUES: Final = (1, 0)  # by turns, so that each save changes something
REST: Final = 5.0  # seconds until what a server does after a request is done


@dataclass
class Figures:
    """What one platform took; times in seconds, memory in bytes."""

    name: str
    settings: str
    install: float = 0
    installed: int = 0
    start: float = 0
    empty: int = 0
    full: int = 0
    imported: Moved = field(default_factory=lambda: Moved(0, 0))
    exported: Moved = field(default_factory=lambda: Moved(0, 0))
    opens: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)
    submits: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)
    seconds: float = 0  # of all rounds at once

    @property
    def a_second(self) -> float:
        """Saves a second by all at once."""
        return len(self.together) / self.seconds

    @property
    def first(self) -> float:
        """The median of the first tenth of one person's saves."""
        return median(self.saves[: max(1, len(self.saves) // 10)])

    @property
    def last(self) -> float:
        """The median of the last tenth of one person's saves."""
        return median(self.saves[-max(1, len(self.saves) // 10) :])


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Measure all four, print, compare ours with each peer's.

    They take turns, item by item and then a few seconds each: what else the machine does meets all alike.
    """
    count, people, items, seconds = QUICK if quick else SIZES
    path = folder / "peers.jsonl"
    records.write(path, count)
    with ExitStack() as stack:
        sides = []
        for make in platforms(stock, folder, people, items):
            sides.append(begun(stack.enter_context(make()), path, count, say))
        for side in sides:
            signed_in(side, people + 1, stack)
        say(f"peers: {items} items by one person of each, at a load of {os.getloadavg()[0]:.1f}")
        alone(sides, items)
        say(f"peers: {ROUNDS} rounds of {people} people at once, at a load of {os.getloadavg()[0]:.1f}")
        for _ in range(ROUNDS):
            for side in sides:
                together(side, seconds)
        for side in sides:
            ended(side)
    found = [side.figures for side in sides]
    for one in found:
        report.line("peer", **asdict(one) | {"last": one.last, "a_second": one.a_second})
    told(found, report)


def platforms(
    stock: Stock, folder: Path, people: int, items: int
) -> Iterator[Callable[[], contextlib.AbstractContextManager[Peer]]]:
    """What makes each platform, in a folder and on a database of its own, and stops it."""

    def place(name: str) -> Path:
        found = folder / name
        found.mkdir()
        return found

    @contextmanager
    def on_sqlite() -> Iterator[Peer]:
        with stopped(Tristep(place("tristep-sqlite"), stock, people + 1, items)) as peer:
            yield peer

    @contextmanager
    def on_postgres() -> Iterator[Peer]:
        with durable_postgres() as address:
            own = Stock("postgres", place("tristep-postgres"), address=address)
            with stopped(Tristep(own.folder, own, people + 1, items)) as peer:
                yield peer

    @contextmanager
    def label_studio() -> Iterator[Peer]:
        with durable_postgres() as address, stopped(LabelStudio(place("label-studio"), address)) as peer:
            yield peer

    @contextmanager
    def potato() -> Iterator[Peer]:
        with stopped(Potato(place("potato"))) as peer:
            yield peer

    yield from (on_sqlite, on_postgres, label_studio, potato)


@contextmanager
def durable_postgres() -> Iterator[str]:
    """A PostgreSQL that syncs what it commits; its address."""
    server = start_postgres(durable=True)
    try:
        yield server.url
    finally:
        server.stop()


@contextmanager
def stopped(peer: Peer) -> Iterator[Peer]:
    """The platform, stopped at the end of the block."""
    try:
        yield peer
    finally:
        peer.stop()


# ── Measuring ─────────────────────────────
@dataclass
class Side:
    """A platform, what it took so far, and who is signed in: the first works alone, the others at once."""

    peer: Peer
    figures: Figures
    people: list[Person] = field(default_factory=list)


def begun(peer: Peer, path: Path, count: int, say: Say) -> Side:
    """A platform with the records, and what it took until there."""
    install, installed = peer.install()
    found = Figures(peer.name, peer.settings, install, installed)
    say(f"{peer.name}: installed in {install:.1f} s; {peer.settings}")
    found.start = timed(peer.start)
    say(f"{peer.name}: a first page after {found.start:.1f} s")
    time.sleep(REST)
    found.empty = resting(peer.roots())
    found.imported = peer.add(path, count)
    say(f"{peer.name}: {count:,} records in {found.imported.seconds:.1f} s")
    return Side(peer, found)


def signed_in(side: Side, people: int, stack: ExitStack) -> None:
    """So many people, who hang up at the end."""
    for which in range(people):
        side.people.append(side.peer.person(which))
        stack.callback(side.people[-1].close)


def ended(side: Side) -> None:
    """What it holds after all that, and the export."""
    time.sleep(REST)
    side.figures.full = resting(side.peer.roots())
    side.figures.exported = side.peer.export()


def alone(sides: Sequence[Side], items: int) -> None:
    """One person of each platform opens item after item, labels each step and the outcome, and submits."""
    for item in range(items + WARM_UP):
        for side in sides:
            person, found = side.people[0], side.figures
            opened = person.open_next()
            saves = [person.save(which, VALUES[which % 2]) for which in range(person.labels)]
            submitted = person.submit()
            if item >= WARM_UP:
                found.opens.append(opened)
                found.saves += saves
                found.submits += [submitted] if submitted else []


def together(side: Side, seconds: float) -> None:
    """All others label an item of their own, again and again, as fast as answers come."""
    people, wrong = side.people[1:], list[BaseException]()
    times: list[list[float]] = [[] for _ in people]
    barrier = threading.Barrier(len(people))

    def work(person: Person, own: list[float]) -> None:
        try:
            if not person.labels:
                person.open_next()
            # opens a connection again that the server has closed, and is not counted
            for which in range(person.labels):
                person.save(which, VALUES[which % 2])
            barrier.wait()
            deadline = time.perf_counter() + seconds
            turn = 0
            while time.perf_counter() < deadline:
                round_, which = divmod(turn, person.labels)
                own.append(person.save(which, VALUES[(which + round_ + 1) % 2]))
                turn += 1
        except BaseException as error:
            wrong.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work, args=pair) for pair in zip(people, times, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise Failed(f"{side.peer.name}: a save failed beside others: {wrong[0]!r}")
    side.figures.together += [one for own in times for one in own]
    side.figures.seconds += seconds


# ── Telling ───────────────────────────────
def told(found: Sequence[Figures], report: Report) -> None:
    """Print the tables, ratios of ours to each peer, and what is promised."""
    for one in found:
        print(f"  {one.name}: {one.settings}")
    table(
        "Peers: one person, ms",
        ("", "open p50", "p95", "save p50", "p95", "first tenth", "last", "submit p50", "saves"),
        [
            (
                one.name,
                *(number(1000 * value) for value in percentiles(one.opens)),
                *(number(1000 * value) for value in percentiles(one.saves)),
                number(1000 * one.first),
                number(1000 * one.last),
                number(1000 * median(one.submits)) if one.submits else "",
                f"{len(one.saves):,}",
            )
            for one in found
        ],
    )
    table(
        "Peers: many at once",
        ("", "saves a second", "p50, ms", "p95, ms", "p99, ms"),
        [
            (
                one.name,
                number(one.a_second),
                *(number(1000 * value) for value in (*percentiles(one.together), p99(one.together))),
            )
            for one in found
        ],
    )
    table(
        "Peers: around them",
        (
            "",
            "install, s",
            "MB",
            "first start, s",
            "import a second",
            "peak",
            "at rest, empty",
            "full",
            "export",
        ),
        [
            (
                one.name,
                number(one.install),
                megabytes(one.installed),
                number(one.start),
                number(one.imported.records / one.imported.seconds),
                megabytes(one.imported.peak),
                megabytes(one.empty),
                megabytes(one.full),
                number(one.exported.records / one.exported.seconds),
            )
            for one in found
        ],
    )
    peers = [one for one in found if not one.name.startswith("Tristep")]
    for own in (one for one in found if one.name.startswith("Tristep")):
        table(f"{own.name} in parts of", ("", *HEADS), list(ratios(own, peers)))
        for peer in peers:
            what = f"{own.name}: save, p50, in that of {peer.name}"
            report.limit(Limit(what, median(own.saves) / median(peer.saves), 1))
            what = f"{own.name}: saves a second, in those of {peer.name}"
            report.limit(Limit(what, own.a_second / peer.a_second, 1, at_least=True))
            what = f"{own.name}: p99 with many at once, in that of {peer.name}"
            report.limit(Limit(what, p99(own.together) / p99(peer.together), 1))


HEADS: Final = (
    "save",
    "saves a second",
    "p99 at once",
    "open",
    "import a second",
    "install",
    "start",
    "at rest",
)


def ratios(own: Figures, peers: Sequence[Figures]) -> Iterator[tuple[str, ...]]:
    """Ours in parts of each peer's: times and memory better below 1, rates better above."""
    for peer in peers:
        pairs = (
            (median(own.saves), median(peer.saves)),
            (own.a_second, peer.a_second),
            (p99(own.together), p99(peer.together)),
            (median(own.opens), median(peer.opens)),
            (own.imported.records / own.imported.seconds, peer.imported.records / peer.imported.seconds),
            (own.install, peer.install),
            (own.start, peer.start),
            (own.full, peer.full),
        )
        yield peer.name, *(number(ours / theirs) for ours, theirs in pairs)


def p99(values: Sequence[float]) -> float:
    """The 99th percentile."""
    return quantiles(values, n=100, method="inclusive")[-1] if len(values) > 1 else values[0]
