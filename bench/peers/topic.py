"""The topic `peers`: Tristep on both databases beside Label Studio and Potato, same records and same clients.

Each is installed, started from nothing, given the same records, labelled by one person, then by 32 at once,
exported from, and stopped, one after the other. `make bench-peers` installs what it needs.
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

PEOPLE, QUICK_PEOPLE = 32, 4
IMPORTED, QUICK_IMPORTED = 5_000, 200
# by one person, who begins with WARM_UP more that are not counted
ITEMS, QUICK_ITEMS = 300, 5
WARM_UP: Final = 3
TOGETHER, QUICK_TOGETHER = 15.0, 2.0  # seconds
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
    a_second: float = 0
    load: float = 0  # of the machine, before it is asked for anything

    @property
    def last(self) -> float:
        """The median of the last tenth of one person's saves."""
        return median(self.saves[-max(1, len(self.saves) // 10) :])


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Measure all four, print, compare ours with each peer's."""
    count = QUICK_IMPORTED if quick else IMPORTED
    path = folder / "peers.jsonl"
    records.write(path, count)
    found = []
    for make in platforms(stock, folder, quick):
        with make() as peer:
            found.append(measure(peer, path, count, quick, say))
            report.line("peer", **asdict(found[-1]) | {"last": found[-1].last})
    told(found, report)


def platforms(
    stock: Stock, folder: Path, quick: bool
) -> Iterator[Callable[[], contextlib.AbstractContextManager[Peer]]]:
    """What makes each platform, in a folder and on a database of its own, and stops it."""
    people, items = (QUICK_PEOPLE, QUICK_ITEMS) if quick else (PEOPLE, ITEMS)

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
def measure(peer: Peer, path: Path, count: int, quick: bool, say: Say) -> Figures:
    """All of one platform."""
    people, items = (QUICK_PEOPLE, QUICK_ITEMS) if quick else (PEOPLE, ITEMS)
    install, installed = peer.install()
    found = Figures(peer.name, peer.settings, install, installed, load=os.getloadavg()[0])
    say(f"{peer.name}: installed in {install:.1f} s; {peer.settings}")
    found.start = timed(peer.start)
    say(f"{peer.name}: a first page after {found.start:.1f} s")
    time.sleep(REST)
    found.empty = resting(peer.roots())
    found.imported = peer.add(path, count)
    say(f"{peer.name}: {count:,} records in {found.imported.seconds:.1f} s")
    with ExitStack() as stack:
        first, *others = (signed_in(peer, number, stack) for number in range(people + 1))
        alone(first, items, found)
        say(f"{peer.name}: {len(found.saves):,} saves by one person, p50 {1000 * median(found.saves):.1f} ms")
        together(others, QUICK_TOGETHER if quick else TOGETHER, found)
        say(f"{peer.name}: {found.a_second:.0f} saves a second by {people} people")
    time.sleep(REST)
    found.full = resting(peer.roots())
    found.exported = peer.export()
    return found


def signed_in(peer: Peer, number: int, stack: ExitStack) -> Person:
    """Somebody who hangs up at the end."""
    person = peer.person(number)
    stack.callback(person.close)
    return person


def alone(person: Person, items: int, found: Figures) -> None:
    """One person opens item after item, labels each step and the outcome, and submits."""
    for item in range(items + WARM_UP):
        counts = item >= WARM_UP
        opened = person.open_next()
        saves = [person.save(which, VALUES[which % 2]) for which in range(person.labels)]
        submitted = person.submit()
        if counts:
            found.opens.append(opened)
            found.saves += saves
            found.submits += [submitted] if submitted else []


def together(people: Sequence[Person], seconds: float, found: Figures) -> None:
    """Everybody labels an item of their own, again and again, as fast as answers come."""
    for person in people:
        person.open_next()
        for which in range(person.labels):
            person.save(which, VALUES[which % 2])
    barrier = threading.Barrier(len(people) + 1)
    times: list[list[float]] = [[] for _ in people]
    wrong: list[BaseException] = []

    def work(person: Person, own: list[float]) -> None:
        try:
            barrier.wait()
            deadline = time.perf_counter() + seconds
            turn = 0
            while time.perf_counter() < deadline:
                round_, which = divmod(turn, person.labels)
                own.append(person.save(which, VALUES[(which + round_ + 1) % 2]))
                turn += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(people, times, strict=True)]
    for thread in threads:
        thread.start()
    barrier.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    if wrong:
        raise Failed(f"{found.name}: a save failed beside others: {wrong[0]}")
    found.together = [one for own in times for one in own]
    found.a_second = len(found.together) / (time.perf_counter() - began)


# ── Telling ───────────────────────────────
def told(found: Sequence[Figures], report: Report) -> None:
    """Print the tables, ratios of ours to each peer, and what is promised."""
    for one in found:
        print(f"  {one.name}: {one.settings}; load {one.load:.1f}")
    table(
        "Peers: one person, ms",
        ("", "open p50", "p95", "save p50", "p95", "the last tenth", "submit p50", "saves"),
        [
            (
                one.name,
                *(number(1000 * value) for value in percentiles(one.opens)),
                *(number(1000 * value) for value in percentiles(one.saves)),
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
