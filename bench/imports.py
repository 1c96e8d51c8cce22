"""The topic `imports`: the speed and the memory of imports."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from psycopg2.extras import execute_values

from bench import inside, records
from bench.installations import Installation, Stock, connect
from bench.report import Limit, Report, Say, megabytes, number, table

SIZES = (1_000, 20_000)
QUICK_SIZES = (200, 1_000)
ROUNDS = 3
BATCH = 100
RATE = 1_000
FLAT_MEMORY = 1.3

Row = tuple[int, str, bytes, bytes]


@dataclass
class Imports:
    """The measurement of one number of trajectories on one kind of database (medians of the rounds)."""

    kind: str
    trajectories: int
    size: int
    rate: float
    cpu_rate: float
    peak: int
    idle: int
    rounds: int


@dataclass
class Rate:
    """Records a second, by the clock and by the CPU time of the one process."""

    rate: float
    cpu_rate: float


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Import, print, compare with what is promised."""
    paths = written(folder, "own.jsonl", QUICK_SIZES if quick else SIZES, records.write)
    parsing, looping = list[Rate](), list[Rate]()

    def beside() -> None:
        parsing.append(parse_rate(paths[min(paths)]))
        looping.append(bare_rate(stock, paths[min(paths)]))

    found = measure(stock, paths, 1 if quick else ROUNDS, say, beside)
    references = {"json.loads": _middle(parsing), "bare loop": _middle(looping)}
    bare = references["bare loop"]
    table(
        f"Import, {stock.kind}",
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
        report.line("import reference", kind=stock.kind, name=name, **asdict(rate))
    for one in found:
        report.line("import", **asdict(one))
        if stock.kind == "sqlite" and one.trajectories >= RATE:  # of less than a second the clock says little
            what = f"sqlite: imported per second, of {one.trajectories:,}"
            report.limit(Limit(what, one.rate, RATE, at_least=True))
    small, large = found[0], found[-1]
    what = f"{stock.kind}: peak memory of an import, {large.trajectories:,} against {small.trajectories:,}"
    report.limit(Limit(what, large.peak / small.peak, FLAT_MEMORY))


def parse_rate(path: Path) -> Rate:
    """The rate of `json.loads` alone: no import can be faster."""
    with path.open("rb") as file:
        wall, cpu, count = time.perf_counter(), time.process_time(), 0
        for line in file:
            json.loads(line)
            count += 1
    return Rate(count / (time.perf_counter() - wall), count / (time.process_time() - cpu))


def bare_rate(stock: Stock, path: Path) -> Rate:
    """The rate of a bare loop over the work of every import, without Django and without checks.

    Parse, write canonical JSON, digest, compress twice, insert record and bytes in batches of 100 through the
    database's own driver, in one thread.
    """
    installation = stock.installation("bare")
    insert = _bare_sqlite(installation) if stock.kind == "sqlite" else _bare_postgres(installation)
    wall, cpu, count = time.perf_counter(), time.process_time(), 0
    with path.open("rb") as file:
        rows: list[Row] = []
        for number, line in enumerate(file):
            rows.append(_bare(number, line))
            count += 1
            if len(rows) == BATCH:
                insert(rows)
                rows = []
        insert(rows)
    return Rate(count / (time.perf_counter() - wall), count / (time.process_time() - cpu))


def _bare(number: int, line: bytes) -> Row:
    content = json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")).encode()
    digest = hashlib.sha256(content).hexdigest()
    return number, digest, zlib.compress(content, 1), zlib.compress(line, 1)


def _bare_sqlite(installation: Installation) -> Callable[[list[Row]], None]:
    connection = sqlite3.connect(installation.folder / "bare.sqlite3")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, digest TEXT, content BLOB, raw BLOB)")

    def insert(rows: list[Row]) -> None:
        with connection:
            connection.executemany("INSERT INTO bare VALUES (?, ?, ?, ?)", rows)

    return insert


def _bare_postgres(installation: Installation) -> Callable[[list[Row]], None]:
    connection = connect(installation.database)
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare (id bigint PRIMARY KEY, digest text, content bytea, raw bytea)")

    def insert(rows: list[Row]) -> None:
        if rows:
            with connection, connection.cursor() as cursor:
                execute_values(cursor, "INSERT INTO bare VALUES %s", rows, page_size=BATCH)

    return insert


def measure(
    stock: Stock, paths: Mapping[int, Path], rounds: int, say: Say, beside: Callable[[], None] = lambda: None
) -> list[Imports]:
    """Import a file of every size `rounds` times, in turns, each into a database of its own.

    `beside` is done once a round, for comparison. The largest size is imported once: it is long enough to be
    a mean of itself.
    """
    answers: dict[int, list[dict[str, Any]]] = {size: [] for size in paths}
    for turn in range(rounds):
        for size, path in paths.items():
            if turn and size == max(paths) and len(paths) > 1:
                continue
            installation = stock.installation(f"import_{size}")
            installation.inside(inside.start, "zero")
            answer = installation.inside(inside.import_file, "zero", path)
            if answer["trajectories"] != size:
                raise RuntimeError(f"{answer['trajectories']} of {size} trajectories were imported")
            answers[size].append(answer)
            say(f"{stock.kind}: {path.name}, {size:,} in {answer['seconds']:.1f} s")
        beside()
    return [_summary(stock.kind, size, path.stat().st_size, answers[size]) for size, path in paths.items()]


def written(
    folder: Path, name: str, sizes: Sequence[int], write: Callable[[Path, int], object]
) -> dict[int, Path]:
    """A file of every size, which is written once."""
    paths = {size: folder / f"{size}-{name}" for size in sizes}
    for size, path in paths.items():
        if not path.exists():
            write(path, size)
    return paths


def _middle(rates: list[Rate]) -> Rate:
    return Rate(median(rate.rate for rate in rates), median(rate.cpu_rate for rate in rates))


def _summary(kind: str, size: int, total: int, answers: list[dict[str, Any]]) -> Imports:
    def middle(values: Iterator[float]) -> float:
        return float(median(list(values)))

    return Imports(
        kind=kind,
        trajectories=size,
        size=total,
        rate=middle(size / answer["seconds"] for answer in answers),
        cpu_rate=middle(size / answer["cpu_seconds"] for answer in answers),
        peak=int(middle(answer["peak_bytes"] for answer in answers)),
        idle=int(middle(answer["idle_bytes"] for answer in answers)),
        rounds=len(answers),
    )
