"""Measure the speed and the memory of imports."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from psycopg2.extras import execute_values

from bench import records
from bench.installations import Installation, Stock, connect

ROUNDS = 3
BATCH = 100

Row = tuple[int, str, bytes, bytes]


@dataclass
class Imports:
    """What was measured with one number of trajectories on one kind of database (medians of the rounds)."""

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


def parse_rate(path: Path) -> Rate:
    """What `json.loads` alone reads: no import can be faster."""
    with path.open("rb") as file:
        wall, cpu, count = time.perf_counter(), time.process_time(), 0
        for line in file:
            json.loads(line)
            count += 1
    return Rate(count / (time.perf_counter() - wall), count / (time.process_time() - cpu))


def bare_rate(stock: Stock, path: Path) -> Rate:
    """What a bare loop manages that does what every import must, without Django and without checks.

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
    stock: Stock, sizes: list[int], folder: Path, rounds: int, say: Callable[[str], None]
) -> tuple[list[Imports], dict[str, Rate], dict[int, Installation]]:
    """Import every size `rounds` times, in turns, each into a database of its own.

    Returns the figures, the rates of the references (interleaved with the imports, medians), and for every
    size an installation that now holds a project `zero` of that size. The largest size is imported once: it
    is long enough to be a mean of itself.
    """
    answers: dict[int, list[dict[str, Any]]] = {size: [] for size in sizes}
    references: dict[str, list[Rate]] = {"json.loads": [], "bare loop": []}
    installations: dict[int, Installation] = {}
    paths = {size: folder / f"{size}.jsonl" for size in sizes}
    bytes_of = {
        size: paths[size].stat().st_size if paths[size].exists() else records.write(paths[size], size)
        for size in sizes
    }
    for turn in range(rounds):
        for size in sizes:
            if turn and size == max(sizes) and len(sizes) > 1:
                continue
            installation = stock.installation(f"import_{size}")
            installation.inside("start", "zero")
            answer = installation.inside("import", "zero", paths[size])
            if answer["trajectories"] != size:
                raise RuntimeError(f"{answer['trajectories']} of {size} trajectories were imported")
            answers[size].append(answer)
            installations.setdefault(size, installation)
            say(f"{stock.kind}: {size:,} in {answer['seconds']:.1f} s")
        references["json.loads"].append(parse_rate(paths[min(sizes)]))
        references["bare loop"].append(bare_rate(stock, paths[min(sizes)]))
    return (
        [_summary(stock.kind, size, bytes_of[size], answers[size]) for size in sizes],
        {name: _middle(rates) for name, rates in references.items()},
        installations,
    )


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
